"""Games of self-play for a trainer: the learner's decisions in many lanes, written into a rollout.

If the `League` of bots and snapshots has opponents, the learner plays a single seat in a share `league_share`
of the games. One opponent plays all other seats. In all other games, the learner plays every seat. Only the
learner's decisions are recorded.

A bot may be a player that is not compiled, such as an agent in Python or a program. In a run with such a bot,
games against opponents end when the learner is eliminated, which saves time. If the bot keeps a memory, which
a checkpoint cannot contain, a resumed run begins new games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
import torch

from risk_agents.learned.layout import Layout
from risk_agents.registry import load_opponent
from risk_env.arena import CALLER, STOPPED, Arena
from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.core.observe import BLOCK, TERRITORY_WIDTH
from risk_env.core.types import MAX_SEATS, NOBODY
from risk_env.game_vector import GameVector, restore
from risk_env.messages import shortened
from risk_env.players import AgentFactory, Player
from risk_env.seated import Seated, SeatedArena
from risk_training.config import MOST_LANES, MOST_STEPS, MOST_WIDTH, NetworkSettings, setting
from risk_training.declared import GENERATOR, Declared, ListOf, TableOf, Whole
from risk_training.devices import moved
from risk_training.league import League, LeagueSettings, snapshot_name
from risk_training.legal_actions import LegalActions
from risk_training.position_files import start_positions
from risk_training.rollout_steps import TERMINATED, TRUNCATED, Rollout
from risk_training.torch_network import Network

NO_STEP = -1
MOST_IN_PYTHON = 128  # maximum number of lanes if a bot makes an agent for each seat of each lane


@dataclass(frozen=True)
class SelfPlaySettings(NetworkSettings):
    """Settings of the games of a run. Numbers of steps count the learner's decisions."""

    n_envs: int = setting(512, 1, MOST_LANES)  # number of lanes of each actor
    n_steps: int = setting(64, 1, MOST_LANES)  # number of decisions per lane between two updates
    shaping: float = setting(0.0, 0, 10)  # weight of reward shaping (`potential`)
    league: LeagueSettings = field(default_factory=lambda: LeagueSettings(bots=()))
    league_share: float = setting(0.5, 0, 1)  # share of games against the league, if it has opponents
    snapshot_interval: int = setting(2_000_000, 1, MOST_STEPS)
    width: int = setting(128, 1, MOST_WIDTH)  # width of the network's trunk
    local: int = setting(32, 1, MOST_WIDTH)  # width of the network's local heads
    actors: int = setting(1, 1, 4096)  # number of actors (`risk_training.actors`)
    staleness: int = setting(0, 0, 1)  # number of updates by which the actors' weights may lag behind


def win_chance(values: torch.Tensor, shaping: float) -> torch.Tensor:
    """Return the values float32 (k,) that the outputs (k,) of the network represent.

    Without shaping, a value is a win probability. With shaped rewards, values lie between -`shaping` and 1.
    """
    return values.sigmoid() * (1 + shaping) - shaping


class SelfPlay:
    """The games of an actor, and the players of their seats.

    `named` are the specs of bots that may run code (`registry.load_opponent`).
    """

    def __init__(
        self, config: SelfPlaySettings, board: Board, actor: int = 0, named: Sequence[str] = ()
    ) -> None:
        self.config, self.rules, self.board = config, config.rules(), board
        seed = actor_seed(config.seed, actor)
        self.batch = GameVector(self.rules, board, config.n_envs, seed, autoreset=False)
        self.positions = start_positions(config, board)
        self.bots = config.league.bots
        self.league = League(config.league, seed)
        players = [load_opponent(name, named) for name in self.bots]
        _check_lanes(config, players)
        self.arena = Arena(self.batch, [*players, SnapshotSeats(self)])
        self.are_in_python = len(self.arena.in_python) > 1  # True if a bot is not compiled
        self.keeps_memory = any(player.keeps_memory for player in self.arena.in_python)
        self.playing: dict[str, Network] = {}  # by name: snapshots of the league and of running games
        # (N,) name of the opponent, "" where the learner plays every seat
        self.opponent = np.full(config.n_envs, "", dtype=object)
        self.chance = np.random.default_rng(seed)
        self.draws = torch.Generator().manual_seed(seed)
        self.lanes = np.arange(config.n_envs)
        self.last_step = np.full((config.n_envs, MAX_SEATS), NO_STEP)  # latest step, by lane and seat
        self.won: list[tuple[str, bool]] = []  # games since the last update: opponent, True for a win
        self.rounds: list[int] = []

    def start(self, network: Network) -> None:
        """Start all games, and play until the learner must decide."""
        self.begin(self.lanes)
        self.settle(network)

    def begin(self, lanes: Array) -> None:
        """Start the next game in these lanes and seat its players."""
        self.batch.begin(lanes)
        games = lanes + self.batch.episodes[lanes] * self.batch.num_games
        self.batch.begin_at(lanes, self.positions, games)
        self.arena.numbers[lanes] = CALLER
        self.arena.stop_at_death[lanes] = NOBODY
        self.opponent[lanes] = ""
        self.last_step[lanes] = NO_STEP
        if self.league.names:
            against = lanes[self.chance.random(len(lanes)) < self.config.league_share]
            for lane, name in zip(against, self.league.draw(len(against)), strict=True):
                self._seat_opponent(int(lane), name)
        self.arena.seat_players(lanes)

    def _seat_opponent(self, lane: int, label: str) -> None:
        """Give one seat to the learner and all other seats to the opponent."""
        self.opponent[lane] = label
        number = self.bots.index(label) if label in self.bots else len(self.bots)
        seat = self.chance.integers(self.rules.num_players)
        self.arena.numbers[lane, : self.rules.num_players] = number
        self.arena.numbers[lane, seat] = CALLER
        if self.are_in_python:
            self.arena.stop_at_death[lane] = seat

    def close(self) -> None:
        """Stop the agents and programs of the games."""
        self.arena.close()

    def collect(self, network: Network, rollout: Rollout) -> None:
        """Play until the learner has made `n_steps` decisions in every lane, and record the decisions."""
        self.last_step[:] = NO_STEP
        rollout.clear()
        for step in range(len(rollout.actions)):
            legal = self.legal_actions(self.lanes)
            features = rollout.add(step, network.spec, self.batch.observation, legal)
            actions, logprobs, values = self.decide(network, *map(torch.as_tensor, features), legal)
            rollout.seats[step], rollout.actions[step] = self.batch.seat, actions
            rollout.logprobs[step], rollout.values[step] = logprobs, values
            rollout.potentials[step] = potential(self.batch.observation, self.board, self.config.shaping)
            self.last_step[self.lanes, self.batch.seat] = step
            self.arena.actions[:] = actions
            self.settle(network, rollout)
        rollout.next_seats[:] = self.batch.seat
        rollout.next_values[:] = self.values(network, self.batch.observation)
        rollout.next_potentials[:] = potential(self.batch.observation, self.board, self.config.shaping)

    def legal_actions(self, lanes: Array) -> LegalActions:
        """Return the legal actions of the decisions in these lanes."""
        return LegalActions.of(torch.as_tensor(np.asarray(self.batch.action_mask)[lanes].view(np.bool_)))

    def decide(
        self,
        network: Network,
        territory_features: torch.Tensor,
        board_features: torch.Tensor,
        legal: LegalActions,
    ) -> tuple[Array, Array, Array]:
        """Return sampled actions, log-probabilities and values, each (k,), given features."""
        with torch.no_grad():
            inputs = (moved(part, network.device) for part in (territory_features, board_features))
            logits, values = (
                output.cpu() for output in network.legal_logits(*inputs, legal.to(network.device))
            )
            logprobs = legal.logprobs(logits)
            at = legal.sample(logprobs, self.draws)
            chances = win_chance(values, self.config.shaping)
        return legal.actions[at].numpy(), logprobs[at].numpy(), chances.numpy()

    def values(self, network: Network, observations: Array) -> Array:
        """Return the values (k,) of observations int8 (k, D)."""
        with torch.no_grad():
            return win_chance(network.values(observations).cpu(), self.config.shaping).numpy()

    def settle(self, network: Network | None, rollout: Rollout | None = None) -> None:
        """Play until the learner must decide in every lane. If a game ends, the lane begins the next game."""
        for over in self.arena.run(self.lanes):
            self.pay_ends(over, network, rollout)
            self.begin(over)
            self.arena.resume(over)
        self.pay_ends(self.lanes, network, rollout)
        self.batch.ask(self.lanes)

    def pay_ends(self, lanes: Array, network: Network | None, rollout: Rollout | None) -> None:
        """Write final rewards to the last decisions of the seats that have just finished in these lanes.

        A seat finishes when it is eliminated or the game ends.
        """
        batch = self.batch
        ended = batch.terminated[lanes] | batch.truncated[lanes]
        if not ended.any():
            return
        over = lanes[batch.game_over[lanes] | (self.arena.states[lanes] == STOPPED)]
        if len(over):
            batch.finish(over)
            self._note_games(over)
        rows, seats = np.nonzero(ended)
        at = lanes[rows]
        steps = self.last_step[at, seats]
        self.last_step[at, seats] = NO_STEP
        known = steps != NO_STEP
        if rollout is not None and network is not None and known.any():
            self._credit(rollout, network, steps[known], at[known], seats[known])

    def _credit(self, rollout: Rollout, network: Network, steps: Array, lanes: Array, seats: Array) -> None:
        rollout.rewards[steps, lanes] = self.batch.reward[lanes, seats] > 0
        truncated = self.batch.truncated[lanes, seats]
        rollout.ends[steps, lanes] = np.where(truncated, TRUNCATED, TERMINATED)
        if truncated.any():
            observations = self.batch.final_observation[lanes[truncated], seats[truncated]]
            at = steps[truncated], lanes[truncated]
            rollout.last_values[at] = self.values(network, observations)
            rollout.last_potentials[at] = potential(observations, self.board, self.config.shaping)

    def _note_games(self, over: Array) -> None:
        self.rounds += self.batch.final_rounds[over].tolist()
        for lane in over[self.opponent[over] != ""]:
            winner, label = int(self.batch.records["winner"][lane]), self.opponent[lane]
            won = bool(winner >= 0 and self.arena.numbers[lane, winner] == CALLER)
            self.league.record(label, float(won))
            self.won.append((label, won))

    def results(self) -> dict[str, Any]:
        """Return metrics of the games that ended since the last call: number, mean length and win rates."""
        metrics = game_metrics(self.rounds, self.won, self.bots)
        self.rounds, self.won = [], []
        return metrics

    def take_snapshot(self, network: Network, decisions: int) -> None:
        """Add a copy of the learner, after `decisions` decisions, to the league, and drop unused snapshots.

        A snapshot is unused when it has left the league and its games are over.
        """
        self.league.add_snapshot(decisions)
        self.playing[snapshot_name(decisions)] = deepcopy(network)
        needed = {*self.opponent, *self.league.snapshots}
        self.playing = {name: snapshot for name, snapshot in self.playing.items() if name in needed}

    _ARRAYS = (
        "batch._games",
        "batch.episodes",
        "batch.seeds",
        "arena.numbers",
        "arena.randoms",
        "arena.memory",
    )

    def state_dict(self) -> dict[str, Any]:
        """Return the state of games, players and random generators, for a checkpoint between two rollouts."""
        return self.game_state() | {
            "playing": {label: copy.state_dict() for label, copy in self.playing.items()}
        }

    def game_state(self) -> dict[str, Any]:
        """Return the state of `state_dict` without the weights of the snapshots."""
        return {
            "arrays": {name: attrgetter(name)(self) for name in self._ARRAYS},
            "opponent": self.opponent.tolist(),
            "league": self.league.state_dict(),
            "chance": self.chance.bit_generator.state,
            "draws": self.draws.get_state().numpy(),
            "won": self.won,
            "rounds": self.rounds,
        }

    def declared(self, network: Network) -> Declared:
        """Return the declaration (`risk_training.declared`) that a state must match for `load_state_dict`.

        `network` is the learner's network.
        """
        return self.declared_games() | {"playing": TableOf(network.state_dict(), self._most_snapshots())}

    def declared_games(self) -> dict[str, Declared]:
        """Return the declaration that a state must match for `restore`, without the snapshots."""
        lanes = len(self.lanes)
        return {
            "arrays": {name: attrgetter(name)(self) for name in self._ARRAYS},
            "opponent": ListOf(str, lanes, lanes),
            "league": self.league.declared(),
            "chance": GENERATOR,
            "draws": self.draws.get_state().numpy(),
            "won": ListOf((str, bool)),
            "rounds": ListOf(Whole()),
        }

    def _most_snapshots(self) -> int:
        """Return the largest possible number of snapshots in the league and in running games."""
        return self.config.league.window + self.config.league.history + len(self.lanes)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""
        playing = {}
        for label, weights in state["playing"].items():
            playing[label] = self.new_network()
            playing[label].load_state_dict(weights, assign=True)
        self.restore(state, playing)

    def new_network(self) -> Network:
        """Return a network for these games with uninitialised weights, which are loaded later."""
        layout = Layout(self.rules, self.board, self.batch.num_actions)
        with torch.device("meta"):
            return Network(layout, self.config.width, self.config.local)

    def restore(
        self, state: Mapping[str, Any], playing: dict[str, Network], is_from_file: bool = True
    ) -> None:
        """Restore the state that `game_state` returned, with the snapshots in `playing`.

        With `is_from_file`, the positions are checked, which takes 1 ms per lane. Raises ValueError for a
        state that does not fit these games, and for a snapshot without weights.
        """
        for name in self._ARRAYS:
            restore(name, attrgetter(name)(self), state["arrays"][name])
        if is_from_file:
            self.batch.check_records()
        self.arena.check_numbers()
        self.opponent[:] = state["opponent"]
        self.league.load_state_dict(state["league"])
        self.playing = playing
        self._check_opponents()
        self.chance.bit_generator.state = state["chance"]
        self.draws.set_state(torch.from_numpy(np.array(state["draws"])))
        self.won, self.rounds = list(state["won"]), list(state["rounds"])
        if self.are_in_python:  # the state does not contain `stop_at_death`
            seats = self.arena.numbers[:, : self.rules.num_players] == CALLER
            self.arena.stop_at_death[:] = np.where(self.opponent != "", seats.argmax(axis=1), NOBODY)
        if self.keeps_memory:
            self.begin(self.lanes)
            self.settle(None)
        else:
            self.batch.ask(self.lanes)

    def _check_opponents(self) -> None:
        """Raise ValueError unless every opponent is a bot or a snapshot whose weights are present."""
        if strange := {*self.opponent} - {"", *self.bots, *self.playing}:
            raise ValueError(f"opponents {shortened(sorted(strange))} are neither bots nor snapshots")
        by_snapshot = (self.arena.numbers[:, : self.rules.num_players] == len(self.bots)).any(1)
        if missing := {*self.opponent[by_snapshot], *self.league.snapshots} - self.playing.keys():
            raise ValueError(f"the state has no weights for the snapshots {shortened(sorted(missing))}")


class SnapshotSeats(Seated):
    """The snapshots in a run's games as one player: each snapshot decides in all of its lanes at once."""

    name = "snapshots"

    def __init__(self, games: SelfPlay) -> None:
        self.games = games

    def choose(self, arena: SeatedArena, lanes: Array) -> None:
        """Write sampled actions for these lanes."""
        batch = arena.batch
        batch.ask(lanes)
        names = self.games.opponent[lanes]
        for name in sorted(set(names)):
            theirs = lanes[names == name]
            network, legal = self.games.playing[name], self.games.legal_actions(theirs)
            features = network.encode(np.asarray(batch.observation)[theirs])
            arena.actions[theirs] = self.games.decide(network, *features, legal)[0]


def _check_lanes(config: SelfPlaySettings, players: Sequence[Player]) -> None:
    """Raise ValueError if agents in Python, one for each seat, would play in too many lanes."""
    for name, player in zip(config.league.bots, players, strict=True):
        if isinstance(player, AgentFactory) and config.n_envs > MOST_IN_PYTHON:
            raise ValueError(
                f"n_envs={config.n_envs}: must be 1 to {MOST_IN_PYTHON}, because {name!r} in league.bots is "
                "not compiled and needs a separate agent for each seat of each game"
            )


def actor_seed(seed: int, actor: int) -> int:
    """Return the seed of an actor's games.

    The first actor has the seed of the run.
    """
    return int(np.random.SeedSequence([seed, actor]).generate_state(1)[0]) if actor else seed


def game_metrics(
    rounds: Sequence[int], won: Sequence[tuple[str, bool]], bots: Sequence[str]
) -> dict[str, Any]:
    """Return metrics of finished games.

    `rounds` are the numbers of rounds. `won` lists pairs: the opponent, and True if the learner won.
    """
    metrics: dict[str, Any] = {"games/number": len(rounds)}
    if rounds:
        metrics["games/rounds"] = float(np.mean(rounds))
    for bot in bots:
        results = [has_won for opponent, has_won in won if opponent == bot]
        if results:
            metrics[f"games/win_rate_{bot}"] = float(np.mean(results))
    return metrics


def potential(observations: Array, board: Board, weight: float) -> Array:
    """Return each observing seat's share of the territories that players own, multiplied by `weight`.

    The result is float32 (k,) for observations int8 (k, D). Shaping adds gamma * potential(next) -
    potential(now) to each reward. After the seat's elimination or the end of the game, the potential is 0,
    except after a truncation. Shaping does not change the optimal policy, for any weight (Ng, Harada and
    Russell 1999).
    """
    if not weight:
        return np.zeros(len(observations), np.float32)
    first = TERRITORY_WIDTH * board.num_territories + BLOCK.territories
    held = observations[:, first : first + MAX_SEATS].astype(np.float32)
    return weight * held[:, 0] / np.maximum(held.sum(1), 1)

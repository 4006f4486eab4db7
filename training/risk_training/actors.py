"""Actors: the games of self-play, split into parts that can be played by worker processes.

An update learns from one rollout of each actor. With `staleness: 0`, the rollouts are played with the latest
weights while the learner waits. With `staleness: 1`, workers play the rollouts for update k + 1 during update
k, with the weights from the start of update k.

The settings alone determine which weights are used in each rollout. The same seed therefore gives the same
run with any number of workers, and a killed run resumes exactly. An actor is a set of games, not a process.
For each rollout, the state of the games is sent to a worker, and the worker returns the new state. If a
worker fails, no game is lost. With `staleness: 1`, the next rollout of an actor does not wait for the
rollouts of the other actors.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, as_completed
from typing import Any, NamedTuple

from risk_agents.registry import load_bot
from risk_agents.workers import WorkExecutor, in_order
from risk_env.arrays import Array
from risk_env.board.maps import load_map
from risk_env.messages import shortened
from risk_training.declared import Declared, Exactly, ListOf, OrNone, TableOf, Whole
from risk_training.league import snapshot_name
from risk_training.rollout_steps import Rollout
from risk_training.selfplay import SelfPlay, SelfPlaySettings, game_metrics
from risk_training.torch_network import Network

State = dict[str, Any]
Weights = Mapping[str, Array]


class Played(NamedTuple):
    """The result of a rollout of an actor."""

    rollout: dict[str, Array]  # as `Rollout.packed` returns it
    won: list[tuple[str, bool]]  # finished games: opponent, and whether the learner won
    rounds: list[int]  # number of rounds of each finished game


def begin_games(config: SelfPlaySettings, actor: int, weights: Weights) -> State:
    """Begin the games of an actor and return their state."""
    games = SelfPlay(config, load_map(config.map), actor)
    games.start(_network(games, weights))
    return games.game_state()


def play_rollout(
    state: State,
    config: SelfPlaySettings,
    actor: int,
    is_from_file: bool,
    joining: list[int],
    weights: Weights,
    names: list[str],
    *snapshots: Weights,
) -> tuple[Played, State]:
    """Play a rollout of an actor from a state of the actor's games; return the result and the new state.

    First, a snapshot of the learner joins the league for each number of decisions in `joining`. `names` and
    `snapshots` are the names and the weights of all snapshots that can play. If `is_from_file` is true, the
    state is checked.
    """
    games = SelfPlay(config, load_map(config.map), actor)
    playing = {name: _network(games, snapshot) for name, snapshot in zip(names, snapshots, strict=True)}
    games.restore(state, playing, is_from_file)
    for decisions in joining:
        games.league.add_snapshot(decisions)
    network = _network(games, weights)
    rollout = Rollout.empty(config.n_steps, config.n_envs, network.layout, keeps_features=False)
    games.collect(network, rollout)
    played = Played(rollout.packed(), games.won, games.rounds)
    games.won, games.rounds = [], []
    return played, games.game_state()


def _network(games: SelfPlay, weights: Weights) -> Network:
    network = games.new_network()
    network.load_arrays(weights)
    return network


class Actors:
    """The games of all actors of a run, with the interface of `SelfPlay`."""

    def __init__(self, config: SelfPlaySettings, executor: WorkExecutor) -> None:
        for name in config.league.bots:
            try:
                load_bot(name)  # raises for agents in Python, which cannot be sent to workers
            except ValueError as error:
                raise ValueError(f"actors={config.actors}, staleness={config.staleness}: {error}") from error
        self.config, self.executor = config, executor
        self.states: list[State] = []  # by actor: state before the running rollout
        self.snapshots: dict[str, Weights] = {}  # weights of the snapshots, by name
        self.joining: list[int] = []  # number of decisions at each snapshot that joins the leagues next
        self.sent: State | None = None  # weights and newly joined snapshots of the running rollouts
        self.running: list[Future[tuple[Played, State]]] = []  # latest rollout of each actor, or empty
        self.shared: dict[str, Any] = {}  # snapshots by name, as returned by `WorkExecutor.share`
        self.won: list[tuple[str, bool]] = []  # finished games: opponent, True for a win
        self.rounds: list[int] = []
        self.staleness = 0  # staleness of the latest rollouts
        self.are_from_file = False  # True after loading: the states must be checked

    def close(self) -> None:
        """Do nothing: the games of actors start no programs."""

    def start(self, network: Network) -> None:
        """Start all games, and play until the learner must decide."""
        weights = self.executor.share(network.arrays())
        pieces = ((self.config, actor, weights) for actor in range(self.config.actors))
        self.states = list(in_order(self.executor, begin_games, pieces))

    def collect(self, network: Network, rollout: Rollout) -> None:
        """Fill `rollout` with the rollouts of all actors, without features.

        With `staleness: 1`, the actors' next rollouts are started as well.
        """
        self.staleness = int(self.sent is not None)
        if self.sent is None:
            self._send(network)
        actors, self.sent = {future: actor for actor, future in enumerate(self.running)}, None
        if self.config.staleness:
            self._send(network)
        played: list[Any] = [None] * len(actors)
        rollout.clear()
        for future in as_completed(actors):
            actor = actors[future]
            played[actor], self.states[actor] = future.result()
            rollout.unpack(played[actor].rollout, actor * self.config.n_envs)
        for part in played:
            self.won += part.won
            self.rounds += part.rounds
        self._forget_snapshots()

    def _send(self, network: Network) -> None:
        """Start the next rollouts with the weights of this network."""
        self.sent, self.joining = {"weights": network.arrays(), "joining": self.joining}, []
        self._begin_rollouts(self.sent)

    def _begin_rollouts(self, sent: State) -> None:
        """Submit the next rollout of each actor to the executor, after the actor's latest rollout."""
        weights = self.executor.share(sent["weights"])
        for name in set(self.snapshots) - set(self.shared):
            self.shared[name] = self.executor.share(self.snapshots[name])
        playing = [self.shared[name] for name in self.snapshots]
        settings = self.are_from_file, sent["joining"], weights, list(self.snapshots), *playing
        self.running = [
            self.executor.submit_after(before, play_rollout, self.config, actor, *settings)
            for actor, before in enumerate(self.running or self.states)
        ]
        self.are_from_file = False

    def take_snapshot(self, network: Network, decisions: int) -> None:
        """Add a copy of the learner to the leagues of all actors.

        `decisions` is the number of decisions that the learner has made.
        """
        self.snapshots[snapshot_name(decisions)] = network.arrays()
        self.joining.append(decisions)

    def _forget_snapshots(self) -> None:
        """Drop the snapshots that have left the leagues and no longer play in any game."""
        joined = (self.sent or {}).get("joining", [])
        needed = {snapshot_name(decisions) for decisions in [*joined, *self.joining]}
        for state in self.states:
            needed |= {*state["opponent"], *map(snapshot_name, state["league"]["steps"])}
        self.snapshots = {name: snapshot for name, snapshot in self.snapshots.items() if name in needed}
        self.shared = {name: snapshot for name, snapshot in self.shared.items() if name in needed}

    def _check_snapshots(self, state: State) -> None:
        """Raise ValueError unless the weights of all snapshots that an actor's games can need are present."""
        bots = {"", *self.config.league.bots}
        joining = [*self.joining, *(self.sent or {}).get("joining", [])]
        needed = {*state["opponent"], *map(snapshot_name, [*state["league"]["steps"], *joining])} - bots
        if missing := needed - self.snapshots.keys():
            raise ValueError(f"the checkpoint has no weights for the snapshots {shortened(sorted(missing))}")

    def results(self) -> dict[str, Any]:
        """Return the latest rollouts' staleness, and metrics of the games that ended since the last call."""
        metrics = game_metrics(self.rounds, self.won, self.config.league.bots)
        self.rounds, self.won = [], []
        return metrics | {"actors/staleness": self.staleness}

    _STATE = ("states", "snapshots", "joining", "sent")

    def state_dict(self) -> dict[str, Any]:
        """Return the games, snapshots and running rollouts, for a checkpoint between two updates."""
        return {name: getattr(self, name) for name in self._STATE}

    def declared(self, network: Network) -> Declared:
        """Return the declaration (`risk_training.declared`) that a state must match for `load_state_dict`.

        `network` is the learner's network.
        """
        actors, weights, joining = self.config.actors, network.arrays(), ListOf(Whole(), 0, 1)
        games = SelfPlay(self.config, load_map(self.config.map)).declared_games()
        sent = {"weights": weights, "joining": joining} if self.config.staleness else None
        return {
            "states": ListOf(games, actors, actors),
            "snapshots": TableOf(weights),
            "joining": joining,
            "sent": OrNone(sent) if sent else Exactly(None),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned, and restart the rollouts that were running."""
        for name in self._STATE:
            setattr(self, name, state[name])
        self.are_from_file, self.running = True, []
        for actor_state in self.states:
            self._check_snapshots(actor_state)
        if self.sent is not None:
            self._begin_rollouts(self.sent)

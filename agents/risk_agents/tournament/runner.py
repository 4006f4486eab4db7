"""Play games of a tournament: games between lane players in an `Arena`, other games as a `Match`.

Lane players are compiled bots and ONNX models. Between lane players, an `Arena` and a `Match` would play the
same games. An agent that raises an error or returns an illegal action forfeits the game. In a `Match`, an
agent that exceeds a time limit also forfeits the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.players import LanePlayer, PlayerPool, QueriedAgent
from risk_agents.tournament.results import (
    FORFEIT,
    NOBODY,
    TRUNCATED,
    WON,
    GameResult,
    final_places,
    opening_of,
    winner_of_forfeit,
)
from risk_agents.tournament.schedule import Pairing
from risk_env.agent import Agent
from risk_env.arena import REFUSED, Arena
from risk_env.arrays import Ints, Numbers
from risk_env.game import Game
from risk_env.game_vector import GameVector
from risk_env.match import Match
from risk_env.players import PlayerFault, Policy
from risk_env.seeds import game_seed
from risk_env.text.escape import for_terminal

if TYPE_CHECKING:
    from risk_agents.luck import LuckMeter

LONGEST_REASON = 500  # maximum length of a forfeit's reason, in characters
LANES = 256  # maximum number of lanes of a `BatchRunner`
LUCK_DIGITS = 6  # number of decimal places of luck


def play_compiled(
    config: TournamentConfig, pairings: Sequence[Pairing], bots: Mapping[int, LanePlayer]
) -> Iterator[GameResult]:
    """Play games between lane players, and yield the result of each game when the game has ended.

    The keys of `bots` are agent numbers. Errors of the players are not caught.
    """
    number = {agent: k for k, agent in enumerate(bots)}
    line_ups = np.array([[number[agent] for agent in pairing.seats] for pairing in pairings])
    yield from BatchRunner(config, pairings, list(bots.values()), line_ups).play()


def play_single(config: TournamentConfig, pairing: Pairing, pool: PlayerPool) -> GameResult:
    """Play one game between any agents, and return the result; an agent that fails forfeits the game."""
    players = pool.players(pairing.seats)
    match = TournamentMatch(config, pairing, players)
    fault = None
    try:
        match.run()
    except PlayerFault as error:
        fault = error
    result = match.game_result(fault)
    queried = {seat: player for seat, player in enumerate(players) if isinstance(player, QueriedAgent)}
    for seat, player in queried.items():
        player.over(outcome_for(result, seat), partial(match.game.events, seat=seat))
    if config.fresh:
        pool.close()
    notes = tuple(queried[seat].notes() if seat in queried else None for seat in range(len(players)))
    return replace(result, notes=notes) if any(notes) else result


def outcome_for(result: GameResult, seat: int) -> dict[str, Any]:
    """Return the result of a game as a dict that is sent to the agent at `seat`."""
    return {
        "ending": result.ending,
        "winner": result.winner,
        "places": list(result.places),
        "rounds": result.rounds,
        "seat": seat,
        "forfeit": None if result.forfeit_seat == NOBODY else [result.forfeit_seat, result.forfeit_reason],
    }


class BatchRunner:
    """Games between lane players; each lane plays one game after another.

    `line_ups`, int (G, P), contains the index in `bots` of the player at each seat of each game.
    """

    def __init__(
        self,
        config: TournamentConfig,
        pairings: Sequence[Pairing],
        bots: Sequence[LanePlayer],
        line_ups: Ints,
    ) -> None:
        self.config, self.pairings, self._line_ups = config, pairings, line_ups
        lanes = min(LANES, len(pairings))
        has_policies = any(isinstance(bot, Policy) for bot in bots)
        shown: dict[str, Any] = {} if has_policies else {"observation": None, "mask": None}
        self.batch = GameVector(config.rules, config.board, lanes, autoreset=False, **shown)
        self._meter = config.luck_meter()
        keeps_actions = config.record or self._meter is not None
        self.arena = Arena(self.batch, bots, counts=True, keeps_actions=keeps_actions, stops_at_illegal=True)
        self._seeds = np.array([game_seed(config.seed, pairing.deal) for pairing in pairings], np.uint64)
        self._openings = [""] * lanes

    def play(self) -> Iterator[GameResult]:
        """Play all games, and yield the result of each game when the game has ended."""
        with suppress(Exception):  # raised by a bot; the error occurs again in the first game with this bot
            self.arena.prepare()
        for lanes, games in self.arena.run_games(len(self.pairings), self._begin, self._look_at_openings):
            for lane, game in zip(lanes.tolist(), games.tolist(), strict=True):
                yield self._result(lane, self.pairings[game])

    def _begin(self, lanes: Numbers, games: Numbers) -> None:
        self.arena.numbers[lanes, : self.config.num_players] = self._line_ups[games]
        self.batch.begin_seeded(lanes, self._seeds[games])
        self.arena.seat_players(lanes)
        self.arena.stop_at_turn[lanes] = self.batch.records["starter"][lanes]
        for lane in lanes.tolist():
            self._openings[lane] = ""
        self._look_at_openings(lanes)

    def _look_at_openings(self, lanes: Numbers) -> None:
        """Keep the openings of the games in which the first turn begins.

        The starter also has turns in the set-up (round 0); these turns are skipped.
        """
        rounds = self.batch.records["round_number"][lanes]
        for lane in lanes[rounds == 1].tolist():
            self._openings[lane] = opening_of(
                self.batch.games[lane], self.config.num_players, self.config.board.num_territories
            )
        self.arena.stop_at_turn[lanes[rounds > 0]] = NOBODY

    def _result(self, lane: int, pairing: Pairing) -> GameResult:
        """Return the result of the game in a lane; an illegal action in the lane is a forfeit."""
        game, tally, fault = self.batch.game(lane), self.arena.tally, None
        if self.arena.states[lane] == REFUSED:
            fault = PlayerFault(game.seat, "", "illegal", str(self.arena.illegal_action(lane)))
        counts = [tuple(count[lane].tolist()) for count in (tally.decisions, tally.turns, tally.seconds)]
        seed = int(self.batch.seeds[lane])
        actions = tuple(tally.actions(lane)) if tally.keeps_actions else ()
        kept = {"opening": self._openings[lane], **kept_facts(self.config, self._meter, seed, actions)}
        return result_of(game, seed, pairing, fault, counts, kept)


class TournamentMatch(Match):
    """One game that is played decision by decision, to attribute errors and thinking time to agents."""

    def __init__(
        self, config: TournamentConfig, pairing: Pairing, players: Sequence[LanePlayer | Agent]
    ) -> None:
        super().__init__(config.rules, config.board, players, config.seed, lane=pairing.deal)
        self._config, self._pairing, self._opening = config, pairing, ""
        self._look_at_opening()

    def query_player(self) -> int:
        """Return the action of the seat to act.

        Raises PlayerFault for an error, and if the player has exceeded its time limit for the game.
        """
        seat, limit = self.game.seat, self._config.game_time
        action = super().query_player()
        if self.seconds[seat] > limit:
            raise PlayerFault(seat, "", "time", f"used more than {limit:g} s in one game")
        return action

    def step(self, action: int | str) -> None:
        """Play an action, and keep the opening when the first turn begins."""
        super().step(action)
        self._look_at_opening()

    def _look_at_opening(self) -> None:
        game = self.game
        if not self._opening and game.round == 1:
            self._opening = opening_of(game.record, game.num_players, game.board.num_territories)

    def game_result(self, fault: PlayerFault | None) -> GameResult:
        """Return the result of the game; if `fault` is not None, the seat of the fault forfeits the game."""
        counts = [tuple(count.tolist()) for count in (self.decisions, self.turns, self.seconds)]
        seed = int(game_seed(self._config.seed, self._pairing.deal))
        facts = kept_facts(self._config, self._config.luck_meter(), seed, self.game.actions)
        kept = {"opening": self._opening, **facts}
        return result_of(self.game, seed, self._pairing, fault, counts, kept)


def result_of(
    game: Game,
    seed: int,
    pairing: Pairing,
    fault: PlayerFault | None,
    counts: Sequence[Any],
    kept: dict[str, Any],
) -> GameResult:
    """Return the result of a game.

    `seed` is the game's seed. `fault` is the error by which a seat forfeits the game, or None. `counts`
    contains the numbers of decisions, turns and seconds, each by seat. `kept` contains the fields `opening`,
    `actions` and `luck`.
    """
    loser = NOBODY if fault is None else fault.seat
    return GameResult(
        pairing.game,
        pairing.deal,
        pairing.seats,
        starter=int(game.record["starter"]),
        ending=FORFEIT if fault else TRUNCATED if game.truncated else WON,
        winner=winner_of_forfeit(game.alive.tolist(), loser) if fault else game.winner,
        places=final_places(game.placements().tolist(), seed, loser),
        rounds=game.round,
        **dict(zip(("decisions", "turns", "seconds"), counts, strict=True)),
        forfeit_seat=loser,
        forfeit_kind=fault.kind if fault else "",
        forfeit_reason=for_terminal(" ".join(fault.reason.split()))[:LONGEST_REASON] if fault else "",
        **kept,
    )


def kept_facts(
    config: TournamentConfig, meter: LuckMeter | None, seed: int, actions: tuple[int, ...]
) -> dict[str, Any]:
    """Return the `actions` and the `luck` of a result; a value that the tournament does not keep is None."""
    luck = None
    if meter is not None:
        luck = tuple(meter.luck(meter.begun([seed]), [actions])[0].round(LUCK_DIGITS).tolist())
    return {"actions": actions if config.record else None, "luck": luck}

"""Plays games of a tournament on an Arena: those of compiled bots in many lanes, others decision by decision in one.

A game comes out the same in either way. Whoever gives no legal answer in time forfeits it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.players import AskedPlayer, PlayerPool, SinglePlayer
from risk_agents.tournament.results import (
    FORFEIT,
    NOBODY,
    TRUNCATED,
    WON,
    Forfeit,
    GameResult,
    final_places,
    opening_of,
    winner_of_forfeit,
)
from risk_agents.tournament.schedule import Pairing
from risk_env.agent import History
from risk_env.arena import REFUSED, Arena
from risk_env.arrays import Ints, Numbers
from risk_env.bots import CompiledBot
from risk_env.events import Event
from risk_env.game import Game
from risk_env.lanes import Lanes
from risk_env.seeds import bot_seed, game_seed

LANES = 256


def play_compiled(
    config: TournamentConfig, pairings: Sequence[Pairing], bots: Mapping[int, CompiledBot]
) -> Iterator[GameResult]:
    """Play games between compiled bots, given by the numbers of their agents; yields each game when it has ended.

    An error of a bot is raised.
    """
    number = {agent: k for k, agent in enumerate(bots)}
    line_ups = np.array([[number[agent] for agent in pairing.seats] for pairing in pairings])
    yield from BatchRunner(config, pairings, list(bots.values()), line_ups, keeps_actions=config.record).play()


def play_single(config: TournamentConfig, pairing: Pairing, pool: PlayerPool) -> GameResult:
    """Play one game between any agents; an error of one forfeits the game."""
    players = [pool.player(agent, seat) for seat, agent in enumerate(pairing.seats)]
    runner = SingleRunner(config, pairing, players)
    result = runner.play_alone()
    for seat, player in enumerate(players):
        if not isinstance(player, CompiledBot):
            player.end(outcome_for(result, seat), runner.events)
    if config.fresh:
        pool.close()
    notes = tuple(player.notes() if isinstance(player, AskedPlayer) else None for player in players)
    return replace(result, notes=notes) if any(notes) else result


def outcome_for(result: GameResult, seat: int) -> dict[str, Any]:
    """The end of a game as an agent may know it."""
    return {
        "ending": result.ending,
        "winner": result.winner,
        "places": list(result.places),
        "rounds": result.rounds,
        "seat": seat,
        "forfeit": None if result.forfeit_seat == NOBODY else [result.forfeit_seat, result.forfeit_reason],
    }


class BatchRunner:
    """Plays these games in lanes, each lane one after another. `line_ups` (G, P) are the numbers of their players.

    `how` are further arguments of the Arena.
    """

    def __init__(
        self, config: TournamentConfig, pairings: Sequence[Pairing], players: Sequence[Any], line_ups: Ints, **how: Any
    ) -> None:
        self.config, self.pairings, self._line_ups = config, pairings, line_ups
        lanes = min(LANES, len(pairings))
        self.batch = Lanes(config.rules, config.board, lanes, observation=None, mask=None, autoreset=False)
        self.arena = Arena(self.batch, players, counts=True, stops_at_illegal=True, **how)
        self._seeds = np.array([game_seed(config.seed, pairing.deal) for pairing in pairings], np.uint64)
        self._openings = [""] * lanes

    def play(self) -> Iterator[GameResult]:
        """Play all the games; yields each when it has ended."""
        with suppress(Exception):  # raised by a bot; the fault shows again in the first game with this bot
            self.arena.prepare()
        for lanes, games in self.arena.run_games(len(self.pairings), self._begin, self._look_at_openings):
            for lane, game in zip(lanes.tolist(), games.tolist(), strict=True):
                forfeit = None
                if self.arena.states[lane] == REFUSED:  # it has stopped because an answer was not legal
                    seat = int(self.batch.records["seat"][lane])
                    forfeit = Forfeit("illegal", str(self.arena.illegal_action(lane)), seat)
                yield self.result(lane, self.pairings[game], forfeit)

    def _begin(self, lanes: Numbers, games: Numbers) -> None:
        self.arena.numbers[lanes, : self.config.num_players] = self._line_ups[games]
        self.batch.begin_seeded(lanes, self._seeds[games])
        self.arena.seat_players(lanes)
        self.arena.stop_at_turn[lanes] = self.batch.records["starter"][lanes]
        for lane in lanes.tolist():
            self._openings[lane] = ""
        self._look_at_openings(lanes)

    def _look_at_openings(self, lanes: Numbers) -> None:
        """Keep the openings of the games whose first turn begins; in set-up the starter has turns, too (round 0)."""
        rounds = self.batch.records["round_number"][lanes]
        for lane in lanes[rounds == 1].tolist():
            self._openings[lane] = opening_of(
                self.batch.games[lane], self.config.num_players, self.config.board.num_territories
            )
        self.arena.stop_at_turn[lanes[rounds > 0]] = NOBODY

    def result(self, lane: int, pairing: Pairing, forfeit: Forfeit | None) -> GameResult:
        """The result of the game in a lane."""
        game, tally = self.batch.games[lane], self.arena.tally
        shared = self.batch.game(lane).placements()
        loser = NOBODY if forfeit is None else forfeit.seat
        alive = game.death[: self.config.num_players] == 0
        return GameResult(
            pairing.game,
            pairing.deal,
            pairing.seats,
            starter=int(game.starter),
            ending=FORFEIT if forfeit else TRUNCATED if game.truncated else WON,
            winner=winner_of_forfeit(alive, loser) if forfeit else int(game.winner),
            places=final_places(shared.tolist(), int(self.batch.seeds[lane]), loser),
            rounds=int(game.round_number),
            decisions=tuple(tally.decisions[lane].tolist()),
            turns=tuple(tally.turns[lane].tolist()),
            seconds=tuple(tally.seconds[lane].tolist()),
            forfeit_seat=loser,
            forfeit_kind=forfeit.kind if forfeit else "",
            forfeit_reason=forfeit.reason if forfeit else "",
            opening=self._openings[lane],
            actions=tuple(tally.actions(lane)) if self.config.record else None,
        )


class SingleRunner(BatchRunner):
    """Plays one game decision by decision: every error and every second has somebody to blame."""

    def __init__(
        self, config: TournamentConfig, pairing: Pairing, players: Sequence[CompiledBot | SinglePlayer]
    ) -> None:
        seated = [
            player if isinstance(player, CompiledBot) else SeatedPlayer(player, seat, self.events)
            for seat, player in enumerate(players)
        ]
        line_up = np.arange(config.num_players)[None]
        super().__init__(config, [pairing], seated, line_up, keeps_actions=True, on_answers=self._check_time)
        self._again: Game | None = None

    def play_alone(self) -> GameResult:
        """Play the game."""
        try:
            (result,) = self.play()
        except Exception as error:
            asked = int(self.batch.records["seat"][0])
            return self.result(0, self.pairings[0], error if isinstance(error, Forfeit) else crash(error, asked))
        return result

    def events(self, seat: int) -> list[Event]:
        """What a seat has seen so far: the game is played again up to now, in a `Game` with its history."""
        if self._again is None:
            self._again = Game(self.config.rules, self.config.board, self.config.seed, lane=self.pairings[0].deal)
        for action in self.arena.tally.actions(0)[len(self._again.actions) :]:
            self._again.step(action)
        return self._again.events(seat=seat)

    def _check_time(self, lanes: Numbers) -> None:
        seat = int(self.batch.records["seat"][0])
        if self.arena.tally.seconds[0, seat] > self.config.game_time:
            raise Forfeit("time", f"more than {self.config.game_time:g} s in one game", seat)


class SeatedPlayer:
    """A player of single games at its seat, as the Arena asks it; what goes wrong with it is a Forfeit of that seat."""

    def __init__(self, player: SinglePlayer, seat: int, history: History) -> None:
        self.player, self.seat, self._history = player, seat, history

    def begin(self, batch: Lanes, lanes: Numbers, seats: Numbers) -> None:
        """The game has begun."""
        with self._blamed():
            self.player.begin(self.seat, int(bot_seed(int(batch.seeds[0]), self.seat)))

    def choose(self, batch: Lanes, lanes: Numbers, actions: Numbers) -> None:
        """Its answer."""
        with self._blamed():
            actions[lanes] = self.player.choose(batch.game(0), self._history)

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        try:
            yield
        except Forfeit as forfeit:
            forfeit.seat = self.seat
            raise
        except Exception as error:
            raise crash(error, self.seat) from error


def crash(error: Exception, seat: int) -> Forfeit:
    """The forfeit of a seat whose player raised an error."""
    return Forfeit("crash", f"{type(error).__name__}: {error}", seat)

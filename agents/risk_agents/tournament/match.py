"""One game between any agents, decision by decision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from risk_agents.tournament.players import Cast, Player
from risk_agents.tournament.results import (
    FORFEIT,
    NOBODY,
    TRUNCATED,
    WON,
    Forfeit,
    GameResult,
    final_places,
    winner_of_forfeit,
)
from risk_agents.tournament.schedule import Pairing
from risk_agents.tournament.setting import Setting
from risk_env.game import Game
from risk_env.seeds import bot_seed, game_seed
from risk_env.text.notation import IllegalAction


def play_single(setting: Setting, pairing: Pairing, cast: Cast) -> GameResult:
    """Play one game of the schedule; whoever gives no legal answer in time forfeits it."""
    game = Game(setting.rules, setting.board, setting.seed, lane=pairing.deal)
    players = [cast.player(agent, seat) for seat, agent in enumerate(pairing.seats)]
    tally = Tally(setting.num_players)
    forfeit = None
    try:
        _begin(players, int(game_seed(setting.seed, pairing.deal)))
        while not game.is_over:
            _ask(game, players, tally, setting.game_time)
    except Forfeit as fault:
        forfeit = fault
    result = _result(setting, pairing, game, tally, forfeit)
    for seat, player in enumerate(players):
        player.end(outcome_for(result, seat))
    if setting.fresh:
        cast.close()
    return result


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


class Tally:
    """Decisions, turns and seconds of every seat, int and float (P,)."""

    def __init__(self, num_players: int) -> None:
        self.decisions = np.zeros(num_players, np.int64)
        self.turns = np.zeros(num_players, np.int64)
        self.seconds = np.zeros(num_players)
        self._last_round = np.full(num_players, -1)

    @contextmanager
    def counting(self, game: Game) -> Iterator[None]:
        """Count a decision of the seat that is asked, and the time it takes."""
        seat, start = game.seat, perf_counter()
        self.decisions[seat] += 1
        self.turns[seat] += self._last_round[seat] != game.round
        self._last_round[seat] = game.round
        try:
            yield
        finally:
            self.seconds[seat] += perf_counter() - start


@contextmanager
def _blamed(seat: int) -> Iterator[None]:
    """A Forfeit inside is that of `seat`."""
    try:
        yield
    except Forfeit as fault:
        fault.seat = seat
        raise


def _begin(players: list[Player], chance: int) -> None:
    for seat, player in enumerate(players):
        with _blamed(seat):
            player.begin(seat, int(bot_seed(chance, seat)))


def _ask(game: Game, players: list[Player], tally: Tally, game_time: float) -> None:
    """One decision: asked, counted, played."""
    with _blamed(game.seat):
        with tally.counting(game):
            action = _answer(players[game.seat], game)
        if tally.seconds[game.seat] > game_time:
            raise Forfeit("time", f"more than {game_time:g} s in one game")
        try:
            game.step(action)
        except IllegalAction as error:
            raise Forfeit("illegal", str(error)) from error


def _answer(player: Player, game: Game) -> int:
    """What a player answers; whatever goes wrong with it costs its game and no other."""
    try:
        return player.choose(game)
    except Forfeit:
        raise
    except Exception as error:
        raise Forfeit("crash", f"{type(error).__name__}: {error}") from error


def _result(setting: Setting, pairing: Pairing, game: Game, tally: Tally, forfeit: Forfeit | None) -> GameResult:
    loser = NOBODY if forfeit is None else forfeit.seat
    ending = FORFEIT if forfeit else TRUNCATED if game.truncated else WON
    return GameResult(
        pairing.game,
        pairing.deal,
        pairing.seats,
        starter=int(game.record.starter),
        ending=ending,
        winner=winner_of_forfeit(game.alive.tolist(), loser) if forfeit else game.winner,
        places=final_places(game.placements().tolist(), int(game_seed(setting.seed, pairing.deal)), loser),
        rounds=game.round,
        decisions=tuple(tally.decisions.tolist()),
        turns=tuple(tally.turns.tolist()),
        seconds=tuple(tally.seconds.tolist()),
        forfeit_seat=loser,
        forfeit_kind="" if forfeit is None else forfeit.kind,
        forfeit_reason="" if forfeit is None else forfeit.reason,
        actions=game.actions if setting.record else None,
    )

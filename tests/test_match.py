"""`Match`: players of every kind, equal games in every interface, and faults that name the seat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from risk_agents.registry import make, play_game
from risk_env import Agent, Game, IllegalAction, Match, PlayerFault, Rules, View, load_map
from risk_env.bots import compiled
from risk_env.core.types import NOBODY

RULES = Rules.preset("classic", 3, attack="blitz", defender_dice="max", max_rounds=8)
BOARD = load_map("classic")


class Witness(Agent):
    """An agent that plays the first legal action, and keeps the events that it has seen."""

    name = "witness"

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def act(self, view: View) -> int:
        self.seen = list(view.events)
        return int(view.legal_actions[0])


class FirstLegal:
    """A policy that plays the first legal action of each lane."""

    def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
        return masks.argmax(axis=1)


class Answers(Agent):
    """An agent that answers every question with the same value, or raises it."""

    name = "answers"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, view: View) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_players_of_every_kind_play_one_game() -> None:
    match = Match(RULES, BOARD, ["grower", Witness(), FirstLegal()], seed=5)
    assert match.run() == NOBODY and match.game.is_over
    result = match.result
    assert result.rounds == match.game.round and result.winner == match.game.winner
    assert result.placements == tuple(match.game.placements())
    assert sum(result.decisions) == len(match.game.actions)
    assert min(result.turns) > 0 and max(result.turns) <= result.rounds + 1


def test_compiled_bots_play_the_game_of_a_batch() -> None:
    match = Match(RULES, BOARD, ["grower", compiled("attacker"), "random"], seed=4, lane=2)
    match.run()
    assert match.game == play_game(RULES, BOARD, ["grower", "attacker", "random"], seed=4, lane=2)


def test_the_caller_plays_seats_without_a_player() -> None:
    match = Match(RULES, BOARD, ["grower", None, "attacker"], seed=6)
    while (seat := match.run()) != NOBODY:
        assert seat == match.game.seat == 1
        match.step(int(match.view().legal_actions[0]))
    assert match.game.is_over and match.result.decisions[1] == 0
    with pytest.raises(ValueError, match="seat 1 has no player"):
        Match(RULES, BOARD, [None, None, None], seed=_begun_by(1)).query_player()


def _begun_by(seat: int) -> int:
    """Return a seed with which this seat decides first."""
    return next(seed for seed in range(100) if Game(RULES, BOARD, seed).seat == seat)


def test_it_stops_before_a_seat_that_is_named() -> None:
    players = ["grower", "attacker", "random"]
    match, whole = (Match(RULES, BOARD, players, seed=7) for _ in range(2))
    while match.run(until={0, 2}) != NOBODY:
        assert match.game.seat in (0, 2)
        match.step(match.query_player())
    whole.run()
    assert match.game == whole.game


def test_it_stops_after_a_number_of_rounds() -> None:
    match = Match(RULES, BOARD, ["grower", "attacker", "random"], seed=7)
    assert match.run(rounds=2) == match.game.seat != NOBODY
    assert match.game.round == 3
    decisions = match.decisions.sum()
    match.run(rounds=2)
    assert match.decisions.sum() == decisions
    assert match.run(rounds=4) == match.game.seat
    assert match.game.is_over or match.game.round == 5


def test_every_view_has_its_history() -> None:
    witness = Witness()
    match = Match(RULES, BOARD, ["grower", witness, "attacker"], seed=8)
    match.run()
    before = match.game.events(seat=1)[: len(witness.seen)]
    assert witness.seen and witness.seen == before
    assert any(event.only == 1 for event in match.game.events(seat=1)) or not match.game.hand(1)


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (10**6, "illegal", "legal"),
        (-1, "illegal", "legal"),
        (True, "crash", "must return a whole number"),
        ("draft Alaska", "crash", "must return a whole number"),
        (None, "crash", "must return a whole number"),
        (1 << 70, "crash", "bits"),
        (np.array([1, 2]), "crash", ""),
        (ZeroDivisionError("division"), "crash", "ZeroDivisionError: division"),
    ],
)
def test_a_fault_names_seat_and_reason_and_the_game_stands(answer: Any, kind: str, reason: str) -> None:
    match = Match(RULES, BOARD, ["grower", Answers(answer), "attacker"], seed=9)
    with pytest.raises(PlayerFault, match="answers at seat 1") as fault:
        match.run()
    assert (fault.value.seat, fault.value.kind) == (1, kind) and reason in fault.value.reason
    assert match.game.seat == 1
    match.step(int(match.game.legal_actions()[0]))  # the game can go on


def test_a_player_that_cannot_play_the_game_is_a_fault_before_it_begins() -> None:
    match = Match(Rules.preset("classic", 3), BOARD, ["grower", "duelist", "random"], seed=1)
    with pytest.raises(PlayerFault, match="duelist at seat 1"):
        match.begin()


def test_kept_actions_are_played_again_and_players_remember() -> None:
    players = ["planner", "breaker", "grower"]
    whole = Match(RULES, BOARD, players, seed=3)
    whole.run()
    half = whole.game.actions[: len(whole.game.actions) // 2]
    match = Match(RULES, BOARD, players, seed=3)
    assert match.replay(half) == set()
    match.run()
    assert match.game == whole.game
    other = Match(RULES, BOARD, [make("random"), *players[1:]], seed=3)
    assert 0 in other.replay(half)


def test_it_begins_with_a_position() -> None:
    game = Game(RULES, BOARD, seed=2)
    for _ in range(60):
        game.step(int(game.legal_actions()[0]))
    match = Match(RULES, BOARD, ["grower"] * 3, seed=2, position=game.to_text())
    assert (match.game.owner == game.owner).all()
    match.run()
    assert match.game.is_over


def test_wrong_players_and_actions_are_refused() -> None:
    with pytest.raises(ValueError, match="2 players, but the game has 3 seats"):
        Match(RULES, BOARD, ["grower", "random"], seed=1)
    with pytest.raises(ValueError, match=r"must be a registered name .*, a CompiledBot, a Policy, an Agent"):
        Match(RULES, BOARD, [3, "random", "random"], seed=1)  # type: ignore[list-item]
    match = Match(RULES, BOARD, [None, None, None], seed=1)
    with pytest.raises(IllegalAction):
        match.step("done")
    assert match.game.actions == ()


def test_close_ends_what_the_players_have_started() -> None:
    class Starter(Witness):
        closed = False

        def close(self) -> None:
            self.closed = True

    player = Starter()
    Match(RULES, BOARD, [player, "random", None], seed=1).close()
    assert player.closed


@pytest.mark.parametrize("fails", [False, True])
def test_play_game_closes_the_agents_that_it_made_and_no_others(fails: bool) -> None:
    closed = []

    class Starter(Witness):
        def close(self) -> None:
            closed.append(self)

    mine = Starter()
    players: list[Any] = [mine, Starter, Answers(-1) if fails else "random"]
    if fails:
        with pytest.raises(PlayerFault):
            play_game(RULES, BOARD, players, seed=1)
    else:
        play_game(RULES, BOARD, players, seed=1)
    assert [type(agent) for agent in closed] == [Starter] and closed != [mine]

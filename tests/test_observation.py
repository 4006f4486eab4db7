"""Observations: codes of counts, and the content of a view."""

from bisect import bisect_left

import numpy as np
import pytest

from risk_env import Game, Rules
from risk_env.compiler import entry_point
from risk_env.core.observe import GLOBAL_BLOCKS, TERRITORY_COLUMNS, encode_count
from risk_env.core.types import MAX_SEATS
from risk_env.observations import COUNT_DIVISOR, observation_scales, split_view
from tests.positions import CLASSIC, play, position

SCALES = split_view(observation_scales(CLASSIC), CLASSIC)  # the scales of globals are the same on all maps


@entry_point
def code_of_count(count: int) -> int:
    """Call `encode_count` from Python."""
    return encode_count(count)


def test_counts_are_exact_to_32_monotone_and_saturate() -> None:
    assert [code_of_count(count) for count in range(33)] == list(range(33))
    counts = sorted({*range(5000), *(2**k + d for k in range(5, 31) for d in (-1, 0, 1)), 2**31 - 1})
    codes = [code_of_count(count) for count in counts]
    assert codes == sorted(codes)
    assert codes[-1] == 127


def test_every_code_has_a_least_count() -> None:
    least = [bisect_left(range(2**31 - 1), code, key=code_of_count) for code in range(128)]
    assert least == sorted(least)
    assert least[127] == 7 * 2**26  # 2 ** 28 and three quarters of the way to the next power
    assert all(code_of_count(count) >= code for code, count in enumerate(least))


def block(view: np.ndarray, name: str) -> np.ndarray:
    """Return a block of the globals of a structured observation, as codes."""
    first = 0
    for block_name, width, _ in GLOBAL_BLOCKS:
        if block_name == name:
            scales = SCALES["globals"][first : first + width]
            return np.rint(view["globals"][first : first + width] / scales).astype(int)
        first += width
    raise KeyError(name)


@pytest.mark.parametrize("seat", range(3))
def test_a_view_says_what_is_the_case(seat: int) -> None:
    game = Game(Rules.preset("classic", 3, setup="random"), seed=3)
    view = game.observe(seat, "structured")
    troops = np.rint(view["territories"][:, :MAX_SEATS] * COUNT_DIVISOR).astype(int)
    for territory, (owner, count) in enumerate(zip(game.owner, game.troops, strict=True)):
        assert troops[territory].nonzero()[0].tolist() == [(owner - seat) % 3]
        assert troops[territory, (owner - seat) % 3] == count
    assert block(view, "turn").tolist().index(1) == (game.turn - seat) % 3
    assert block(view, "territories")[:3].sum() == 42
    assert block(view, "troops")[0] == code_of_count(int(game.troops[game.owner == seat].sum()))
    assert block(view, "phase")[game.phase] == 1


def test_own_cards_are_seen_and_others_are_not() -> None:
    text = """risk_env game 1
rules: preset=classic, num_players=3, setup=random
map: tiny
phase: ATTACK
hand 0: {first}
hand 1: {second}
[territories]
"""
    game = Game(Rules.preset("classic", 3, setup="random"), "tiny", seed=1)
    names = game.board.territories
    lines = "".join(f"{name}: player {t % 3}, 3 troops\n" for t, name in enumerate(names))
    game = Game.from_text(text.format(first=names[0], second=names[1]) + lines)
    column = [name for name, _ in TERRITORY_COLUMNS].index("own_card")
    for seat in range(3):
        cards = game.observe(seat, "structured")["territories"][:, column].nonzero()[0].tolist()
        assert cards == ([seat] if seat < 2 else [])
    assert block(game.observe(2, "structured"), "cards")[:3].tolist() == [0, 1, 1]


def test_all_see_who_holds_a_card_that_was_shown() -> None:
    armies = ("Ash 3, Birch 3", "Cedar 3, Dune 3", "Ember 3, Flint 3")
    rules = "preset=classic, num_players=3, card_reroll=True"
    cards = {"hand_1": "Ash, Birch", "hand_2": "Dune", "discard": "Ember"}
    game = position(rules, *armies, map="tiny", shown="Ash, Dune, Ember", **cards)
    column = [name for name, _ in TERRITORY_COLUMNS].index("known_card")
    for seat in range(3):
        found = game.observe(seat, "structured")["territories"][:, column]
        assert found.tolist() == [1 + (1 - seat) % 3, 0, 0, 1 + (2 - seat) % 3, 0, 0]


def marks(game: Game, seat: int, name: str) -> list[int]:
    """Return a column of marks of the territories."""
    column = [column for column, _ in TERRITORY_COLUMNS].index(name)
    return game.observe(seat, "structured")["territories"][:, column].astype(int).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_every_seat_sees_who_started(seed: int) -> None:
    game = Game(Rules.preset("classic", 4, setup="random"), "tiny", seed=seed)
    for seat in range(4):
        assert block(game.observe(seat, "structured"), "starter") == 1 + (game.public().starter - seat) % 4


def test_with_the_star_deck_a_seat_sees_its_stars_and_no_symbols() -> None:
    game = position(
        "preset=basic_training", "rest", "Alaska", "Alberta", hand_0="Alaska, Brazil", hand_1="Peru"
    )
    stars = [
        sum(game.board.stars[game.board.territory(card)] for card in game.hand(seat)) for seat in range(3)
    ]
    for seat in range(3):
        view = game.observe(seat, "structured")
        assert block(view, "own_stars") == stars[seat]
        assert not block(view, "own_symbols").any()
        assert block(view, "next_set") == game.public().next_set == 0
    view = Game(Rules.preset("classic", 3), seed=1).observe(0, "structured")
    assert (block(view, "own_stars"), block(view, "next_set")) == (0, 4)


def test_no_set_is_owed_while_the_bonus_of_the_last_one_is_placed() -> None:
    armies = ("Ash 3, Birch 3", "Cedar 3, Dune 3", "Ember 3, Flint 3")
    lines = {"captured": "yes", "battles": 1, "set_traded": "yes", "draft_left": 4, "sets_traded": 1}
    lines |= {"held_at_start": "Ash", "discard": "Birch, Dune, Ember", "bonus": "Birch"}
    for hand, owed in (("Ash, Cedar, Flint", 0), ("Ash, Cedar, Flint, wild, wild", 1)):
        rules = "preset=classic, num_players=3"
        game = position(rules, *armies, map="tiny", phase="bonus", ask_forced=True, hand_0=hand, **lines)
        assert all(block(game.observe(seat, "structured"), "must_trade") == owed for seat in range(3))


def test_when_the_game_is_over_no_move_is_under_way() -> None:
    army = ", ".join([*(f"{name} 2" for name in CLASSIC.territories[10:26]), "Alaska 3, Alberta 1"])
    lines = {"mission_0": 5, "mission_1": 0, "mission_2": 1}  # seat 0: 18 territories with two troops
    by_move = position("preset=secret_mission, fortify=free", army, "Japan 9", "rest", **lines)
    play(by_move, "done", "from Alaska", "move 1", "done")
    by_capture = position("preset=classic, num_players=2, attack=blitz", "rest 40", "Alaska", phase="attack")
    by_capture.step("attack Alberta > Alaska")
    for game in (by_move, by_capture):
        assert game.is_over
        for seat in range(game.rules.num_players):
            assert not any(marks(game, seat, "source") + marks(game, seat, "target"))
            assert block(game.observe(seat, "structured"), "moves_left") == 0
        state = game.public()
        assert (state.source, state.target, state.moves_left) == (-1, -1, 0)

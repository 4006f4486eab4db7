"""Thousands of random games: every invariant is checked after every action and chance result, compiled."""

import random

import numpy as np
import pytest

from risk_env import load_map, presets
from risk_env.board.maps import Board
from risk_env.board.tables import tables
from risk_env.compiler import entry_point, kernel
from risk_env.core import entry
from risk_env.core.actions import write_legal
from risk_env.core.bits import has, is_empty, nth, popcount, size
from risk_env.core.chance import below, mix
from risk_env.core.setup import set_up
from risk_env.core.step import apply, is_chance, play_one_chance
from risk_env.core.types import FREE, MOST_TROOPS, Phase, Victory
from risk_env.seeds import uint64
from tests.foreign_maps import imported
from tests.games import maps_of, random_rules
from tests.one_way import random_one_way_map

FAULTS = (
    "none",
    "an owner out of range",
    "a held territory without troops, or troops on a free one",
    "owned words disagree with owners",
    "strong words disagree with troops",
    "a territory free in play",
    "a territory over max_troops",
    "a card lost or doubled",
    "a wild card lost or doubled",
    "a dead seat that owns something",
    "a living seat that owns nothing in play",
    "a seat asked that is dead or none",
    "a question without a legal action",
    "a legal action after the end, or an end without winner or truncation",
    "troops that came or went against the rules",
    "a legal action that does not exist",
)


@kernel
def fault_of_territories(game, board, rules):
    """Return the number of the first fault of owners and troops, or 0."""
    in_play = game.round_number > 0
    for t in range(board.num_territories):
        owner, troops = int(game.owner[t]), int(game.troops[t])
        if owner < FREE or owner >= rules.num_armies:
            return 1
        if (troops > 0) != (owner != FREE):
            return 2
        for army in range(game.owned.shape[0]):
            if has(game.owned[army], t) != (owner == army):
                return 3
        if has(game.strong, t) != (troops > 1):
            return 4
        if in_play and owner == FREE:
            return 5
        if troops > rules.max_troops:
            return 6
    return 0


@kernel
def fault_of_cards(game, board, rules):
    """Return the number of the first fault of the cards: each card is in exactly one place."""
    wilds = int(game.deck_wilds) + int(game.discard_wilds)
    for w in range(len(game.deck)):
        seen = game.deck[w] ^ game.discard[w]
        count = popcount(game.deck[w]) + popcount(game.discard[w])
        for seat in range(game.hand.shape[0]):
            seen ^= game.hand[seat, w]
            count += popcount(game.hand[seat, w])
        if rules.victory == Victory.HEADQUARTERS:
            for seat in range(rules.num_players):
                place = int(game.headquarters[seat])
                if place >= 0 and place >> 6 == w:
                    seen ^= np.uint64(1) << np.uint64(place & 63)
                    count += 1
        cards = board.everywhere[w]
        if rules.deck == 0:
            cards = board.symbol_cards[0, w] | board.symbol_cards[1, w] | board.symbol_cards[2, w]
        if seen != cards or count != popcount(cards):
            return 7
    for seat in range(game.hand.shape[0]):
        wilds += int(game.wilds[seat])
    return 8 if wilds != (board.num_wilds if rules.deck == 0 else 0) else 0


@kernel
def fault_of_seats(game, board, rules):
    """Return the number of the first fault of the seats.

    The dead own nothing and the living own something; the deciding seat lives and has a legal action.
    """
    in_play = game.round_number > 0
    for seat in range(rules.num_players):
        nothing = is_empty(game.owned[seat])
        if game.death[seat] > 0 and not (nothing and is_empty(game.hand[seat]) and game.wilds[seat] == 0):
            return 9
        if in_play and game.death[seat] == 0 and nothing:
            return 10
    if game.phase == Phase.OVER:
        ended = (game.winner >= 0) != bool(game.truncated)
        return 0 if is_empty(game.legal) and ended else 13
    if game.seat < 0 or game.seat >= rules.num_players or game.death[game.seat] > 0:
        return 11
    if not is_chance(game) and is_empty(game.legal):
        return 12
    for action in range(int(rules.num_actions), len(game.legal) * 64):
        if has(game.legal, action):
            return 15
    return 0


@kernel
def troops_of_all(game, board):
    total = 0
    for t in range(board.num_territories):
        total += int(game.troops[t])
    return total


@kernel
def explains(game, rules, phase, draft_left, change):
    """Return True if the phase just played explains a change of the troops on the board."""
    if phase <= Phase.DEPLOY_NEUTRAL:
        return change == 1
    if phase == Phase.BONUS:
        return change == 2 or (change == 1 and rules.max_troops < MOST_TROOPS)
    if phase == Phase.DRAFT_AMOUNT:
        lost = rules.max_troops < MOST_TROOPS and game.draft_left == 0
        return 0 < change <= draft_left if lost else change > 0
    if phase == Phase.ROLL or phase == Phase.REROLL or phase == Phase.COMMANDER:
        lost = int(game.losses[0]) + int(game.losses[1])
        return change == -lost or (
            change == 0 and (game.phase == Phase.REROLL or game.phase == Phase.COMMANDER)
        )
    return change == 0


@kernel
def fault_of(game, board, rules):
    fault = fault_of_territories(game, board, rules)
    if fault == 0:
        fault = fault_of_cards(game, board, rules)
    if fault == 0:
        fault = fault_of_seats(game, board, rules)
    return fault


@entry_point
def play_checked(games, boards, rule_records, seed, count, most):
    """Play `count` random games of at most `most` actions.

    Return (fault, game, actions played, games that ended).
    """
    game, board, rules = games[0], boards[0], rule_records[0]
    player = games[1]  # its generator chooses the actions
    player.random = seed
    played = 0
    ended = 0
    for number in range(count):
        set_up(games, 0, board, rules, mix(seed, np.uint64(number), np.uint64(0)))
        write_legal(game, board, rules)
        for _ in range(most):
            fault = fault_of(game, board, rules)
            if fault > 0:
                return fault, number, played, ended
            if game.phase == Phase.OVER:
                ended += 1
                break
            phase, troops, left = int(game.phase), troops_of_all(game, board), int(game.draft_left)
            if is_chance(game):
                play_one_chance(game, board, rules)
            else:
                played += 1
                apply(game, board, rules, nth(game.legal, below(player, size(game.legal))))
            write_legal(game, board, rules)
            if not explains(game, rules, phase, left, troops_of_all(game, board) - troops):
                return 14, number, played, ended
    return 0, count, played, ended


VARIANTS = 4  # random rules for each preset and map
COUNTS = {"tiny": (150, 600), "classic": (8, 600)}  # games for each, most actions of one
OTHER_COUNT = (2, 400)


@pytest.mark.parametrize(
    ("preset", "map_name"),
    [
        # its loop is compiled again for the size class of a big map
        pytest.param(preset, board.source, marks=[pytest.mark.long] if board.source == "big" else [])
        for preset in presets()
        for board in maps_of(preset)
    ],
)
def test_no_invariant_is_ever_broken(preset: str, map_name: str) -> None:
    check_games(preset, load_map(map_name))


PARTIAL_CARDS = 2  # number of a file in tests/foreign_maps.py, with a territory outside all continents


@pytest.mark.parametrize(
    ("preset", "board"),
    [
        ("classic", load_map("random:9:territories=50,continents=7")),
        ("command_room", load_map("random:4:territories=20")),
        ("classic", imported(PARTIAL_CARDS)),
        ("secret_mission", imported(0)),
    ],
    ids=["random", "random, stars", "partial cards", "imported"],
)
def test_no_invariant_is_broken_on_random_and_imported_maps(preset: str, board: Board) -> None:
    check_games(preset, board)


@pytest.mark.parametrize("preset", presets())
def test_no_invariant_is_broken_on_one_way_maps(preset: str) -> None:
    check_games(preset, random_one_way_map("classic"))


def check_games(preset: str, board: Board) -> None:
    """Play random games on a map, and check all invariants after every action."""
    rng = random.Random(f"{preset} {board.source}")
    for _ in range(VARIANTS):
        rules = random_rules(rng, board, preset, max_rounds=rng.choice([None, 20]))
        records = tables(rules, board)
        games = records.new_games(2)
        count, most = COUNTS.get(board.source, OTHER_COUNT)
        seed = uint64(rng.getrandbits(64))
        fault, number, played, _ = play_checked(games, records.board, records.rules, seed, count, most)
        assert fault == 0, f"{FAULTS[fault]} in game {number} after {played} actions of {rules}"
        assert played > count


def test_a_planted_fault_is_found() -> None:
    """The checks can fail: each of a few faults planted by hand is found."""
    board = load_map("tiny")
    records = tables(random_rules(random.Random(1), board, "classic", setup="random"), board)
    for field, index, value, fault in [
        ("owner", 0, 9, 1),
        ("troops", 0, 0, 2),
        ("deck_wilds", ..., 5, 8),
        ("death", 0, 1, 9),
    ]:
        games = records.new_games(1)
        entry.set_up_game(games, 0, records.board, records.rules, np.uint64(7))
        entry.write_legal_actions(games, 0, records.board, records.rules)
        games[field][0 if index is ... else (0, index)] = value
        assert first_fault(games, records.board, records.rules) == fault


@entry_point
def first_fault(games, boards, rules):
    return fault_of(games[0], boards[0], rules[0])

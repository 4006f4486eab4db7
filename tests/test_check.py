"""`check` finds every planted fault, accepts every position of real play, and never raises."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.core import entry
from risk_env.core.types import Phase
from risk_env.public import members, words_of
from risk_env.text.check import DERIVED, Facts, check, complete
from tests.cases import TABLES
from tests.test_notation import choose, corpus, game_of


def reasons(name, games):
    rules, board, table = game_of(name)
    return check(games[0], table, rules, board)


# ------------------------------------------------------------------------------------------ what play reaches


def test_the_corpus_is_in_order():
    for name, games in corpus():
        assert reasons(name, games) == [], (name, Phase(int(games[0].phase)))


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_every_position_of_a_random_game_is_in_order(preset, players):
    board = load_map("classic" if preset == "basic_training" else "tiny")
    troops = {} if preset == "basic_training" else {"initial_troops": 6}
    rules = Rules.preset(preset, players, max_rounds=6, fortify="free", **troops)
    table, rng = tables(rules, board), np.random.default_rng(players)
    games = table.new_games(1)
    entry.set_up_game(games, 0, table.board, table.rules, np.uint64(players))
    entry.write_legal_actions(games, 0, table.board, table.rules)
    for _ in range(250):
        assert check(games[0], table, rules, board) == [], Phase(int(games[0].phase))
        if games[0].phase == Phase.OVER:
            return
        if not entry.play_chance_once(games, 0, table.board, table.rules):
            entry.apply_action(
                games, 0, table.board, table.rules, choose(members(games[0].legal), table, rng)
            )


# --------------------------------------------------------------------------------------------- planted faults


def put(field, value, *place):
    """Return a fault: another value in a field."""

    def plant(game):
        game[field][place if place else ...] = value

    return lambda game: plant(game) if game[field].ndim else game.__setitem__(field, value)


def flip(field, element, *place):
    """Return a fault: one element of a set added or removed."""

    def plant(game):
        words = game[field][place] if place else game[field]
        words[element // 64] ^= np.uint64(1 << element % 64)

    return plant


def give(card, seat):
    """Move a card of the deck into a hand, which is not a fault."""

    def plant(game):
        for words in (game.deck, game.discard, *game.hand):
            words[0] &= ~np.uint64(1 << card)
        game.hand[seat][0] |= np.uint64(1 << card)

    return plant


def both(*plants):
    def plant(game):
        for one in plants:
            one(game)

    return plant


def empty_a_territory(game):
    game.troops[2] = 0
    game.strong[0] &= ~np.uint64(4)


def swap_owner(game):
    """Put another seat in `owner` than in `owned`."""
    game.owner[0] = (game.owner[0] + 1) % 3


def kill(game):
    """Mark a seat that owns territories as eliminated."""
    game.death[next(seat for seat in range(3) if seat != game.turn and game.owned[seat].any())] = 1


def two_missions(game):
    game.mission[1] = game.mission[0]


def move_airfield(game):
    """Move the airfield to a territory that its owner does not hold."""
    which = int(np.flatnonzero(game.airfield >= 0)[0])
    holder = int(game.owner[game.airfield[which]])
    game.airfield[which] = next(t for t in range(6) if game.owner[t] != holder)


def another_target(game):
    own = int(game.turn)
    game.target = next(t for t in range(6) if game.owner[t] == own and t != game.source)


def take_objective_out(game):
    game.objective[np.flatnonzero(game.objective > -2)[0]] = -2


def another_reward(game):
    """Put a major Reward on a minor objective."""
    game.objective_reward[np.flatnonzero(game.objective_reward >= 0)[0]] = 7


ANY = None  # any game
WORLD, TWO, CAPITAL, SECRET = (
    "tiny/world_domination",
    "tiny/two_player",
    "tiny/capital",
    "tiny/secret_mission",
)
EXPERT, ROOM, RANDOM = "tiny/expert", "tiny/command_room", "tiny/random"
FAULTS = [
    # ranges
    (WORLD, Phase.ATTACK, put("phase", 23), "phase is 23"),
    (WORLD, Phase.ATTACK, put("turn", 3), "turn is 3"),
    (WORLD, Phase.ATTACK, put("owner", 3, 1), "owner of Birch is 3"),
    (WORLD, Phase.ATTACK, put("owner", -2, 1), "owner of Birch is -2"),
    (WORLD, Phase.ATTACK, put("troops", -1, 1), "troops of Birch is -1"),
    (WORLD, Phase.ATTACK, put("troops", 1, 7), r"troops\[7\] is 1, but must be from 0 to 0"),
    (EXPERT, Phase.ATTACK, put("troops", 13, 1), "troops of Birch is 13, but must be from 0 to 12"),
    (WORLD, Phase.ATTACK, put("source", 6), "source is 6"),
    (WORLD, Phase.ATTACK, put("draft_left", -1), "draft_left is -1"),
    (WORLD, Phase.ATTACK, put("decisions", -1), "decisions is -1"),
    (WORLD, Phase.ATTACK, put("sets_traded", -5), "sets_traded is -5"),
    (WORLD, Phase.ATTACK, put("round_number", 13), "round_number is 13, but must be from 0 to 12"),
    (RANDOM, Phase.ATTACK, put("battles", 4), "battles is 4, but must be from 0 to 3"),
    (WORLD, Phase.ATTACK, put("wilds", 3, 0), r"wilds\[0\] is 3"),
    (ROOM, Phase.ATTACK, put("wilds", 1, 0), r"wilds\[0\] is 1, but must be from 0 to 0"),
    (WORLD, Phase.ATTACK, put("trade", 3), "trade is 3"),
    (WORLD, Phase.ATTACK, put("moves_left", 7), "moves_left is 7"),
    (WORLD, Phase.ATTACK, put("rolled", 7, 0, 0), r"rolled\[0\] is 7"),
    (WORLD, Phase.ATTACK, put("mission", 64, 0), r"mission\[0\] is 64"),
    (ROOM, Phase.ATTACK, put("objective", 3, 0), r"objective\[0\] is 3"),
    (ROOM, Phase.ATTACK, put("reward_owner", 3, 0), r"reward_owner\[0\] is 3"),
    (WORLD, Phase.ATTACK, put("death", 1, 4), r"death\[4\] is 1, but must be from 0 to 0"),
    (WORLD, Phase.ATTACK, flip("deck", 6), "deck: wrong at number 6"),
    (WORLD, Phase.ATTACK, flip("legal", 200), r"legal: wrong at actions \[200\]"),
    # the board
    (WORLD, Phase.ATTACK, empty_a_territory, "Cedar: 0 troops of seat"),
    (WORLD, Phase.CLAIM, put("troops", 1, slice(0, 6)), "1 troops of nobody"),
    (WORLD, Phase.ATTACK, swap_owner, r"owned\[.\]: wrong at Ash"),
    (WORLD, Phase.ATTACK, flip("owned", 3, 0), r"owned\[0\]: wrong at Dune"),
    (WORLD, Phase.ATTACK, flip("strong", 3), "strong: wrong at Dune"),
    (WORLD, Phase.ATTACK, flip("reach", 0), "reach: wrong at Ash"),
    (ANY, Phase.FORTIFY_TO, put("reach", 0), "reach: wrong at [A-Z]"),
    # seats and the end
    (WORLD, Phase.DRAFT, kill, "is eliminated, but owns territories"),
    (WORLD, Phase.DRAFT, put("death", 2, slice(0, 2)), "death .* in the order of elimination"),
    (WORLD, Phase.CLAIM, put("death", 1, 0), r"death \[1, 0, .* in phase CLAIM"),
    (WORLD, Phase.ATTACK, put("seat", -1), "seat is -1, but must be [0-2]"),
    (WORLD, Phase.ATTACK, put("winner", 1), "winner 1 in phase ATTACK"),
    (WORLD, Phase.ATTACK, put("truncated", True), "truncated 1 in phase ATTACK"),
    (TWO, Phase.OVER, both(put("winner", -1), put("truncated", False)), "either a winner or a truncation"),
    (TWO, Phase.OVER, both(put("winner", 1), put("truncated", True)), "either a winner or a truncation"),
    (TWO, Phase.OVER, put("seat", 0), "seat is 0, but must be -1"),
    (WORLD, Phase.ATTACK, put("legal", 0), "legal: wrong at actions"),
    (TWO, Phase.OVER, flip("legal", 0), r"legal: wrong at actions \[0\]"),
    (TWO, Phase.ROLL, flip("legal", 0), r"legal: wrong at actions \[0\]"),
    # phases and set-up
    (WORLD, Phase.ATTACK, put("phase", Phase.OBJECTIVE), "phase OBJECTIVE needs objectives="),
    (WORLD, Phase.ATTACK, put("phase", Phase.REROLL), "phase REROLL needs card_reroll=True"),
    (WORLD, Phase.ATTACK, put("phase", Phase.COMMANDER), "phase COMMANDER needs commander=True"),
    (WORLD, Phase.ATTACK, put("phase", Phase.AIRFIELD), "phase AIRFIELD needs rewards=True"),
    (WORLD, Phase.ATTACK, put("phase", Phase.HEADQUARTERS), "needs victory=headquarters"),
    (RANDOM, Phase.ATTACK, put("phase", Phase.DEFEND), "phase DEFEND needs defender_dice=choice"),
    (CAPITAL, Phase.ATTACK, put("phase", Phase.ATTACK_DICE), "phase ATTACK_DICE needs attack=choice"),
    (ROOM, Phase.ATTACK, put("phase", Phase.BONUS), "phase BONUS needs deck=symbol"),
    (WORLD, Phase.ATTACK, put("round_number", 0), "phase ATTACK in round 0"),
    (WORLD, Phase.CLAIM, put("round_number", 1), "phase CLAIM in round 1"),
    (WORLD, Phase.ATTACK, put("to_place", 1, 0), r"to_place \[1, 0.* in phase ATTACK"),
    (WORLD, Phase.CLAIM, put("to_place", 1, 0), "1 to place, but each army starts with 12"),
    (WORLD, Phase.DEPLOY, put("in_a_row", 1), "in_a_row 1"),
    (TWO, Phase.DEPLOY_NEUTRAL, put("to_place", 1, 0), "a seat has troops to place"),
    (WORLD, Phase.CLAIM, put("captured", True), "captured 1 in phase CLAIM"),
    (WORLD, Phase.CLAIM, give(0, 0), "a hand has cards in the set-up"),
    # cards
    (WORLD, Phase.ATTACK, both(give(0, 0), flip("deck", 0)), "deck: wrong at Ash"),
    (WORLD, Phase.ATTACK, both(give(0, 0), flip("hand", 0, 1)), "cards in two places.*Ash"),
    (WORLD, Phase.ATTACK, both(give(0, 0), flip("hand", 0, 0)), "deck: wrong at Ash"),
    (WORLD, Phase.ATTACK, put("deck_wilds", 0), "deck_wilds is 0, but must be [12]"),
    (
        CAPITAL,
        Phase.ATTACK,
        lambda game: flip("deck", int(game.headquarters[0]))(game),
        "deck: wrong at [A-Z]",
    ),
    (WORLD, Phase.ATTACK, both(give(0, 0), give(0, 1), flip("picked", 0)), "picked Ash in phase ATTACK"),
    (
        ANY,
        Phase.TRADE,
        both(give(5, 0), give(5, 1), give(5, 2), flip("picked", 5)),
        "picked .* is not legal in TRADE",
    ),
    (WORLD, Phase.ATTACK, flip("shown", 0), "shown Ash: must be - without card_reroll=True"),
    (WORLD, Phase.ATTACK, put("trade", 1), "trade is 1, but must be 0"),
    (ANY, Phase.TRADE, both(put("hand", 0), put("wilds", 0)), "no set|no action is legal"),
    (ANY, Phase.TRADE, put("hand", 0), "holds 0 stars"),
    (WORLD, Phase.ATTACK, flip("bonus", 0), "bonus Ash in phase ATTACK"),
    (WORLD, Phase.CLAIM, put("bonus_paid", True), "bonus_paid 1 in phase CLAIM"),
    (ROOM, Phase.ATTACK, put("sets_traded", 1), "sets_traded 1: must be 0 without deck=symbol"),
    # pending numbers
    (WORLD, Phase.ATTACK, put("draft_left", 2), "draft_left 2 in phase ATTACK"),
    (WORLD, Phase.DRAFT, put("draft_left", 0), "draft_left 0 in phase DRAFT: must be at least 1"),
    (WORLD, Phase.ATTACK, put("source", 0), "source 0 in phase ATTACK"),
    (WORLD, Phase.DRAFT_AMOUNT, put("target", -1), "target -1: phase DRAFT_AMOUNT needs a target territory"),
    (WORLD, Phase.ATTACK_DICE, another_target, "phase ATTACK_DICE: .* is not legal in ATTACK"),
    (WORLD, Phase.ATTACK_DICE, lambda game: put("target", int(game.source))(game), "is not legal in ATTACK"),
    (
        ANY,
        Phase.FORTIFY_AMOUNT,
        lambda game: put("target", int(game.source))(game),
        "is not legal in FORTIFY_TO",
    ),
    (WORLD, Phase.ATTACK, put("blitz", True), "blitz 1 in phase ATTACK"),
    (WORLD, Phase.OCCUPY, put("captured", False), "phase OCCUPY: .* was not captured"),
    (WORLD, Phase.OCCUPY, put("battles", 0), "battles 0: dice were rolled"),
    (WORLD, Phase.DRAFT, put("eliminated", True), "eliminated 1 in phase DRAFT"),
    (WORLD, Phase.ATTACK, put("rolled", 1, 1, 3), "the defender's rolled dice"),
    (WORLD, Phase.ATTACK, put("settled", 6, 0, 3), "settled dice"),
    (WORLD, Phase.ATTACK, put("rerolled", 1), "rerolled"),
    (WORLD, Phase.DEFEND, put("chosen_dice", 0), r"chosen_dice \[0, 0\]: this choice is not legal"),
    (ANY, Phase.COMMANDER, put("commander_used", True), "commander_used 1 in phase COMMANDER"),
    (ANY, Phase.COMMANDER, put("settled", 1, 0, 0), "settled dice"),
    (ANY, Phase.REROLL, put("rerolled", 1), r"rerolled \[1, 1\] in phase REROLL"),
    # course of the turn
    (WORLD, Phase.ATTACK, put("attacks_over", True), "attacks_over 1 in phase ATTACK"),
    (WORLD, Phase.FORTIFY_FROM, put("attacks_over", False), "attacks_over 0 in phase FORTIFY_FROM"),
    (WORLD, Phase.FORTIFY_FROM, put("moves_left", 0), "moves_left 0 .*: must be from 1 to 1"),
    (WORLD, Phase.FORTIFY_FROM, put("moves_left", 2), "moves_left 2"),
    (WORLD, Phase.ATTACK, put("moves_left", 1), "moves_left 1 in phase ATTACK"),
    (WORLD, Phase.ATTACK, put("move_begun", True), "move_begun 1 in phase ATTACK"),
    (WORLD, Phase.DRAFT, put("held_at_start", 0), "territories more than at the turn's start"),
    (WORLD, Phase.DRAFT, put("held_at_start", 63), "seat . no longer holds these territories"),
    (ROOM, Phase.OBJECTIVE, put("objective_taken", True), "objective_taken"),
    # goals
    (SECRET, Phase.ATTACK, two_missions, "two seats have the same"),
    (SECRET, Phase.ATTACK, put("mission", -1, 2), "mission -1 of seat 2"),
    (SECRET, Phase.ATTACK, put("mission", 10, 2), "mission 10 of seat 2"),
    (WORLD, Phase.ATTACK, put("mission", 0, 0), "without victory=mission"),
    (CAPITAL, Phase.ATTACK, put("headquarters", -1, 0), "headquarters of seat 0: missing"),
    (CAPITAL, Phase.ATTACK, put("headquarters_open", False), "headquarters_open is 0, but must be 1"),
    (CAPITAL, Phase.HEADQUARTERS, put("headquarters_open", True), "headquarters_open is 1, but must be 0"),
    (WORLD, Phase.ATTACK, put("headquarters", 0, 0), "headquarters .* without victory=headquarters"),
    (ROOM, Phase.ATTACK, put("capital", 0, slice(0, 3)), "two seats have the same territory"),
    (ROOM, Phase.ATTACK, put("capital", -1, 1), "capital of seat 1: missing"),
    (ROOM, Phase.ATTACK, put("city", 1), "city: 1 in play, but there must be 3"),
    (WORLD, Phase.ATTACK, flip("city", 0), "city: 1 in play, but there must be 0"),
    ("classic/basic_training", Phase.ATTACK, flip("city", 0), r"city: \d+ in play, but there must be \d+"),
    (
        ROOM,
        Phase.ATTACK,
        lambda game: put("objective", -2, int(np.flatnonzero(game.objective > -2)[0]))(game),
        "in play",
    ),
    (WORLD, Phase.ATTACK, put("objective", -1, 0), "objective: [1-9].* in play, but there must be 0"),
    (
        ROOM,
        Phase.ATTACK,
        another_reward,
        "a Reward lies on two Objectives",
    ),
    (ROOM, Phase.ATTACK, put("reward_owner", 0, slice(0, 8)), "does not hold the Objective of the Reward"),
    (ROOM, Phase.AIRFIELD, put("reward_owner", -1), "0 airfields to be placed in phase AIRFIELD"),
    (ROOM, Phase.ATTACK, put("airfield", 0, slice(0, 2)), "airfield on Ash: not on a territory of the owner"),
]


@pytest.mark.parametrize(
    ("name", "phase", "plant", "said"), FAULTS, ids=[f"{f[1].name}-{f[3]}" for f in FAULTS]
)
def test_a_planted_fault_is_found(name, phase, plant, said):
    standing = [
        (found, games) for found, games in corpus() if found == (name or found) and games[0].phase == phase
    ]
    assert standing, f"{name} never reaches {phase.name}"
    found = []
    for game, games in standing:
        faulty = games.copy()
        plant(faulty[0])
        found += reasons(game, faulty)
    assert any(re.search(said, reason) for reason in found), found


def test_a_misplaced_airfield_is_found():
    standing = [(n, g) for n, g in corpus() if (g[0].airfield >= 0).any() and n.startswith("tiny")]
    assert standing
    name, games = standing[0]
    faulty = games.copy()
    move_airfield(faulty[0])
    assert any("not on a territory of the owner" in reason for reason in reasons(name, faulty))


def test_flags_and_spare_bytes_are_whole():
    name, games = next(pair for pair in corpus() if pair[1][0].phase == Phase.ATTACK)
    for field, said in (
        ("blitz", "blitz is 2, but must be from 0 to 1"),
        ("spare", r"spare(\[0\])? is 2, but must be from 0 to 0"),
    ):
        faulty = games.copy()
        faulty.view(np.uint8)[games.dtype.fields[field][1]] = 2
        assert any(re.search(said, reason) for reason in reasons(name, faulty))


def test_what_follows_from_the_rest_is_completed():
    for name, games in corpus():
        rules, board, table = game_of(name)
        bare = games.copy()
        for field in DERIVED:
            bare[field] = 0
        assert complete(bare, table, rules, board) == []
        assert bare.tobytes() == games.tobytes()
    bare[0].draft_left = -1
    assert complete(bare, table, rules, board)


# ------------------------------------------------------------------------------------------------ any bytes


@given(st.data(), st.integers(0, 2**32 - 1))
def test_random_bytes_are_impossible_and_never_raise(data, seed):
    name, games = data.draw(st.sampled_from(corpus()))
    noise = np.random.default_rng(seed).integers(0, 256, games.nbytes, dtype=np.uint8)
    assert reasons(name, noise.view(games.dtype).view(np.recarray))


@given(
    st.data(),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_a_few_wrong_bytes_never_raise(data, changes):
    name, games = data.draw(st.sampled_from(corpus()))
    faulty = games.copy()
    flat = faulty.view(np.uint8)
    for place, byte in changes:
        flat[int(place * len(flat))] = byte
    assert all(isinstance(reason, str) for reason in reasons(name, faulty))


@given(st.data())
def test_wrong_small_numbers_never_raise(data):
    """Fields with numbers within their ranges pass the range checks, and reach the later checks."""
    name, games = data.draw(st.sampled_from(corpus()))
    faulty = games.copy()
    fields = [field for field in games.dtype.names if field not in ("spare", "random", "legal")]
    for field in data.draw(st.lists(st.sampled_from(fields), min_size=1, max_size=4)):
        values = np.asarray(faulty[0][field])
        place = data.draw(st.integers(0, values.size - 1))
        value = data.draw(st.integers(0, 7 if values.dtype != np.bool_ else 1))
        changed = values.copy().reshape(-1)
        changed[place] = value
        faulty[0][field] = changed.reshape(values.shape)
    assert all(isinstance(reason, str) for reason in reasons(name, faulty))


def test_facts_are_the_record_in_plain_values():
    words = np.array([1 << 63, 0b101], np.uint64)
    assert members(words) == [63, 64, 66]
    assert words_of({63, 64, 66}, 2).tolist() == words.tolist()
    games = game_of(WORLD)[2].new_games(1)
    games[0].hand[1][0] = 5
    assert Facts(games[0]).hand[1] == {0, 2}
    for _, (game,) in corpus():
        found = Facts(game)
        assert found.troops == game.troops.tolist() and found.random == game.random
        assert [words_of(hand, game.hand.shape[1]).tolist() for hand in found.hand] == game.hand.tolist()

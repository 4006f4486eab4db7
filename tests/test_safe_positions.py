"""Records that `check` accepts are safe to play on.

Valid records are changed field by field, and those accepted are played. A change knows what an attacker would
know: the ranges of a field and just beyond them, the values of other positions, single territories and cards,
and how to write the derived fields again so that nothing is noticed.
"""

import json
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from risk_env import Game, SavedGameError
from risk_env.board import maps
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules, preset_players, presets
from risk_env.board.tables import tables
from risk_env.core import entry
from risk_env.core.types import MOST_TROOPS, Phase, Trade
from risk_env.text.check import DERIVED, SETS, check, complete, ranges
from risk_env.text.positions import PositionError
from tests.conftest import mode
from tests.test_game import sealed
from tests.test_invariants import FAULTS, first_fault

MUTANTS = {"compiled": 50, "bounds-checked": 75, "interpreted": 20}[mode()]  # of each preset
STEPS = 12  # actions and chance results played from a mutant
OPTIONS = (
    {},
    {"attack": "blitz", "fortify": "free", "defender_dice": "max"},
    {"attack": "max", "setup": "random"},
    {"max_rounds": 2, "max_battles_per_turn": 2},
)
EXPERT = {"expert": True, "initial_troops": 12}


@cache
def games_of(preset):
    """Return rules of several kinds for a preset, each with tables and the positions of a random game.

    Positions are arrays of one.
    """
    board = load_map("classic" if preset == "basic_training" else "tiny")
    found = []
    for number, options in enumerate((*OPTIONS, EXPERT)):
        players = preset_players(preset)
        try:
            rules = Rules.preset(
                preset, players[number % len(players)], **{**options, **start_of(preset, options)}
            )
            table = tables(rules, board)
        except ValueError:  # not with this preset
            continue
        found.append((rules, board, table, positions(table, number)))
    return found


def start_of(preset, options):
    return {} if preset == "basic_training" or "initial_troops" in options else {"initial_troops": 9}


def positions(table, seed):
    """Return positions of a random game with a question or chance; a few of each phase."""
    games, rng, kept = table.new_games(1), np.random.default_rng(seed), {}
    entry.set_up_game(games, 0, table.board, table.rules, np.uint64(seed))
    entry.write_legal_actions(games, 0, table.board, table.rules)
    for _ in range(400 if mode() != "interpreted" else 150):
        phase = int(games["phase"][0])
        if len(kept.setdefault(phase, [])) < 4 and rng.random() < 0.5:
            kept[phase].append(games.copy())
        if phase == Phase.OVER:
            break
        play_one(games, table, rng)
    return [record for records in kept.values() for record in records]


def play_one(games, table, rng):
    """Play a random action (rarely DONE), or chance."""
    if entry.play_chance_once(games, 0, table.board, table.rules):
        return
    legal = np.flatnonzero(np.unpackbits(games["legal"][0].view(np.uint8), bitorder="little"))
    others = legal[legal != table.rules["done"][0]]
    action = rng.choice(others if len(others) and rng.random() < 0.85 else legal)
    entry.apply_action(games, 0, table.board, table.rules, int(action))


# ------------------------------------------------------------------------------------------------ mutants


def mutant(rules, board, table, corpus, rng):
    """Return a position with one to four changed fields. Derived fields are usually written again."""
    games = corpus[rng.integers(len(corpus))].copy()
    fields = [name for name in games.dtype.names if name not in ("spare", "random")]
    for field in rng.choice(fields, rng.integers(1, 5), replace=False):
        values = games[field].reshape(-1)
        place = rng.integers(len(values))
        if rng.random() < 0.3:  # the whole field of another position
            games[field] = corpus[rng.integers(len(corpus))][field]
        elif values.dtype == np.uint64:
            values[place] ^= np.uint64(1 << int(rng.integers(board.num_territories + 1)))
            games[field] = values.reshape(games[field].shape)
        else:
            place = min(place, rng.integers(len(values)))
            values[place] = number_for(field, values, place, rules, board, rng)
            games[field] = values.reshape(games[field].shape)
    if rng.random() < 0.9:
        complete(games, table, rules, board)
    return games


def number_for(field, values, place, rules, board, rng):
    """Draw a number for an element of a field.

    It lies near the present one, at the ends of the range or just beyond, or inside the range.
    """
    low, high = ranges(rules, board).get(field, (-1, 5))
    high = min(high, 40) if field in ("troops", "draft_left") and mode() == "interpreted" else high
    near = int(values[place]) + int(rng.integers(-2, 3))
    choices = [near, near, low - 1, low, high, high + 1, int(rng.integers(low, min(high, low + 12) + 1))]
    kind = values.dtype
    if kind == np.bool_:
        return bool(rng.integers(2))
    limits = np.iinfo(kind)
    return int(np.clip(choices[rng.integers(len(choices))], limits.min, limits.max))


# ------------------------------------------------------------------------------------------------ tests


@pytest.mark.modes
@pytest.mark.parametrize("mutants", [MUTANTS, pytest.param(3 * MUTANTS, marks=pytest.mark.long)])
@pytest.mark.parametrize("preset", presets())
def test_what_is_accepted_can_be_played(preset, mutants):
    rng = np.random.default_rng(presets().index(preset))
    accepted = sum(play_mutant(preset, rng) for _ in range(mutants))
    assert mutants // 20 < accepted < mutants  # many a change is harmless, many are not


def play_mutant(preset, rng):
    """Make a mutant and play it if it is accepted; return True if it was accepted."""
    variants = games_of(preset)
    rules, board, table, corpus = variants[rng.integers(len(variants))]
    games = mutant(rules, board, table, corpus, rng)
    if check(games[0], table, rules, board):
        return False
    try_everything_at(games, rules, board, rng)
    for _ in range(STEPS):
        phase = Phase(int(games["phase"][0]))
        assert first_fault(games, table.board, table.rules) == 0, FAULTS[
            first_fault(games, table.board, table.rules)
        ]
        assert phase >= Phase.OVER or games["legal"].any(), phase
        if phase == Phase.OVER:
            break
        before = games.copy()
        play_one(games, table, rng)
        if not beyond_a_ceiling(games, rules, board):
            assert check(games[0], table, rules, board) == [], (phase, before[0])
    return True


def beyond_a_ceiling(games, rules, board):
    """Return True if play has exceeded a limit for the start of a position."""
    counted = ("troops", "draft_left", "sets_traded", "round_number", "battles", "decisions")
    return any(games[field].max() > ranges(rules, board)[field][1] for field in counted)


def try_everything_at(games, rules, board, rng):
    """Save, load, print, observe and determinize a game at an accepted position."""
    saved = Game.from_record(rules, board, games)
    text = saved.to_text()
    game = Game.from_text(text, board=board)
    assert Game.from_bytes(saved.to_bytes(), board) == game
    assert game.is_over or len(game.legal_actions()) > 1
    str(game)
    for seat in range(rules.num_players):
        game.observe(seat)
        game.determinize(seat, int(rng.integers(2**32)))
    assert len(game.placements()) == rules.num_players


def test_a_trade_without_a_set_is_refused():
    """`determinize` would search for ever for such a hand."""
    for rules, board, table, corpus in games_of("classic"):
        for games in corpus:
            if games["phase"][0] == Phase.TRADE and games["trade"][0] == Trade.FREE:
                bare = games.copy()
                bare["hand"][0, bare["turn"][0]] = bare["picked"] = 0
                bare["wilds"][0, bare["turn"][0]] = bare["picked_wilds"] = 0
                assert complete(bare, table, rules, board) == [
                    f"phase TRADE: seat {bare['turn'][0]} holds no set"
                ]


HEADERS = {
    "a seed that is no number": {"seed": float("inf")},
    "a map that is no name": {"map": ["tiny"]},
    "a digest that is no text": {"digest": 7},
    "rules that are a list": {"rules": []},
    "a wrong option": {"rules": {"num_players": 99}},
    "deep nesting": {"rules": json.loads("[" * 900 + "]" * 900)},
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_save_with_another_header_is_refused(name):
    data = Game("classic", "tiny", seed=1).to_bytes()[:-16]
    length = int.from_bytes(data[10:14], "little")
    header = json.dumps({**json.loads(data[14 : 14 + length]), **HEADERS[name]}).encode()
    with pytest.raises(SavedGameError):
        Game.from_bytes(sealed(data[:10] + len(header).to_bytes(4, "little") + header + data[14 + length :]))


@pytest.mark.modes
def test_a_save_with_other_legal_actions_is_refused():
    game = Game("classic", "tiny", seed=1)
    record = game.records.copy()
    record["legal"][0, 0] ^= np.uint64(1 << 5)
    forged = Game.from_record(game.rules, game.board, record).to_bytes()
    with pytest.raises(SavedGameError, match="legal: wrong at actions"):
        Game.from_bytes(sealed(forged[:-16]))


def test_a_save_in_the_middle_of_a_roll_goes_on():
    for rules, board, _table, corpus in games_of("classic"):
        for games in corpus:
            if games["phase"][0] == Phase.ROLL:
                loaded = Game.from_bytes(Game.from_record(rules, board, games).to_bytes())
                assert loaded.phase != Phase.ROLL and len(loaded.legal_actions()) > 1


DUEL = """risk_env game 1
rules: preset=classic, num_players=2, attack=blitz
map: {map}
phase: {phase}
random: 7
[territories]
Ash: player 0, {troops}
Birch: player 0
Cedar: player 1, {troops}
Dune: player 1
Ember: player 1
Flint: player 1
"""


def test_the_longest_blitz_is_short():
    """RULES 3.2.4: two armies of the largest size; an ordinary machine takes 20 ms, a busy one more."""
    times = []
    for _ in range(3):
        game = Game.from_text(DUEL.format(map="tiny", phase="attack", troops=MOST_TROOPS))
        begin = time.perf_counter()
        game.step("attack Ash > Cedar")
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.2
    with pytest.raises(PositionError, match=f"must be from 1 to {MOST_TROOPS}"):
        Game.from_text(DUEL.format(map="tiny", phase="attack", troops=MOST_TROOPS + 1))


def test_a_text_or_save_names_no_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_bytes((Path(maps.__file__).parent / "map_files" / "tiny.toml").read_bytes())
    with pytest.raises(PositionError, match="not a shipped map"):
        Game.from_text(DUEL.format(map=path, phase="attack", troops=3))
    board = load_map(path)
    game = Game.from_text(DUEL.format(map=path, phase="attack", troops=3), board=board)
    assert Game.from_bytes(game.to_bytes(), board) == game
    with pytest.raises(SavedGameError, match="is not a shipped map"):
        Game.from_bytes(game.to_bytes())


def test_a_set_up_in_which_a_seat_has_no_place_for_its_troops_is_refused():
    text = DUEL.format(map="tiny", phase="deploy", troops=1).replace("player 0", "player 1")
    with pytest.raises(PositionError, match="seat 0: 40 troops to place, but room for 0"):
        Game.from_text(text)


def test_the_derived_fields_are_told_apart_from_the_rest():
    fields = tables(Rules(), load_map("tiny")).new_games(1).dtype.names
    assert set(fields) - set(DERIVED) - {"random"} <= set(ranges(Rules(), load_map("tiny")))
    assert set(SETS) < set(fields)

"""Texts of actions and positions: both directions, in every phase of random games, and invalid texts."""

import re
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risk_env import Game
from risk_env.board.maps import load_map, map_names
from risk_env.board.rules import Rules, presets
from risk_env.board.tables import tables
from risk_env.core import entry
from risk_env.core.types import Phase
from risk_env.public import members
from risk_env.text.check import check
from risk_env.text.notation import (
    AMOUNT_WORDS,
    DECISIONS,
    IllegalAction,
    action_text,
    illegal_action,
    legal_texts,
    parse_action,
)
from risk_env.text.positions import PositionError, _entries, from_text, to_text
from tests.conftest import mode

# name: (map, preset, options)
GAMES = {
    "tiny/world_domination": ("tiny", "world_domination", {"initial_troops": 12}),
    "tiny/expert": ("tiny", "classic", {"expert": True, "initial_troops": 12, "num_players": 3}),
    "tiny/expert two": ("tiny", "classic", {"expert": True, "initial_troops": 9, "num_players": 2}),
    "tiny/two_player": ("tiny", "two_player", {"initial_troops": 8}),
    "tiny/capital": ("tiny", "capital", {"initial_troops": 8, "num_players": 4, "attack": "blitz"}),
    "tiny/secret_mission": ("tiny", "secret_mission", {"initial_troops": 8}),
    "tiny/command_room": ("tiny", "command_room", {"initial_troops": 8}),
    "tiny/world_conquest": (
        "tiny",
        "world_conquest",
        {"initial_troops": 9, "fortify": "free", "attack": "max"},
    ),
    "tiny/random": (
        "tiny",
        "world_conquest",
        {"setup": "random", "defender_dice": "max", "max_battles_per_turn": 3},
    ),
    "tiny/truncated": ("tiny", "classic", {"initial_troops": 6, "max_rounds": 1}),
    **{f"classic/{name}": ("classic", name, {}) for name in presets()},
    "classic/six": ("classic", "world_domination", {"num_players": 6, "expert": True, "setup": "random"}),
    "classic/five": ("classic", "command_room", {"num_players": 5, "setup": "random"}),
}
if mode() == "interpreted":  # a large map compiles all kernels again
    GAMES["big/classic"] = ("big", "classic", {"num_players": 6, "setup": "random"})
A_PHASE = 2  # positions that are kept of each phase of a game
STEPS = 500


@cache
def game_of(name):
    """Return rules, map and tables of one of GAMES."""
    map_name, preset, options = GAMES[name]
    board = load_map(map_name)
    rules = Rules.preset(preset, **{"max_rounds": 12, **options})
    return rules, board, tables(rules, board)


def positions(name, seed):
    """Return records of a random game, a few of each phase. Players rarely stop."""
    _, _, table = game_of(name)
    games, rng, kept = table.new_games(1), np.random.default_rng(seed), {}
    entry.set_up_game(games, 0, table.board, table.rules, np.uint64(seed + 1))
    entry.write_legal_actions(games, 0, table.board, table.rules)
    for _ in range(STEPS):
        phase = Phase(int(games[0].phase))
        if len(kept.setdefault(phase, [])) < A_PHASE and (phase == Phase.OVER or rng.random() < 0.7):
            kept[phase].append(games.copy())
        if phase == Phase.OVER:
            break
        if not entry.play_chance_once(games, 0, table.board, table.rules):
            entry.apply_action(
                games, 0, table.board, table.rules, choose(members(games[0].legal), table, rng)
            )
    return [record for records in kept.values() for record in records]


def choose(legal, table, rng):
    done = int(table.rules[0].done)
    return int(rng.choice([a for a in legal if a != done or rng.random() < 0.1] or legal))


@cache
def corpus():
    """Return (game, records (1,)) of random games of every kind."""
    runs = [(name, seed) for name in GAMES for seed in range(2 if name.startswith("tiny") else 1)]
    return [(name, games) for name, seed in runs for games in positions(name, seed)]


def test_the_corpus_has_every_phase_and_preset():
    assert {Phase(int(games[0].phase)) for _, games in corpus()} == set(Phase)
    assert {GAMES[name][1] for name in GAMES} == set(presets())
    assert {bool(games[0].truncated) for _, games in corpus()} == {False, True}


# ------------------------------------------------------------------------------------------------ actions


def test_every_legal_action_reads_as_it_is_written():
    texts = set()
    for name, games in corpus():
        _, board, table = game_of(name)
        legal = members(games[0].legal)
        words = [action_text(action, games[0], table, board) for action in legal]
        assert words == legal_texts(games[0], table, board)
        assert len(set(words)) == len(words)
        for action, text in zip(legal[:60], words, strict=False):
            assert parse_action(text, games[0], table, board) == action
            assert parse_action(f"  {text.upper()} ".replace(" ", "  "), games[0], table, board) == action
        texts |= {word.split()[0] for word in words}
    assert texts == {decision.word for decision in DECISIONS.values()} | {"done", "blitz"}


FORMS = re.compile(
    r"(claim|deploy|headquarters|capital|airfield|bonus|draft|from|to|card) [A-Z][\w ]*|card wild"
    r"|attack [A-Z][\w ]* > [A-Z][\w ]*"
    r"|(troops|occupy|move) (1|2|3|4|5|6|8|10|12|15|20|25|30|40|50|half|all)"
    r"|dice [123]|blitz|defend [12]|done"
    r"|(reroll|commander) [1-6]|objective [\w ]+"
)


def test_the_words_are_those_of_the_design():
    for name, games in corpus():
        _, board, table = game_of(name)
        for text in legal_texts(games[0], table, board):
            assert FORMS.fullmatch(text), text


def standing(name, phase):
    """Return the first position of a game's corpus in a phase, with the inputs of its texts."""
    _, board, table = game_of(name)
    games = next(games for found, games in corpus() if found == name and games[0].phase == phase)
    return games[0], table, board


def test_aliases_and_any_case_are_read():
    record, table, board = standing("tiny/world_domination", Phase.CLAIM)
    record = record.copy()
    record.legal[0] |= np.uint64(63)
    assert parse_action("CLAIM ashwood", record, table, board) == 0
    assert parse_action("claim firestone", record, table, board) == 5


@pytest.mark.parametrize(
    ("phase", "text", "said"),
    [
        (Phase.ATTACK, "draft Alaska", "allowed: attack TERRITORY > TERRITORY or done"),
        (Phase.ATTACK, "attack Alaska", "attack SOURCE > TARGET"),
        (Phase.ATTACK, "attack Alaska > Brazil", "Alaska does not border Brazil"),
        (Phase.ATTACK, "attack Alaska > Atlantis", "no territory 'Atlantis'"),
        (Phase.ATTACK, "", "legal: "),
        (Phase.ATTACK, 12, "legal: "),
        (Phase.DRAFT, "done", "allowed: draft TERRITORY"),
        (Phase.DRAFT_AMOUNT, "troops 7", ", ".join(AMOUNT_WORDS)),
        (Phase.DRAFT_AMOUNT, "troops 1.0", ", ".join(AMOUNT_WORDS)),
        (Phase.DRAFT_AMOUNT, "troops 50", "legal: troops 1"),
        (Phase.ATTACK_DICE, "dice 4", "'4' is not one of 1, 2, 3"),
        (Phase.ATTACK_DICE, "blitz now", "allowed: dice 1|2|3 or blitz"),
        (Phase.DEFEND, "defend 3", "'3' is not one of 1, 2"),
        (Phase.DEFEND, "blitz", "allowed: defend 1|2"),
    ],
)
def test_a_wrong_text_is_refused_in_words(phase, text, said):
    record, table, board = standing("classic/classic", phase)
    with pytest.raises(IllegalAction) as caught:
        parse_action(text, record, table, board)
    assert said in str(caught.value)
    assert phase.name in str(caught.value)
    assert (caught.value.phase, caught.value.action) == (phase.name, text)


def test_an_objective_that_does_not_exist_is_refused_with_the_names():
    record, table, board = standing("tiny/command_room", Phase.OBJECTIVE)
    with pytest.raises(IllegalAction, match="2 cities"):
        parse_action("objective world peace", record, table, board)


def test_the_message_lists_a_few_legal_actions():
    record, table, board = standing("classic/classic", Phase.CLAIM)
    message = str(illegal_action(record, table, board, 99))
    assert re.fullmatch(
        r"99 is not legal in phase CLAIM; legal: (claim [\w ]+, ){6}\.\.\. \(\d+ in all\)", message
    )


def test_over_and_chance_have_no_actions():
    for phase, said in (
        (Phase.OVER, "the game is over"),
        (Phase.ROLL, "dice are rolled or a card is drawn next"),
    ):
        record, table, board = standing("tiny/two_player", phase)
        for ask in (parse_action, lambda text, *rest: action_text(0, *rest)):
            with pytest.raises(IllegalAction, match=said):
                ask("done", record, table, board)


def test_an_action_of_another_phase_has_no_text():
    for name, games in corpus()[::7]:
        _, board, table = game_of(name)
        for action in (-1, table.num_actions, 10**12):
            with pytest.raises(IllegalAction):
                action_text(action, games[0], table, board)
    record, table, board = standing("classic/classic", Phase.DRAFT)
    with pytest.raises(IllegalAction, match="phase DRAFT"):
        action_text(int(table.rules[0].done), record, table, board)


WORDS = st.sampled_from(
    [*(q.word for q in DECISIONS.values()), *AMOUNT_WORDS, "Ash", "Birch", ">", "wild", "done", "2 cities"]
)


@given(st.data(), st.one_of(st.text(), st.lists(WORDS, max_size=5).map(" ".join)))
def test_any_text_is_an_action_or_illegal(data, text):
    name, games = data.draw(st.sampled_from(corpus()))
    _, board, table = game_of(name)
    try:
        action = parse_action(text, games[0], table, board)
    except IllegalAction:
        return
    assert action in members(games[0].legal)


# ------------------------------------------------------------------------------------------------ positions


def test_positions_come_back_byte_for_byte():
    for name, games in corpus():
        rules, board, _ = game_of(name)
        text = to_text(games[0], rules, board)
        found_rules, found_board, found = from_text(text)
        assert (found_rules, found_board) == (rules, board)
        assert found.dtype == games.dtype and found.shape == (1,)
        assert found.tobytes() == games.tobytes(), text


BY_HAND = """
risk_env game 1
# a duel, typed by hand
rules: preset=classic, num_players=2
map: tiny
phase: attack

[territories]
ashwood: player 0, 3 troops
birch:   player 0
Cedar: 1, 2 troops
Dune: 1,4
Ember: PLAYER 1 , 1 troop
Flint: player 1
"""


def test_a_short_text_by_hand_is_a_position():
    rules, board, games = from_text(BY_HAND)
    game = games[0]
    assert rules == Rules.preset("classic", num_players=2)
    assert (game.seat, game.turn, game.round_number, game.draft_left) == (0, 0, 1, 0)
    assert game.owner[:6].tolist() == [0, 0, 1, 1, 1, 1]
    assert game.troops[:6].tolist() == [3, 1, 2, 4, 1, 1]
    assert legal_texts(game, tables(rules, board), board) == ["attack Ash > Cedar", "done"]
    assert to_text(game, rules, board).splitlines()[1] == "rules: num_players=2, setup=deal"


def hand_written(**lines):
    """Return BY_HAND with other lines of the game."""
    text = BY_HAND
    for key, value in lines.items():
        key = key.replace("_", " ")
        text = re.sub(rf"{key}: .*\n", "", text).replace("\n\n[", f"\n{key}: {value}\n\n[")
    return text


def test_usual_values_follow_from_what_is_given():
    draft = from_text(hand_written(phase="draft", turn="1"))[2][0]
    assert draft.draft_left == 3 + 1  # the Waste
    trade = from_text(hand_written(phase="trade", hand_0="Ash, Birch, Cedar, Dune, wild"))[2][0]
    older = from_text(hand_written(phase="trade", trade="OWED", hand_0="Ash, Birch, Cedar, Dune, wild"))[2][0]
    assert older == trade
    assert (
        trade.trade == 1 and trade.wilds[0] == 1 and trade.deck_wilds == 1 and members(trade.deck) == [4, 5]
    )
    occupy = from_text(hand_written(phase="occupy", source="Ash", target="Birch", held_at_start="Ash"))[2][0]
    assert occupy.captured and occupy.battles == 1
    fortify = from_text(hand_written(phase="fortify to", source="Ash"))[2][0]
    assert (
        members(fortify.reach) == members(fortify.legal) == [1]
        and fortify.moves_left == 1
        and fortify.attacks_over
    )
    defend = from_text(hand_written(phase="defend", source="Ash", target="Cedar", chosen_dice="2, 0"))[2][0]
    assert (defend.seat, defend.turn) == (1, 0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("", "line 1: expected 'risk_env game 1', found ''"),
        ("risk_env game 2", "expected 'risk_env game 1', found"),
        (hand_written(rules="preset=clasic"), "line .*, rules: .*clasic"),
        (hand_written(rules="colour=red"), "colour"),
        (
            hand_written(draft_left="1073741824"),
            "draft left: '1073741824' is not a whole number from 0 to 262144",
        ),
        (
            hand_written(sets_traded="1073741825"),
            "sets traded: '1073741825' is not a whole number from 0 to 1073741824",
        ),
        (hand_written(rules="num_players=9"), "num_players=9"),
        (hand_written(rules="fortify"), "option 'fortify' is not of the form NAME=VALUE"),
        (hand_written(rules="num_players=2, num_players=3"), "given twice"),
        (hand_written(rules="preset=secret_mission, missions=4"), "missions"),
        (hand_written(rules="preset=basic_training"), "setup='chart'"),
        (
            hand_written(map="atlantis"),
            f"'atlantis' is not a shipped map; allowed: {', '.join(map_names())}, random:SEED; for any",
        ),
        (
            hand_written(map="tiny 0123456789abcdef"),
            "'0123456789abcdef', but the map 'tiny' has digest [0-9a-f]{16}",
        ),
        (hand_written(phase="atack"), "line 6, phase: 'atack' is unknown; did you mean 'ATTACK'"),
        (hand_written(fase="attack"), "fase: unknown key in this game; did you mean 'phase'"),
        (hand_written(round="-1"), "round: '-1' is not a whole number from 0 to 1073741824"),
        (hand_written(turn="2"), "turn: '2' is not a whole number from 0 to 1"),
        (hand_written(random="xyz"), "hexadecimal"),
        (hand_written(captured="maybe"), "allowed: yes, no"),
        (hand_written(hand_0="Ash, Ash"), "twice"),
        (hand_written(hand_0="wild, wild, wild"), "3 wild cards: must be from 0 to 2"),
        (hand_written(hand_2="Ash"), "hand 2: unknown key in this game"),
        (hand_written(hand_0="Ash", hand_1="Ash"), "cards in two places.*Ash"),
        (hand_written(rolled="6 5"), "'6 5 1 | 5 5'"),
        (hand_written(rolled="6 5 9 | 1"), "'9' is not a whole number from 1 to 7"),
        (hand_written(chosen_dice="1"), "number of values: 1; two are needed"),
        (hand_written(fallen="1, 1"), "twice"),
        (hand_written(to_place="1"), "2 armies"),
        (hand_written(source="Atlantis"), "line .*, source: .*Atlantis"),
        (hand_written(winner="0"), "impossible position: winner 0"),
        (hand_written(phase="draft amount"), "impossible position: target -1"),
        (BY_HAND + "Ash: 1", "line 15: Ash is given twice, first in line 9"),
        (BY_HAND + "Atlantis: 1", "line 15: .*'Atlantis'"),
        (BY_HAND + "nonsense", "line 15: 'nonsense' is neither"),
        (BY_HAND + "phase: attack\nphase: attack", "'phase'"),
        (BY_HAND.replace("map:", "phase: draft\nmap:"), "'phase' is given twice, first in line 5"),
        (
            BY_HAND.replace("[territories]", "[Woods]"),
            r"Dune is in section \[Woods\]; allowed: \[Waste\]",
        ),
        (BY_HAND.replace("3 troops", "0 troops"), "0 troops: must be from 1"),
        (BY_HAND.replace("3 troops", "9999999999 troops"), "9999999999 troops"),
        (BY_HAND.replace("3 troops", "262145 troops"), "262145 troops: must be from 1 to 262144"),
        (BY_HAND.replace("1, 2 troops", "2, 2 troops"), "player 2: must be from 0 to 1"),
        (BY_HAND.replace("1, 2 troops", "neutral"), "no neutral army"),
        (BY_HAND.replace("1, 2 troops", "everybody"), "'everybody' is not of the form"),
        (BY_HAND.replace("1, 2 troops", "free"), "Cedar: free in phase ATTACK"),
        (BY_HAND + "checksum: 00000000", "line 15: checksum '00000000' should be [0-9a-f]{8}"),
        (None, "None is not a string"),
    ],
)
def test_a_wrong_position_is_refused_in_words(wrong, said):
    with pytest.raises(PositionError, match=said.replace("...", r"\.\.\.").replace(" | ", r" \| ")):
        from_text(wrong)


def test_the_checksum_guards_every_line():
    rules, board, _ = game_of("tiny/two_player")
    games = next(
        games for name, games in corpus() if name == "tiny/two_player" and games[0].phase == Phase.ATTACK
    )
    text = to_text(games[0], rules, board)
    lines = text.splitlines()
    assert re.fullmatch("checksum: [0-9a-f]{8}", lines[-1])
    told = "\n".join(line for line in lines[:-1] if line)
    assert lines[-1] == f"checksum: {zlib.crc32(told.encode()):08x}"
    changed = re.sub(r"(\d) troops", lambda match: f"{(int(match[1]) + 1) % 10}1 troops", text, count=1)
    with pytest.raises(PositionError, match="checksum"):
        from_text(changed)
    edited = from_text("\n".join(changed.splitlines()[:-1]))[2]
    assert edited.tobytes() != games.tobytes()
    assert from_text(text.replace("\n", "\r\n"))[2].tobytes() == games.tobytes()


def test_a_map_that_is_handed_over_is_checked_all_the_same():
    rules, board, _ = game_of("tiny/two_player")
    games = next(games for name, games in corpus() if name == "tiny/two_player")
    text = to_text(games[0], rules, board)
    assert from_text(text.replace("map: tiny", "map: lost.toml").partition("checksum")[0], board)[1] is board
    with pytest.raises(PositionError, match=f"'{board.digest[:16]}', but the map 'big' has"):
        from_text(text, load_map("big"))


def test_an_impossible_record_has_no_text():
    rules, board, table = game_of("tiny/two_player")
    with pytest.raises(PositionError, match="impossible"):
        to_text(table.new_games(1)[0], rules, board)


@given(st.text())
def test_any_text_is_a_position_or_wrong(text):
    for whole_text in (text, f"risk_env game 1\n{text}", hand_written(phase=text)):
        try:
            from_text(whole_text)
        except PositionError:
            pass


@given(st.data())
def test_a_mutated_position_is_right_or_refused(data):
    name, games = data.draw(st.sampled_from([pair for pair in corpus() if not pair[0].startswith("big")]))
    rules, board, _ = game_of(name)
    lines = to_text(games[0], rules, board).splitlines()[:-1]
    others = BY_HAND.splitlines() + lines
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        change = data.draw(st.sampled_from(["drop", "double", "replace", "swap", "number"]))
        if change == "drop":
            lines = lines[:at] + lines[at + 1 :] or [""]
        elif change == "double":
            lines.insert(at, lines[at])
        elif change == "replace":
            lines[at] = data.draw(st.sampled_from(others))
        elif change == "swap":
            key, _, _ = lines[at].partition(":")
            lines[at] = f"{key}:{data.draw(st.sampled_from(others)).partition(':')[2]}"
        else:
            lines[at] = re.sub(r"\d+", str(data.draw(st.integers(0, 70000))), lines[at])
    try:
        found_rules, found_board, found = from_text("\n".join(lines))
    except PositionError:
        return
    found_table = tables(found_rules, found_board)
    assert check(found[0], found_table, found_rules, found_board) == []
    again = from_text(to_text(found[0], found_rules, found_board))[2]
    assert again.tobytes() == found.tobytes()
    play_on(found, found_table)


def play_on(games, table):
    """Check that a position that was read can be played."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        if games[0].phase == Phase.OVER:
            return
        if not entry.play_chance_once(games, 0, table.board, table.rules):
            entry.apply_action(
                games, 0, table.board, table.rules, choose(members(games[0].legal), table, rng)
            )


def test_the_page_about_positions_names_every_line_and_its_example_is_one():
    page = (Path(__file__).parents[1] / "docs" / "positions.md").read_text(encoding="utf-8")
    named = {
        key for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for key in re.findall("`(.*?)`", row)
    }
    for preset in presets():
        board = load_map("classic")
        for line in _entries(Rules.preset(preset), board):
            key = re.sub(r" \d$", " S", line.key)
            key = re.sub("^(objective (?!taken)|reward ).*", lambda match: match[1] + "NAME", key)
            assert key in named, line.key
    example = page.split("```")[1].strip()
    assert Game.from_text(example).hand(0) == ("Ash", "wild")

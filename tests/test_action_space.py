"""Action numbers and their meanings, in both directions, on every map and with every preset."""

import json

import numpy as np
import pytest

from risk_env import ActionSpace, Game, IllegalAction, Rules, load_map, presets
from risk_env.board.action_space import AMOUNTS, BLOCK_OF
from risk_env.board.tables import tables
from risk_env.text.notation import DECISIONS
from tests.games import maps_of

CLASSIC = load_map("classic")


def space_of(preset="classic", board=CLASSIC, **options):
    return ActionSpace(Rules.preset(preset, **options), board)


@pytest.mark.parametrize("preset", presets())
def test_every_number_has_one_meaning(preset):
    for board in maps_of(preset):
        space = space_of(preset, board, commander=True)
        meanings = [space.decode(action) for action in range(space.n)]
        assert len(set(meanings)) == space.n
        assert [space.encode(kind, *arguments) for kind, arguments in meanings] == list(range(space.n))
        assert [action for block in space.blocks.values() for action in block] == list(range(space.n))


def test_the_blocks_are_in_the_order_of_the_docs():
    space = space_of("command_room", commander=True)
    sizes = {block: len(numbers) for block, numbers in space.blocks.items()}
    assert list(sizes.items()) == [
        *(("territory", 42), ("border", 166), ("dice", 4), ("amount", 17)),
        *(("card", 43), ("done", 1), ("die", 6), ("objective", 12)),
    ]
    plain = space_of()
    assert plain.n == 42 + 166 + 4 + 17 + 43 + 1
    assert len(plain.blocks["die"]) == len(plain.blocks["objective"]) == 0


@pytest.mark.parametrize("preset", presets())
def test_the_kernels_number_actions_alike(preset):
    rules = Rules.preset(preset, commander=True)
    table = tables(rules, CLASSIC)
    space, record = ActionSpace(rules, CLASSIC), table.rules[0]
    for block in ("border", "dice", "amount", "card", "die", "objective"):
        assert record[f"{block}_0"] == space.blocks[block].start
    assert (
        (int(record.done), int(record.num_actions))
        == (space.done, space.n)
        == (table.space.done, table.num_actions)
    )


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        (("claim", "alaska"), ("territory", (0,))),
        (("attack", "Alaska", "Kamchatka"), ("attack", (0, CLASSIC.territory("Kamchatka")))),
        (("attack", 0, CLASSIC.territory("Kamchatka")), ("attack", (0, CLASSIC.territory("Kamchatka")))),
        (("dice", 3), ("dice", (3,))),
        (("defend", "2"), ("dice", (2,))),
        (("blitz",), ("blitz", ())),
        (("troops", 50), ("amount", (50,))),
        (("move", "HALF"), ("amount", ("half",))),
        (("card", "wild"), ("card", ("wild",))),
        (("card", np.int64(41)), ("card", (41,))),
        (("done",), ("done", ())),
    ],
)
def test_actions_are_encoded_from_words_and_numbers(words, meaning):
    space = space_of()
    assert space.decode(space.encode(*words)) == meaning


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("atack", 0, 1), "kind='atack': choose one of territory, .*attack"),
        (("attack", "Alaska"), "'attack' needs 2 arguments, not 1"),
        (("attack", "Alaska", "Brazil"), "Alaska does not border Brazil"),
        (("claim", "Atlantis"), "no territory 'Atlantis'"),
        (("claim", 42), "territory=42: must be a whole number from 0 to 41"),
        (("claim", True), "territory=True: must be a whole number"),
        (("troops", 7), f"7 is not one of {', '.join(map(str, AMOUNTS))}"),
        (("defend", 3), "3 is not one of 1, 2"),
        (("reroll", 6), "'reroll' is not an action under these rules"),
        (("objective", "Europe"), "'objective' is not an action under these rules"),
        (("done", 1), "'done' needs 0 arguments, not 1"),
    ],
)
def test_what_cannot_be_encoded_is_refused_with_what_is_allowed(words, said):
    with pytest.raises(ValueError, match=said):
        space_of().encode(*words)


def test_objectives_go_by_name_or_number():
    space = space_of("command_room")
    number = [goal.name for goal in CLASSIC.objectives].index("8 cities")
    assert space.encode("objective", "8 Cities") == space.encode("objective", number)
    with pytest.raises(ValueError, match=r"'world peace' is not one of .*8 cities"):
        space.encode("objective", "world peace")


@pytest.mark.parametrize("action", [-1, 273, 10**12, 1.0, "1", None, True])
def test_a_number_beyond_the_last_has_no_meaning(action):
    with pytest.raises(ValueError, match=r"action=.*: must be a whole number from 0 to 272"):
        space_of().decode(action)


def test_texts_and_meanings_agree():
    """Texts of actions have the words that `encode` takes, for every question of a game."""
    game = Game("command_room", seed=3)
    space = ActionSpace(game.rules, game.board)
    rng, seen = np.random.default_rng(3), set()
    for _ in range(800):
        word = DECISIONS[game.phase].word
        for action in game.legal_actions().tolist():
            text = game.action_text(action)
            kind, arguments = space.decode(action)
            if kind in ("done", "blitz"):
                assert text == kind
            else:
                assert text.split()[0] == word and BLOCK_OF[word] == BLOCK_OF[kind]
                assert space.encode(word, *arguments) == action == game.parse_action(text)
            seen.add(word)
        game.step(int(rng.choice(game.legal_actions())))
        if game.is_over:
            break
    assert {"claim", "attack", "dice", "defend", "troops"} <= seen
    with pytest.raises(IllegalAction):
        game.action_text(space.n)


def test_the_json_form_says_where_blocks_begin_and_end():
    space = space_of()
    told = json.loads(json.dumps(space.to_json()))
    assert (told["schema"], told["n"]) == (1, space.n)
    assert {block: range(*ends) for block, ends in told["blocks"].items()} == space.blocks
    assert told["amounts"] == list(AMOUNTS)

"""Rules: the presets of RULES 12 field by field, every check of RULES 13, and text-free round trips."""

import copy
import dataclasses
import json
import pickle
import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risk_env.board.maps import load_map
from risk_env.board.rules import (
    CHOICES,
    NEEDS,
    NUMBERS,
    OPTIONS,
    Rules,
    check_rules,
    preset_players,
    presets,
)

CLASSIC: dict[str, Any] = {
    "num_players": 3,
    "deck": "symbol",
    "setup": "claim",
    "initial_troops": None,
    "neutral": False,
    "victory": "domination",
    "headquarters_to_win": None,
    "missions": "standard",
    "set_values": "escalating",
    "occupied_bonus": "once_a_set",
    "fortify": "connected",
    "defender_dice": "choice",
    "attack": "choice",
    "max_troops": None,
    "card_reroll": False,
    "commander": False,
    "cities": None,
    "objectives": None,
    "rewards": False,
    "capitals": False,
    "max_rounds": None,
    "max_battles_per_turn": None,
}
STAR = {"deck": "star", "capitals": True}
TABLE: dict[str, dict[str, Any]] = {  # RULES 12, differences from Classic for three players
    "world_domination": {"fortify": "adjacent", "occupied_bonus": "once_a_turn"},
    "classic": {},
    "two_player": {"num_players": 2, "neutral": True, "setup": "deal"},
    "capital": {"victory": "headquarters"},
    "secret_mission": {
        "setup": "deal",
        "fortify": "adjacent",
        "occupied_bonus": "once_a_turn",
        "victory": "mission",
    },
    "basic_training": STAR
    | {"setup": "chart", "victory": "objectives", "cities": "fixed", "objectives": "fixed", "rewards": False},
    "command_room": STAR
    | {
        "setup": "capitals",
        "victory": "objectives",
        "cities": "random",
        "objectives": "random",
        "rewards": True,
    },
    "world_conquest": STAR
    | {
        "setup": "capitals",
        "victory": "domination",
        "cities": "random",
        "objectives": "random",
        "rewards": True,
    },
}
PLAYERS = {
    "world_domination": (3, 4, 5, 6),
    "classic": (2, 3, 4, 5, 6),
    "two_player": (2,),
    "capital": (3, 4, 5, 6),
    "secret_mission": (3, 4, 5, 6),
    "basic_training": (3, 4, 5),
    "command_room": (3, 4, 5),
    "world_conquest": (3, 4, 5),
}
EXPERT = {"set_values": "by_one", "fortify": "free", "max_troops": 12, "card_reroll": True, "commander": True}


def refused(*words: str):
    """Check that a call raises a ValueError of one line that contains all words, in any order."""
    return pytest.raises(
        ValueError, match="(?s)" + "".join(f"(?=.*{re.escape(word)})" for word in words) + r"(?!.*\n)"
    )


# The presets.


def test_presets_are_those_of_the_table_in_its_order():
    assert presets() == tuple(TABLE)
    assert {name: preset_players(name) for name in presets()} == PLAYERS


def test_the_options_are_those_of_section_13():
    assert tuple(CLASSIC) == OPTIONS
    assert set(CHOICES) | set(NUMBERS) == set(OPTIONS)
    assert Rules().to_dict() == CLASSIC


@pytest.mark.parametrize("name", TABLE)
def test_every_field_of_a_preset(name):
    assert Rules.preset(name).to_dict() == CLASSIC | TABLE[name]


@pytest.mark.parametrize(("name", "players"), [(n, p) for n in PLAYERS for p in range(2, 7)])
def test_players_of_a_preset(name, players):
    if players not in PLAYERS[name]:
        with refused(name, f"num_players={players}", str(PLAYERS[name][0]), str(PLAYERS[name][-1])):
            Rules.preset(name, players)
        return
    duel = {"setup": "deal"} if (name, players) == ("classic", 2) else {}
    assert (
        Rules.preset(name, num_players=players).to_dict()
        == CLASSIC | TABLE[name] | {"num_players": players} | duel
    )


def test_classic_for_two_is_a_duel_and_explicit_options_win():
    assert Rules.preset("classic", 2).setup == "deal"
    assert Rules.preset("classic", 2, setup="random").setup == "random"
    assert Rules.preset("classic", 2, neutral=True) == Rules.preset("two_player")
    assert Rules.preset("two_player", neutral=False) == Rules.preset("classic", 2)
    with refused("num_players=2", "setup='claim'", "'deal' or 'random'"):
        Rules.preset("classic", 2, setup="claim")


def test_explicit_options_win_over_a_preset():
    rules = Rules.preset("classic", num_players=4, fortify="adjacent", max_rounds=100)
    assert rules == Rules(num_players=4, fortify="adjacent", max_rounds=100)


@pytest.mark.parametrize("name", [n for n in TABLE if "deck" not in TABLE[n]])
def test_expert_turns_all_five_on(name):
    assert Rules.preset(name, expert=True).to_dict() == CLASSIC | TABLE[name] | EXPERT
    assert Rules.preset(name, expert=False) == Rules.preset(name)


def test_explicit_options_win_over_expert():
    rules = Rules.preset("classic", expert=True, fortify="adjacent", max_troops=None)
    assert rules.to_dict() == CLASSIC | EXPERT | {"fortify": "adjacent", "max_troops": None}


@pytest.mark.parametrize("name", [n for n in TABLE if "deck" in TABLE[n]])
def test_expert_is_not_for_the_star_deck(name):
    with refused("expert=True", "deck='star'", name):
        Rules.preset(name, expert=True)


def test_expert_needs_cards():
    with refused("expert=True", "deck='none'"):
        Rules.preset("classic", expert=True, deck="none")


@pytest.mark.parametrize("expert", [1, None, "yes"])
def test_expert_is_a_boolean(expert):
    with refused("expert=", repr(expert), "False or True"):
        Rules.preset("classic", expert=expert)


@pytest.mark.parametrize("name", ["clasic", "", None, 3, ["classic"]])
def test_an_unknown_preset_lists_all(name):
    with refused(repr(name), *presets()):
        Rules.preset(name)
    with refused(repr(name), *presets()):
        preset_players(name)


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: Rules.preset("classic", **o),
        lambda **o: Rules().replace(**o),
        lambda **o: Rules.from_dict(o),
    ],
    ids=["preset", "replace", "from_dict"],
)
def test_an_unknown_option_is_named(make):
    with refused("'fortfy'", "did you mean 'fortify'", *OPTIONS):
        make(fortfy="free")


# Values and combinations.


@pytest.mark.parametrize("option", CHOICES)
@pytest.mark.parametrize("value", [0, 1, 1.0, "", "Claim", b"claim", ["claim"], {}, float("nan"), object])
def test_choices_name_option_value_and_what_is_allowed(option, value):
    with refused(f"{option}={value!r}", *map(repr, CHOICES[option])):
        Rules(**{option: value})


@pytest.mark.parametrize("option", NUMBERS)
@pytest.mark.parametrize("value", [-1, 0, True, False, 3.0, "3", 2**31, [3], float("nan")])
def test_numbers_name_option_value_and_range(option, value):
    with refused(f"{option}={value!r}", f"from {NUMBERS[option].least} to {NUMBERS[option].most}"):
        Rules(**{option: value})


def test_ends_of_the_ranges():
    assert Rules(max_rounds=1, max_battles_per_turn=1, max_troops=2).max_rounds == 1
    assert Rules(max_rounds=2**31 - 1).max_rounds == 2**31 - 1
    for option, value in {"num_players": 1, "max_troops": 1, "headquarters_to_win": 6}.items():
        with refused(f"{option}={value}"):
            Rules(**{option: value})
    with refused("num_players=7"):
        Rules(num_players=7)
    with refused("num_players=None"):
        Rules(num_players=None)


DUEL = {"num_players": 2, "setup": "deal"}
HQ = {"victory": "headquarters"}
STARS = {"deck": "star"}
NO_CARDS = {"deck": "none"}
CAPITALS = STARS | {"setup": "capitals", "capitals": True}
CHART = STARS | {"setup": "chart", "capitals": True, "cities": "fixed", "objectives": "fixed"}
GOALS = CAPITALS | {"victory": "objectives", "objectives": "random"}
WRONG = [  # what is given; the two options that the message names
    (STARS | {"num_players": 6}, "deck", "num_players"),
    (STARS | DUEL, "deck", "num_players"),
    ({"neutral": True}, "neutral", "num_players"),
    (STARS | {"neutral": True}, "neutral", "num_players"),
    ({"neutral": True, "num_players": 2}, "neutral", "setup"),
    (DUEL | HQ, "num_players", "victory"),
    (DUEL | {"victory": "mission"}, "num_players", "victory"),
    ({"num_players": 2}, "num_players", "setup"),
    (STARS | HQ, "victory", "deck"),
    (STARS | {"victory": "mission"}, "victory", "deck"),
    ({"victory": "objectives"}, "victory", "deck"),
    (CAPITALS | {"victory": "objectives"}, "victory", "objectives"),
    (STARS | {"victory": "objectives", "objectives": "fixed"}, "victory", "capitals"),
    ({"headquarters_to_win": 1}, "headquarters_to_win", "victory"),
    (HQ | {"headquarters_to_win": 3}, "headquarters_to_win", "num_players"),
    (HQ | {"num_players": 4, "headquarters_to_win": 4}, "headquarters_to_win", "num_players"),
    (HQ | {"num_players": 5, "headquarters_to_win": 5}, "headquarters_to_win", "num_players"),
    ({"missions": "extended"}, "missions", "victory"),
    ({"setup": "capitals"}, "setup", "deck"),
    ({"setup": "chart"}, "setup", "deck"),
    (STARS | {"setup": "capitals"}, "setup", "capitals"),
    (CHART | {"capitals": False}, "setup", "capitals"),
    (CHART | {"cities": "random"}, "setup", "cities"),
    (CHART | {"cities": None}, "setup", "cities"),
    (CHART | {"objectives": "random"}, "setup", "objectives"),
    (CHART | {"rewards": True}, "setup", "rewards"),
    (CHART | {"initial_troops": 30}, "setup", "initial_troops"),
    ({"capitals": True}, "capitals", "deck"),
    (STARS | {"capitals": True}, "capitals", "setup"),
    (STARS | {"capitals": True, "setup": "deal"}, "capitals", "setup"),
    ({"cities": "fixed"}, "cities", "deck"),
    ({"cities": "random"}, "cities", "deck"),
    ({"objectives": "fixed"}, "objectives", "deck"),
    ({"objectives": "random"}, "objectives", "deck"),
    ({"rewards": True}, "rewards", "deck"),
    (STARS | {"rewards": True}, "rewards", "objectives"),
    (STARS | {"set_values": "by_one"}, "set_values", "deck"),
    (STARS | {"occupied_bonus": "once_a_turn"}, "occupied_bonus", "deck"),
    (STARS | {"card_reroll": True}, "card_reroll", "deck"),
    (NO_CARDS | HQ, "victory", "deck"),
    (NO_CARDS | {"setup": "capitals"}, "setup", "deck"),
    (NO_CARDS | {"set_values": "fixed"}, "set_values", "deck"),
    (NO_CARDS | {"card_reroll": True}, "card_reroll", "deck"),
    ({"card_reroll": True, "attack": "blitz"}, "card_reroll", "attack"),
    ({"commander": True, "attack": "blitz"}, "commander", "attack"),
]


@pytest.mark.parametrize(("options", "first", "second"), WRONG)
def test_a_senseless_combination_names_both_options_and_values(options, first, second):
    given_options = CLASSIC | options
    with refused(f"{first}={given_options[first]!r}", f"{second}={given_options[second]!r}"):
        Rules(**options)


def test_every_combination_check_has_a_test():
    tested = {(first, second) for _, first, second in WRONG}
    assert tested == {(need.option, need.other) for need in NEEDS}


@pytest.mark.parametrize(
    "options",
    [
        DUEL,
        DUEL | {"neutral": True},
        {"num_players": 2, "setup": "random", "neutral": True, "max_troops": 12},
        HQ | {"headquarters_to_win": 2},
        HQ | {"setup": "random", "num_players": 6, "headquarters_to_win": 3},
        {"victory": "mission", "missions": "extended", "num_players": 6},
        CHART,
        CHART | {"victory": "objectives", "max_troops": 12, "fortify": "free"},
        GOALS | {"rewards": True, "cities": "fixed"},
        GOALS | {"setup": "random", "commander": True},
        STARS,
        STARS | {"setup": "deal", "cities": "random", "objectives": "random", "rewards": True},
        {"card_reroll": True, "commander": True, "attack": "max", "defender_dice": "max"},
        {"initial_troops": 100, "attack": "blitz", "max_battles_per_turn": 3},
    ],
)
def test_sensible_combinations_are_accepted(options):
    assert Rules(**options).to_dict() == CLASSIC | options


# Values by which rules live.


@pytest.mark.parametrize(
    ("deck", "troops"),
    [
        ("symbol", {2: 40, 3: 35, 4: 30, 5: 25, 6: 20}),
        ("star", {3: 30, 4: 25, 5: 20}),
        ("none", {2: 40, 3: 35, 4: 30, 5: 25, 6: 20}),
    ],
)
def test_troops_to_start(deck, troops):
    for players, wanted in troops.items():
        setup = "deal" if players == 2 else "claim"
        rules = Rules(num_players=players, deck=deck, setup=setup)
        assert rules.troops_to_start(42) == wanted
        assert rules.replace(initial_troops=50).troops_to_start(42) == 50


def test_rules_are_frozen_and_equal_by_value():
    rules = Rules.preset("capital", 4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.deck = "star"
    assert {rules: "kept"}[Rules(num_players=4, victory="headquarters")] == "kept"
    assert rules != rules.replace(fortify="adjacent")


def test_replace_checks_again_and_leaves_the_old_rules():
    rules = Rules()
    assert rules.replace(fortify="free").fortify == "free"
    assert rules.replace() == rules == Rules()
    with refused("num_players=2", "setup='claim'"):
        rules.replace(num_players=2)


def test_from_dict_takes_defaults_and_refuses_what_is_no_mapping():
    assert Rules.from_dict({}) == Rules()
    assert Rules.from_dict({"num_players": 5}) == Rules(num_players=5)
    for wrong in (None, [], "classic", 3):
        with refused(repr(wrong), "mapping"):
            Rules.from_dict(wrong)
    with refused("option 7"):
        Rules.from_dict({7: 7})


@pytest.mark.parametrize("name", presets())
def test_json_round_trip(name):
    for players in preset_players(name):
        rules = Rules.preset(name, players)
        assert Rules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules


LIKELY = {option: st.sampled_from(choices) for option, choices in CHOICES.items()} | {
    option: st.integers(numbers.least - 1, 7) | (st.none() if numbers.or_none else st.nothing())
    for option, numbers in NUMBERS.items()
}
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers())
)


@given(st.one_of(st.none(), st.sampled_from(presets())), st.fixed_dictionaries({}, optional=LIKELY))
def test_random_options_give_rules_or_an_error_that_names_one(name, options):
    check_options(name, options)


@given(st.dictionaries(st.sampled_from(OPTIONS), ODD, min_size=1, max_size=3))
def test_odd_values_give_rules_or_an_error_that_names_one(options):
    check_options(None, options)


def check_options(name: str | None, options: dict[str, Any]) -> None:
    try:
        rules = Rules(**options) if name is None else Rules.preset(name, **options)
    except ValueError as error:
        assert any(f"{option}=" in str(error) for option in options), str(error)
        return
    assert options.items() <= rules.to_dict().items()
    assert Rules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert rules.replace(**options) == rules
    assert rules.troops_to_start(42) >= 1


# What depends on the map.


@pytest.mark.parametrize("name", presets())
@pytest.mark.parametrize("expert", [False, True])
@pytest.mark.parametrize("map_name", ["classic", "big"])
def test_every_preset_can_be_played_on_classic_and_big(name, map_name, expert):
    for players in preset_players(name):
        if expert and Rules.preset(name, players).deck == "star":
            continue
        check_rules(Rules.preset(name, players, expert), load_map(map_name))


def some_map(**changes: Any) -> SimpleNamespace:
    """Return the facts that `check_rules` reads, for a map of eight territories."""
    objectives = [SimpleNamespace(major=k >= 4, basic_training=True) for k in range(8)]
    facts: dict[str, Any] = {
        "name": "Some",
        "territories": tuple("abcdefgh"),
        "num_territories": 8,
        "symbols": ("infantry",) * 8,
        "stars": (1,) * 8,
        "missions": [mission("continents")] * 2 + [mission("destroy", target=k) for k in range(6)],
        "objectives": objectives,
        "basic_training_cities": (0, 1),
        "random_cities": 3,
        "charts": (),
        "chart": {}.get,
    }
    return SimpleNamespace(**(facts | changes))


def mission(kind: str, target: int = -1, extended: bool = False) -> SimpleNamespace:
    return SimpleNamespace(kind=kind, target=target, extended=extended)


def goals(minor: int, major: int, fixed: bool = True) -> list[SimpleNamespace]:
    kinds = [False] * minor + [True] * major
    return [SimpleNamespace(major=kind, basic_training=fixed) for kind in kinds]


FIXED = CAPITALS | {"objectives": "fixed"}
MISSION = {"victory": "mission"}
NOT_ON_THE_MAP = [  # rules, map, words of the message
    ({}, {"symbols": None}, ("deck='symbol'", "0 of 8")),
    (STARS, {"stars": None}, ("deck='star'", "0 of 8")),
    (MISSION, {"missions": []}, ("victory='mission'", "3 players", "only 0 missions of this map")),
    (
        MISSION,
        {"missions": [mission("destroy", target=k) for k in range(1, 6)]},
        ("victory='mission'", "only 2 missions of this map"),
    ),
    (
        MISSION,
        {"missions": [mission("continents", extended=True)] * 3},
        ("missions='standard'", "only 0 missions of this map"),
    ),
    (
        CAPITALS | {"objectives": "random"},
        {"objectives": goals(3, 6)},
        ("objectives='random'", "3 minor and 6 major"),
    ),
    (
        CAPITALS | {"objectives": "random"},
        {"objectives": goals(6, 3)},
        ("objectives='random'", "6 minor and 3 major"),
    ),
    (
        FIXED,
        {"objectives": goals(5, 5, fixed=False)},
        ("objectives='fixed'", "at least 3 fixed Objectives", "map has 0"),
    ),
    (FIXED, {"objectives": goals(1, 1)}, ("objectives='fixed'", "at least 3 fixed Objectives", "map has 2")),
    (STARS | {"cities": "fixed"}, {"basic_training_cities": ()}, ("cities='fixed'", "has none")),
    (STARS | {"cities": "random"}, {"random_cities": 0}, ("cities='random'", "has 0")),
    (STARS | {"cities": "random"}, {"random_cities": 9}, ("cities='random'", "1 to 8", "has 9")),
    (CHART, {}, ("setup='chart'", "num_players=3", "'Some'", "has no charts")),
    (
        CHART,
        {"charts": [SimpleNamespace(num_players=n) for n in (4, 5)]},
        ("num_players=3", "has charts for 4, 5 players"),
    ),
    ({"num_players": 6}, {"num_territories": 5}, ("num_players=6", "5 territories")),
    (
        {"num_players": 2, "setup": "deal", "neutral": True},
        {"num_territories": 2},
        ("num_players=2", "3 armies"),
    ),
    ({"initial_troops": 2}, {}, ("initial_troops=2", "at least 3", "8 territories")),
    (
        {"initial_troops": 35},
        {"num_territories": 106},
        ("initial_troops=35", "35 troops", "at least 36", "106 territories"),
    ),
    (
        {"max_troops": 17},
        {},
        ("max_troops=17", "35 starting troops", "max_troops=18 or more", "8 territories"),
    ),
]


@pytest.mark.parametrize(("options", "changes", "words"), NOT_ON_THE_MAP)
def test_rules_that_a_map_cannot_hold(options, changes, words):
    with refused(*words):
        check_rules(Rules(**options), some_map(**changes))


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({"initial_troops": 3}, {}),
        ({"max_troops": 18}, {}),
        ({}, {"num_territories": 105}),
        ({}, {"num_territories": 3}),
        (DUEL | {"neutral": True}, {"num_territories": 3}),
        (
            {},
            {
                "stars": None,
                "missions": [],
                "objectives": [],
                "basic_training_cities": (),
                "random_cities": 0,
            },
        ),
        (STARS, {"symbols": None, "missions": []}),
        (MISSION, {"missions": [mission("destroy", target=k) for k in range(3)]}),
        (MISSION | {"missions": "extended"}, {"missions": [mission("continents", extended=True)] * 3}),
        (GOALS | {"cities": "random", "rewards": True}, {}),
        (FIXED, {"objectives": goals(2, 1)}),
    ],
)
def test_rules_that_a_map_can_hold(options, changes):
    check_rules(Rules(**options), some_map(**changes))


def test_the_chart_must_fit_under_max_troops():
    """RULES 10.3 holds from set-up on; the classic chart for three puts five troops on the capitals."""
    board = load_map("classic")
    check_rules(Rules(**CHART, max_troops=5), board)
    with refused("max_troops=4", "max_troops=5 or more"):
        check_rules(Rules(**CHART, max_troops=4), board)


@pytest.mark.parametrize("option", ["typo", "name", "cls", "preset"])
def test_an_unknown_option_is_named_everywhere(option):
    for make in (Rules, partial(Rules.preset, "classic"), Rules().replace):
        with pytest.raises(ValueError, match=f"option '{option}' is unknown.*num_players"):
            make(**{option: 1})


def test_rules_are_copied_and_pickled():
    rules = Rules(num_players=4, fortify="free")
    assert copy.deepcopy(rules) == pickle.loads(pickle.dumps(rules)) == rules


def test_numpy_scalars_become_python_values() -> None:
    given = {"max_rounds": np.int32(9), "neutral": np.False_, "setup": np.str_("deal")}
    rules = Rules.preset("classic", np.int64(4), np.True_, **given)
    assert rules == Rules.preset("classic", 4, True, max_rounds=9, neutral=False, setup="deal")
    assert {type(value) for value in rules.to_dict().values()} <= {int, bool, str, type(None)}
    assert Rules.from_dict(given) == Rules(**given) == Rules(max_rounds=9, setup="deal")
    for wrong in (np.float64(3.0), np.int64(7), np.array([3, 4])):
        with pytest.raises(ValueError, match=r"num_players=.*: must be a whole number from 2 to 6"):
            Rules(num_players=wrong)

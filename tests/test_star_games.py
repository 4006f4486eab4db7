"""The 2008 games on hand-made positions: RULES 9 and 3.3.3. Each test has the number of its statement."""

import random
import re

import pytest

from risk_env import Game, Rules, presets
from risk_env.core.types import Phase, Reward
from tests.conftest import mode
from tests.positions import (
    CLASSIC,
    MAJOR,
    MINOR,
    battle,
    futures,
    holder,
    in_phase,
    legal,
    made_to_order,
    owner_of,
    place_all,
    places,
    play,
    refused,
    reward_owner,
    rolled,
    star_position,
    to_draft,
    to_next_turn,
    to_own_draft,
    troops_on,
)

pytestmark = pytest.mark.modes
whole_games = pytest.mark.skipif(
    mode() != "compiled", reason="long; tests/test_reference.py plays whole games in every mode"
)

CITIES = [CLASSIC.territories[t] for t in CLASSIC.basic_training_cities]
NAMES = [goal.name for goal in CLASSIC.objectives]
ROOM = "command_room"
CAPITALS = ("Alaska", "Kamchatka", "Brazil")
LOTS = 200  # troops that always win


def command_room(*armies, **lines):
    """Return a game of Command Room with the capitals Alaska, Kamchatka and Brazil."""
    return star_position(ROOM, *armies, **{"capitals": CAPITALS, **lines})


def city_army(number, troops=2):
    """Return an army on the first cities of Basic Training."""
    return ", ".join(f"{city} {troops}" for city in CITIES[:number])


# ------------------------------------------------------------------------------------------------ objectives


def some(number, without=""):
    """Return an army with two troops on each of this many territories, except some."""
    kept_out = places(without).split(", ")
    return ", ".join(f"{name} 2" for name in [t for t in CLASSIC.territories if t not in kept_out][:number])


# Name, army of seat 0 that meets it, held at the start of the turn (None: all), army that just does not.
OBJECTIVES = [
    ("Europe", ("Europe 2", None), ("Europe 2, Iceland -", None)),
    ("North America", ("North America 2", None), ("North America 2, Ontario -", None)),
    ("Asia", ("Asia 2", None), ("Asia 2, Japan -", None)),
    ("8 cities", (city_army(8), None), (city_army(7), None)),
    ("an enemy capital", ("Alaska 2, Kamchatka 2", None), ("Alaska 2, Japan 2", None)),
    (
        "4 cities in one turn",
        (f"Alaska 2, {city_army(5)}", places(f"Alaska, {CITIES[4]}")),
        (f"Alaska 2, {city_army(5)}", places(f"Alaska, {CITIES[4]}, {CITIES[3]}")),
    ),
    (
        "10 territories in one turn",
        (some(11), "Alaska"),
        (some(11), "Alaska, Ontario"),  # ten that were not held, one of them held before
    ),
    ("2 enemy capitals", ("Kamchatka 2, Brazil 2", None), ("Alaska 2, Brazil 2", None)),
    ("18 territories", (some(18), None), (some(17), None)),
    (
        "2 complete continents",
        ("Australia 2, South America 2", None),
        ("Australia 2, South America 2, Africa 2, Peru -, Congo -", None),
    ),
    (
        "an entire continent in one turn",
        ("Australia 2, Siam 2", "Siam"),
        ("Australia 2, Siam 2", "Siam, New Guinea"),
    ),
    ("11 cities", (city_army(11), None), (city_army(10), None)),
]


def at_the_end_of_attacks(objective, army, held_at_start):
    """Return a game in which seat 0 has ended its attacks. `-` after a territory gives it to seat 1."""
    lost = re.findall(r"([A-Z][\w ]*) -", army)
    army = re.sub(r", [A-Z][\w ]* -", "", army)
    lines = {} if held_at_start is None else {"held_at_start": held_at_start, "captured": "yes"}
    others = [f"{name} 3" for name in lost]
    named = places(army, ", ".join(lost)).split(", ")
    free = [
        t for t in ("Argentina", "Madagascar", "Mongolia", "Greenland", "Ural") if t not in [*named, *lost]
    ]
    game = command_room(army, ", ".join([*others, free[0]]), "rest", goals={objective: "face up"}, **lines)
    assert holder(game, objective) == -1
    return play(game, "done")


@pytest.mark.parametrize(("name", "met", "missed"), OBJECTIVES, ids=[row[0] for row in OBJECTIVES])
def test_9_6_an_objective_is_met_or_just_not(name, met, missed):
    game = at_the_end_of_attacks(name, *met)
    assert in_phase(game, Phase.OBJECTIVE, 0)
    assert f"objective {name}" in legal(game)
    play(game, f"objective {name}")
    assert holder(game, name) == 0
    assert f"objective {name}" not in legal(at_the_end_of_attacks(name, *missed))


def test_9_6_every_objective_has_its_test():
    assert [row[0] for row in OBJECTIVES] == NAMES
    assert len(NAMES) == 12


def test_9_6_an_objective_that_was_met_before_the_turn_may_be_taken():
    game = command_room(
        "Alaska 2, Australia 2, South America 2",
        "Kamchatka",
        "rest",
        goals={"2 complete continents": "face up"},
    )
    play(game, "done", "objective 2 complete continents")
    assert holder(game, "2 complete continents") == 0


def test_9_6_one_s_own_capital_is_not_needed_for_an_enemy_capital():
    game = command_room("Kamchatka 2", "Alaska 3", "rest", goals={"an enemy capital": "face up"})
    assert "objective an enemy capital" in legal(play(game, "done"))


def test_9_6_the_capital_of_an_eliminated_player_counts():
    game = command_room("Alaska 2, Kamchatka 2", "", "rest", goals={"an enemy capital": "face up"})
    assert game.alive.tolist() == [True, False, True]
    assert "objective an enemy capital" in legal(play(game, "done"))


def test_9_6_a_continent_taken_in_play_counts_as_entire():
    """A seat without territories in Australia captures Australia, attack by attack."""
    goals = {"an entire continent in one turn": "face up"}
    game = command_room(f"Alaska 2, Siam {LOTS}", "Kamchatka, Australia", "rest", goals=goals)
    for way in ("Siam > Indonesia", "Indonesia > New Guinea", "New Guinea > Western Australia"):
        play(game, f"attack {way}", "blitz", "occupy all")
    assert "objective an entire continent in one turn" not in legal(play(game.copy(), "done"))
    play(game, "attack Western Australia > Eastern Australia", "blitz", "done", "done")
    assert "objective an entire continent in one turn" in legal(game)


# ------------------------------------------------------------------------------------------------ taking one


def two_met(**lines):
    """Return a game in which seat 0 meets Europe and an enemy capital, and has captured a territory."""
    army = "Alaska 2, Kamchatka 5, Europe 2"
    lines = {"goals": {"Europe": "face up", "an enemy capital": "face up"}, **lines}
    held = places("Alaska, Europe")
    return command_room(army, "Japan 3", "rest", held_at_start=held, captured="yes", **lines)


def test_9_5_exactly_one_objective_may_be_taken():
    game = two_met()
    play(game, "done")
    assert set(legal(game)) == {"objective Europe", "objective an enemy capital", "done"}
    play(game, "objective Europe")
    assert not in_phase(game, Phase.OBJECTIVE)
    assert (holder(game, "Europe"), holder(game, "an enemy capital")) == (0, -1)


def test_9_5_a_taken_objective_is_not_replaced():
    game = two_met()
    laid = [holder(game, name) for name in NAMES]
    play(game, "done", "objective Europe")
    now = [holder(game, name) for name in NAMES]
    assert (laid.count(-1), now.count(-1), now.count(-2)) == (8, 7, laid.count(-2))


def test_9_5_after_the_attacks_and_before_any_fortify():
    """Kamchatka's five troops move only after the question about the Objective."""
    game = play(two_met(), "done")
    refused(game, "from Kamchatka", "from Alaska", "attack Kamchatka > Japan")
    play(game, "done")
    assert in_phase(game, Phase.FORTIFY_FROM, 0)
    refused(game, "objective Europe")


def test_9_5_taking_an_objective_means_no_card_that_turn():
    taken = to_next_turn(
        play(two_met(goals={"Europe": ("face up", "additional maneuver")}), "done", "objective Europe")
    )
    declined = to_next_turn(two_met())
    assert (len(taken.hand(0)), len(declined.hand(0))) == (0, 1)


def test_9_5_the_card_is_drawn_last():
    log = to_next_turn(two_met()).log
    drawn = [place for place, line in enumerate(log) if line.startswith("chance: card 0")]
    assert [line.startswith("0: ") for line in log[: drawn[0]]] == [True] * drawn[0]
    assert len(drawn) == 1 and not any(line.startswith("0: ") for line in log[drawn[0] :])


def test_9_5_no_capture_no_card():
    game = to_next_turn(command_room("Alaska 5", "Kamchatka", "rest"))
    assert len(game.hand(0)) == 0


# ------------------------------------------------------------------------------------------------ rewards


def with_reward(reward, *armies, seat=0, **lines):
    """Return a position in which a seat owns a Reward and holds its objective."""
    objective = "Asia" if reward in MINOR else "18 territories"
    return command_room(
        *(armies or ("Alaska 9, Alberta 9, Ontario 9", "Kamchatka 9", "rest")),
        goals={objective: (seat, reward)},
        **lines,
    )


def met_with(reward, **lines):
    """Return a game in which seat 0 may take Europe (minor Reward) or two continents (major Reward)."""
    minor, major = (reward, None) if reward in MINOR else (None, reward)
    goals = {"Europe": ("face up", minor)} if minor else {"2 complete continents": ("face up", major)}
    return play(
        command_room("Alaska 5, Europe 5, Africa 5", "Kamchatka 9", "rest", goals=goals, **lines),
        "done",
        f"objective {next(iter(goals))}",
    )


def test_9_8_a_guaranteed_card_needs_no_capture_and_counts_this_turn_already():
    game = to_next_turn(met_with("guaranteed card"))
    assert len(game.hand(0)) == 1


def test_9_8_a_guaranteed_card_comes_every_turn():
    game = to_next_turn(with_reward("guaranteed card"))
    assert len(game.hand(0)) == 1


def test_9_8_a_guaranteed_card_is_never_two():
    army = "Alaska 9, Alberta 9, Ontario 9"
    lines = {"held_at_start": "Alaska, Alberta", "captured": "yes"}
    assert (
        len(to_next_turn(with_reward("guaranteed card", army, "Kamchatka 9", "rest", **lines)).hand(0)) == 1
    )


def test_9_8_a_guaranteed_card_comes_beside_an_objective():
    game = command_room(
        "Alaska 5, Europe 5",
        "Kamchatka",
        "rest",
        goals={"Asia": (0, "guaranteed card"), "Europe": ("face up", "additional maneuver")},
    )
    assert len(to_next_turn(play(game, "done", "objective Europe")).hand(0)) == 1


def test_9_8_nobody_else_draws_by_a_guaranteed_card():
    game = to_next_turn(with_reward("guaranteed card", seat=1))
    assert len(game.hand(0)) == 0


def moves(game):
    """Return the number of fortify moves of a seat that moves one troop back and forth."""
    made = 0
    while in_phase(game, Phase.FORTIFY_FROM):
        there = made % 2 == 0
        play(
            game,
            "from Alaska" if there else "from Alberta",
            "to Alberta" if there else "to Alaska",
            "move 1",
            "done",
        )
        made += 1
    return made


def test_9_8_one_fortify_move_without_an_additional_maneuver():
    assert moves(play(command_room("Alaska 9, Alberta 9, Ontario", "Kamchatka", "rest"), "done")) == 1


def test_9_8_an_additional_maneuver_is_one_more_move():
    assert (
        moves(
            play(
                with_reward("additional maneuver", "Alaska 9, Alberta 9, Ontario", "Kamchatka", "rest"),
                "done",
            )
        )
        == 2
    )


def test_9_8_an_additional_maneuver_counts_this_turn_already():
    game = command_room(
        "Alaska 9, Alberta 9, Ontario, Europe 2",
        "Kamchatka",
        "rest",
        goals={"Europe": ("face up", "additional maneuver")},
    )
    assert moves(play(game, "done", "objective Europe")) == 2


def test_9_10_with_free_fortifying_an_additional_maneuver_adds_nothing():
    objective = {"Asia": (0, "additional maneuver")}
    lines = {"capitals": CAPITALS, "goals": objective}
    game = star_position(
        f"preset={ROOM}, fortify=free", "Alaska 9, Alberta 9, Ontario", "Kamchatka", "rest", **lines
    )
    assert moves(play(game, "done")) == CLASSIC.num_territories


def test_9_8_a_starting_maneuver_comes_after_placing_and_before_the_first_attack():
    game = with_reward(
        "starting maneuver", "Alaska 9, Alberta 9, Ontario", "Kamchatka 9", "rest", phase="draft"
    )
    place_all(game)
    assert in_phase(game, Phase.FORTIFY_FROM, 0)
    refused(game, "attack Alaska > Kamchatka")
    assert moves(game) == 1
    assert in_phase(game, Phase.ATTACK, 0)
    assert moves(play(game, "done")) == 1  # the one at the end of the turn is not touched


def test_9_8_a_starting_maneuver_may_be_declined():
    game = with_reward(
        "starting maneuver", "Alaska 9, Alberta 9, Ontario", "Kamchatka 9", "rest", phase="draft"
    )
    assert in_phase(play(place_all(game), "done"), Phase.ATTACK, 0)


def test_9_8_a_starting_maneuver_begins_with_the_next_turn():
    game = met_with("starting maneuver")
    assert int(game.record.moves_left) == 1
    to_own_draft(game)
    assert in_phase(place_all(game), Phase.FORTIFY_FROM, 0)
    assert not game.record.attacks_over


def test_9_8_two_troops_at_every_draft():
    plain = to_draft(to_own_draft(command_room("Alaska 9, Alberta 9", "Kamchatka 9", "rest")))
    assert plain == 3 + 1
    game = to_own_draft(with_reward("two troops", "Alaska 9, Alberta 9", "Kamchatka 9", "rest"))
    assert to_draft(game) == plain + 2
    assert to_draft(to_own_draft(place_all(game))) == plain + 2


def test_9_8_two_troops_from_the_next_draft_on():
    game = met_with("two troops")
    assert to_draft(game) == 0
    to_own_draft(game)
    # territories and cities, Europe, Africa, a capital, 2 Troops
    assert to_draft(game) == (14 + 7) // 3 + 5 + 3 + 1 + 2


def expected(dice, kept, airfield):
    """Return the dice of one side without the lowest ones, and with the bonus of an airfield."""
    best = sorted(dice, reverse=True)[:kept]
    return (best[0] + airfield, *best[1:])


def check_rolls(game, way, dice, defence, extra=(0, 0), airfields=(0, 0), number=25):
    """Check many rolls along a border: rolled, dropped and improved dice, and losses."""
    tops = []
    for future in futures(game, number):
        roll = battle(play(future, f"attack {way}", f"dice {dice}", f"defend {defence}"))
        assert (len(roll.attacker_rolled), len(roll.defender_rolled)) == (dice + extra[0], defence + extra[1])
        assert roll.attacker_dice == expected(roll.attacker_rolled, dice, airfields[0])
        assert roll.defender_dice == expected(roll.defender_rolled, defence, airfields[1])
        pairs = list(zip(roll.attacker_dice, roll.defender_dice, strict=False))
        assert roll.attacker_losses == sum(mine <= theirs for mine, theirs in pairs)
        assert roll.defender_losses == sum(mine > theirs for mine, theirs in pairs)
        assert all(1 <= face <= 6 for face in (*roll.attacker_rolled, *roll.defender_rolled))
        tops.append((roll.attacker_dice[0], roll.defender_dice[0]))
    return tops


@pytest.mark.parametrize("dice", [1, 2, 3])
def test_9_8_an_attack_die_is_one_more_and_the_lowest_is_dropped(dice):
    check_rolls(with_reward("attack die"), "Alaska > Kamchatka", dice, 2, extra=(1, 0))


@pytest.mark.parametrize("defence", [1, 2])
def test_9_8_a_defense_die_likewise(defence):
    check_rolls(with_reward("defense die", seat=1), "Alaska > Kamchatka", 3, defence, extra=(0, 1))


def test_9_8_the_extra_die_is_the_owner_s_alone():
    check_rolls(with_reward("attack die", seat=1), "Alaska > Kamchatka", 3, 2)
    check_rolls(with_reward("defense die", seat=0), "Alaska > Kamchatka", 3, 2)
    check_rolls(with_reward("defense die", seat=2), "Alaska > Kamchatka", 3, 2)
    armies = ("Alaska 9, Alberta 9", "Kamchatka 9", "rest 9")
    check_rolls(with_reward("defense die", *armies, seat=1), "Alberta > Ontario", 3, 2)
    check_rolls(with_reward("defense die", *armies, seat=2), "Alberta > Ontario", 3, 2, extra=(0, 1))


def test_9_8_each_side_has_its_own_extra_die():
    goals = {"18 territories": (0, "attack die"), "11 cities": (1, "defense die")}
    game = command_room("Alaska 9", "Kamchatka 9", "rest", goals=goals)
    check_rolls(game, "Alaska > Kamchatka", 2, 2, extra=(1, 1))


def test_9_8_a_blitz_rolls_the_extra_dice_too():
    game = with_reward("attack die", f"Alaska {LOTS}", "Kamchatka 9", "rest")
    log = play(game, "attack Alaska > Kamchatka", "blitz").log
    rolls = [line.split(" | ")[0].split()[2:] for line in log if line.startswith("chance: roll")]
    assert rolls and all(len(dice) == 4 for dice in rolls)


def test_3_2_5_the_bonus_die_does_not_count_for_the_occupation():
    game = with_reward("attack die", "Alaska 9", "Kamchatka 1, Japan 3", "rest")
    game = made_to_order(
        game, ["attack Alaska > Kamchatka", "dice 2"], lambda g: owner_of(g, "Kamchatka") == 0
    )
    assert troops_on(game, "Alaska", "Kamchatka") == [7, 2]


AIR = {"goals": {"Asia": (0, "airfield")}}
FOE = {"goals": {"Asia": (1, "airfield")}}
THIRD = {"goals": {"Asia": (2, "airfield")}}
BOARD = ("Alaska 9, Alberta 9, Brazil 9", "Kamchatka 9, Japan 9, Yakutsk 9", "rest 9")


@pytest.mark.parametrize(
    ("airfield", "way", "bonus"),
    [
        ("Alaska", "Alaska > Kamchatka", 1),  # out of the airfield's territory: next to the attacked one
        ("Alberta", "Alaska > Kamchatka", 0),  # next to the source is not next to the target
        ("Brazil", "Alaska > Kamchatka", 0),
        ("Brazil", "Brazil > North Africa", 1),
        ("Alaska", "Alberta > Northwest Territory", 1),  # next to the target, no part in the battle
    ],
)
def test_9_8_an_airfield_betters_the_attacker_s_highest_die(airfield, way, bonus):
    check_rolls(command_room(*BOARD, airfield=airfield, **AIR), way, 3, 1, airfields=(bonus, 0))


@pytest.mark.parametrize(
    ("airfield", "bonus"), [("Kamchatka", 1), ("Japan", 1), ("Yakutsk", 1), ("China", 0)]
)
def test_9_8_an_airfield_betters_the_defender_s_highest_die(airfield, bonus):
    army = BOARD[1] + ", China 9"
    game = command_room(BOARD[0], army, BOARD[2], airfield=airfield, **FOE)
    check_rolls(game, "Alaska > Kamchatka", 3, 2, airfields=(0, bonus))


def test_9_8_an_airfield_is_not_for_a_third_party():
    game = command_room(*BOARD, airfield="Mongolia", **THIRD)
    check_rolls(game, "Alaska > Kamchatka", 3, 2)


def test_9_8_two_airfields_give_one_bonus():
    goals = {"Asia": (0, "airfield"), "18 territories": (0, "major airfield")}
    army = "Alaska 9, Irkutsk 9"  # both next to Kamchatka
    game = command_room(army, "Kamchatka 9", "rest", goals=goals, airfield="Alaska", major_airfield="Irkutsk")
    check_rolls(game, "Alaska > Kamchatka", 3, 2, airfields=(1, 0))


def test_9_9_each_side_has_its_own_airfield_and_a_six_becomes_seven():
    goals = {"Asia": (0, "airfield"), "18 territories": (1, "major airfield")}
    game = command_room(
        "Alaska 9", "Kamchatka 9", "rest", goals=goals, airfield="Alaska", major_airfield="Kamchatka"
    )
    tops = check_rolls(game, "Alaska > Kamchatka", 3, 2, airfields=(1, 1), number=60)
    assert max(mine for mine, _ in tops) == max(theirs for _, theirs in tops) == 7


def test_9_9_the_extra_die_is_settled_before_the_airfield():
    goals = {"Asia": (0, "airfield"), "18 territories": (0, "attack die")}
    game = command_room("Alaska 9", "Kamchatka 9", "rest", goals=goals, airfield="Alaska")
    check_rolls(game, "Alaska > Kamchatka", 2, 2, extra=(1, 0), airfields=(1, 0))


def test_9_10_the_dropped_die_goes_first_then_the_commander_then_the_airfield():
    goals = {"Asia": (0, "airfield"), "18 territories": (0, "attack die")}
    rules = f"preset={ROOM}, commander=True"
    game = star_position(
        rules, "Alaska 9", "Kamchatka 9", "rest", capitals=CAPITALS, goals=goals, airfield="Alaska"
    )
    game = made_to_order(
        game, ["attack Alaska > Kamchatka", "dice 2", "defend 1"], lambda g: rolled(g)[0] == [4, 3, 2]
    )
    assert set(legal(game)) == {"commander 3", "commander 4", "done"}  # the two was dropped
    roll = battle(play(game, "commander 3"))
    assert roll.attacker_dice == (7, 4)


def test_9_8_an_airfield_is_placed_at_once_on_any_own_territory():
    game = met_with("airfield")
    assert in_phase(game, Phase.AIRFIELD, 0)
    own = [name for name, owner in zip(CLASSIC.territories, game.owner, strict=True) if owner == 0]
    assert legal(game) == [f"airfield {name}" for name in own]
    play(game, "airfield Ukraine")
    assert reward_owner(game, Reward.AIRFIELD) == 0
    assert int(game.record.airfield[0]) == CLASSIC.territory("Ukraine")
    assert in_phase(game, Phase.FORTIFY_FROM, 0)


def test_9_8_two_airfields_never_stand_on_one_territory():
    goals = {"Asia": (0, "airfield"), "2 complete continents": ("face up", "major airfield")}
    game = command_room("Alaska 5, Europe 5, Africa 5", "Kamchatka 9", "rest", goals=goals, airfield="Egypt")
    play(game, "done", "objective 2 complete continents")
    assert [CLASSIC.territories[t] for t in game.public().airfields] == ["Egypt"]
    assert game.public().rewards[Reward.MAJOR_AIRFIELD] == 0  # owned before its place is chosen
    refused(game, "airfield Egypt")
    play(game, "airfield Alaska")
    assert [CLASSIC.territories[t] for t in game.public().airfields] == ["Egypt", "Alaska"]


def test_9_8_airfields_of_two_players_may_stand_together_after_a_capture():
    """The loser's airfield falls with the territory; the conqueror's own reward is untouched."""
    goals = {"Asia": (0, "airfield"), "18 territories": (1, "major airfield")}
    lines = {"airfield": "Alaska", "major_airfield": "Kamchatka"}
    game = command_room(f"Alaska {LOTS}", "Kamchatka, Japan 5", "rest", goals=goals, **lines)
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert reward_owner(game, Reward.MAJOR_AIRFIELD) == -1
    assert reward_owner(game, Reward.AIRFIELD) == 0


def test_9_8_an_airfield_is_passed_over_where_none_can_stand():
    """The only own territory has the other airfield: the Objective is taken, its Reward is lost."""
    goals = {"18 territories": (0, "major airfield"), "an enemy capital": ("face up", "airfield")}
    game = command_room("Kamchatka 5", "Alaska 9", "rest", goals=goals, major_airfield="Kamchatka")
    play(game, "done", "objective an enemy capital")
    assert holder(game, "an enemy capital") == 0
    assert reward_owner(game, Reward.AIRFIELD) == -1
    assert game.turn == 1


def test_9_8_an_airfield_lost_with_its_territory_leaves_the_objective():
    game = command_room(f"Alaska {LOTS}", "Kamchatka, Japan 5", "rest 9", airfield="Kamchatka", **FOE)
    assert reward_owner(game, Reward.AIRFIELD) == 1
    play(game, "attack Alaska > Kamchatka", "blitz", "done")
    assert reward_owner(game, Reward.AIRFIELD) == -1
    assert int(game.record.airfield[0]) == -1
    assert holder(game, "Asia") == 1
    check_rolls(game, "Alaska > Northwest Territory", 3, 2)


# ------------------------------------------------------------------------------------------------ elimination


def eliminating(**lines):
    """Return a game before seat 1 loses its last territory to seat 0; seat 1 owns cards and Rewards."""
    goals = {"Asia": (1, "airfield"), "18 territories": (1, "attack die"), "Europe": (0, "guaranteed card")}
    hands = {"hand_1": "Alaska, Brazil, China, Japan, Peru", "hand_0": "Congo"}
    told = hands | (lines or {"goals": goals, "airfield": "Kamchatka"})
    return command_room(f"Alaska {LOTS}, Alberta 2", "Kamchatka", "rest", **told)


def test_3_3_3_cards_and_objectives_pass_on_rewards_do_not():
    game = play(eliminating(), "attack Alaska > Kamchatka", "blitz")
    assert game.alive.tolist() == [True, False, True]
    assert game.hand(0) == ("Alaska", "Peru", "Brazil", "Congo", "Japan", "China")
    assert [holder(game, name) for name in ("Asia", "18 territories", "Europe")] == [0, 0, 0]
    assert [reward_owner(game, reward) for reward in (Reward.AIRFIELD, Reward.ATTACK_DIE)] == [-1, -1]
    assert reward_owner(game, Reward.GUARANTEED_CARD) == 0
    assert game.record.airfield.tolist() == [-1, -1]


def test_3_3_3_no_trade_is_forced_and_the_cards_wait_for_the_next_draft():
    game = play(eliminating(), "attack Alaska > Kamchatka", "blitz", "done")
    assert len(game.hand(0)) == 6
    assert in_phase(game, Phase.ATTACK, 0)
    assert in_phase(to_own_draft(game), Phase.TRADE, 0) or game.is_over


def test_3_3_3_the_capital_of_the_loser_stays_and_counts():
    goals = {"an enemy capital": ("face up", "guaranteed card")}
    game = play(eliminating(goals=goals), "attack Alaska > Kamchatka", "blitz", "done", "done")
    assert "objective an enemy capital" in legal(game)
    to_own_draft(game)
    assert to_draft(game) == 3 + 2  # own capital and that of the loser


def test_3_3_3_inherited_objectives_do_not_cost_the_turn_s_card():
    goals = {"Asia": (1, "additional maneuver"), "an enemy capital": ("face up", "starting maneuver")}
    game = play(eliminating(goals=goals), "attack Alaska > Kamchatka", "blitz", "done", "done")
    assert len(to_next_turn(game.copy()).hand(0)) == 6 + 1
    assert len(to_next_turn(play(game, "objective an enemy capital")).hand(0)) == 6


def test_3_3_3_beside_inherited_objectives_the_turn_s_own_may_be_taken():
    goals = {"Asia": (1, "additional maneuver"), "an enemy capital": ("face up", "starting maneuver")}
    game = play(eliminating(goals=goals), "attack Alaska > Kamchatka", "blitz", "done", "done")
    play(game, "objective an enemy capital")
    assert [holder(game, name) for name in ("Asia", "an enemy capital")] == [0, 0]


# ------------------------------------------------------------------------------------------------ winning


THREE = {"Europe": 0, "North America": 0, "18 territories": 0}


def test_9_7_three_objectives_and_the_own_capital_win_at_the_end_of_the_turn():
    game = command_room("Alaska 5, Alberta 5", "Kamchatka", "rest", goals=THREE)
    assert not game.is_over
    play(game, "done")
    assert in_phase(game, Phase.FORTIFY_FROM)
    play(game, "done")
    assert (game.is_over, game.winner, game.truncated) == (True, 0, False)
    assert game.returns().tolist() == [1.0, -0.5, -0.5]


def test_9_7_two_objectives_do_not_win():
    goals = {"Europe": 0, "North America": 0}
    assert not to_next_turn(command_room("Alaska 5, Alberta 5", "Kamchatka", "rest", goals=goals)).is_over


def test_9_7_three_objectives_without_the_own_capital_do_not_win():
    game = to_next_turn(command_room("Alberta 5, Ontario 5", "Alaska, Kamchatka", "rest", goals=THREE))
    assert not game.is_over


def test_9_7_only_at_the_end_of_one_s_own_turn():
    goals = {"Europe": 1, "North America": 1, "18 territories": 1}
    game = command_room("Alaska 5, Alberta 5", "Kamchatka 5, Japan 5", "rest", goals=goals)
    to_next_turn(game)
    assert not game.is_over and game.turn == 1
    place_all(game)
    play(game, "done")
    assert not game.is_over
    assert to_next_turn(game).winner == 1


def test_9_7_the_third_objective_wins_in_the_turn_that_takes_it():
    goals = {"Asia": 0, "North America": 0, "Europe": ("face up", "starting maneuver")}
    game = play(
        command_room("Alaska 5, Europe 5", "Kamchatka", "rest", goals=goals), "done", "objective Europe"
    )
    assert not game.is_over
    assert to_next_turn(game).winner == 0


def test_9_7_inherited_objectives_count_for_the_win():
    goals = {
        "Asia": (1, "guaranteed card"),
        "18 territories": (1, "two troops"),
        "Europe": (0, "starting maneuver"),
    }
    game = play(eliminating(goals=goals), "attack Alaska > Kamchatka", "blitz")
    assert not game.is_over
    assert to_next_turn(game).winner == 0


def test_9_7_the_card_of_the_winning_turn_is_still_drawn():
    game = command_room(
        "Alaska 5, Alberta 5", "Kamchatka", "rest", goals=THREE, held_at_start="Alaska", captured="yes"
    )
    assert to_next_turn(game).winner == 0
    assert len(game.hand(0)) == 1


def test_9_7_world_conquest_goes_on_after_three_objectives():
    lines = {"capitals": CAPITALS, "goals": THREE}
    game = to_next_turn(star_position("world_conquest", "Alaska 5, Alberta 5", "Kamchatka", "rest", **lines))
    assert not game.is_over and game.turn == 1


def test_9_7_world_conquest_gives_one_objective_a_turn_while_they_last():
    lines = {"capitals": CAPITALS, "goals": {**THREE, "11 cities": "face up", "2 enemy capitals": "face up"}}
    army = f"Alaska 5, Kamchatka 5, Brazil 5, {city_army(11)}"
    game = star_position("world_conquest", army, "Japan", "rest", **lines)
    play(game, "done", "objective 11 cities")
    assert not in_phase(game, Phase.OBJECTIVE)
    if in_phase(game, Phase.AIRFIELD):
        play(game, "airfield Alaska")
    to_own_draft(game)
    play(place_all(game), "done")
    assert "objective 2 enemy capitals" in legal(game)
    refused(game, "objective 11 cities")


@pytest.mark.parametrize("rules", ["basic_training", "command_room", "world_conquest"])
def test_9_7_holding_every_territory_wins_any_game_at_once(rules):
    army = f"rest 2, Alaska {LOTS}"
    lines = {} if rules == "basic_training" else {"capitals": CAPITALS}
    game = star_position(rules, army, "Kamchatka", "", **lines)
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert (game.is_over, game.winner) == (True, 0)
    assert troops_on(game, "Kamchatka") == [3]


# -------------------------------------------------------------------------------------------- stars and draft


ONE_STAR = [name for name, stars in zip(CLASSIC.territories, CLASSIC.stars, strict=True) if stars == 1]
TWO_STARS = [name for name, stars in zip(CLASSIC.territories, CLASSIC.stars, strict=True) if stars == 2]


@pytest.mark.parametrize(
    ("stars", "troops"), [(2, 2), (3, 4), (4, 7), (5, 10), (6, 13), (7, 17), (8, 21), (9, 25), (10, 30)]
)
def test_9_4_stars_are_worth(stars, troops):
    cards = [*TWO_STARS[: stars // 2], *ONE_STAR[: stars % 2]]
    game = command_room("Alaska 9", "Kamchatka", "rest", phase="trade", hand_0=", ".join(cards))
    before = to_draft(game)
    play(game, *(f"card {card}" for card in cards))
    if in_phase(game, Phase.TRADE):  # else the last card left nothing to ask
        play(game, "done")
    assert to_draft(game) - before == troops
    assert len(game.hand(0)) == 0


def test_9_4_three_cards_with_four_stars_are_seven_troops():
    cards = [*TWO_STARS[:1], *ONE_STAR[:2]]
    game = command_room("Alaska 9, Alberta 9", "Kamchatka", "rest", phase="trade", hand_0=", ".join(cards))
    play(game, *(f"card {card}" for card in cards))
    assert to_draft(game) == 3 + 1 + 7


def test_9_4_at_least_two_stars():
    game = command_room("Alaska 9", "Kamchatka", "rest", phase="trade", hand_0=", ".join(ONE_STAR[:3]))
    assert "done" in legal(game)  # declined
    play(game, f"card {ONE_STAR[0]}")
    refused(game, "done")
    assert "done" in legal(play(game, f"card {ONE_STAR[1]}"))


def test_9_4_a_single_star_is_not_asked_for():
    game = command_room("Alaska 9", "Kamchatka 2, Japan 2", "rest", hand_1=ONE_STAR[0])
    assert in_phase(to_next_turn(game), Phase.DRAFT, 1)


def test_9_4_at_most_ten_stars():
    game = command_room(
        "Alaska 9", "Kamchatka", "rest", phase="trade", hand_0=", ".join([*TWO_STARS[:5], *ONE_STAR[:2]])
    )
    play(game, *(f"card {card}" for card in [*TWO_STARS[:4], ONE_STAR[0]]))
    refused(game, f"card {TWO_STARS[4]}")
    play(game, f"card {ONE_STAR[1]}")
    assert to_draft(game) == 3 + 1 + 30


def test_9_4_once_a_draft():
    game = command_room(
        "Alaska 9, Alberta 9", "Kamchatka", "rest", phase="trade", hand_0=", ".join(TWO_STARS[:4])
    )
    play(game, f"card {TWO_STARS[0]}", "done")
    assert in_phase(game, Phase.DRAFT, 0)
    assert len(game.hand(0)) == 3


def test_9_4_the_territories_on_the_cards_do_not_matter():
    game = command_room("Afghanistan 9, Alaska 9", "Kamchatka", "rest", phase="trade", hand_0="Afghanistan")
    play(game, "card Afghanistan")
    assert troops_on(game, "Afghanistan") == [9]
    assert to_draft(game) == 3 + 1 + 2


def test_9_4_five_cards_force_nothing():
    game = command_room(
        "Alaska 9, Alberta 9", "Kamchatka", "rest", phase="trade", hand_0=", ".join(TWO_STARS[:6])
    )
    play(game, "done")
    assert (in_phase(game, Phase.DRAFT, 0), len(game.hand(0)), to_draft(game)) == (True, 6, 4)


def test_2_4_an_empty_star_deck_is_made_of_the_discard_pile():
    rest = [name for name in CLASSIC.territories if name not in ("Alaska", "Peru")]
    lines = {
        "hand_1": ", ".join(rest),
        "discard": "Alaska, Peru",
        "held_at_start": "Alaska",
        "captured": "yes",
    }
    game = to_next_turn(command_room("Alaska 9, Alberta 9", "Kamchatka 2", "rest", **lines))
    assert game.hand(0) in (("Alaska",), ("Peru",))


def draft_of(army, cities, capitals=("Greenland", "Kamchatka", "Brazil"), **lines):
    """Return the draft of seat 1 at the start of its turn in the 2008 games."""
    game = command_room("Greenland 9", army, "rest", capitals=capitals, cities=cities, **lines)
    return to_draft(to_next_turn(game))


def cities_of(*own):
    """Return fifteen cities: the given ones, and others that seat 1 never holds in these tests."""
    others = [name for name in places("South America, Africa, Europe").split(", ") if name not in own]
    return ", ".join([*own, *others][:15])


def test_9_2_thirteen_territories_and_cities_are_four_troops():
    army = ["Alaska", "Alberta", "Ontario", "Iceland", "Scandinavia", "Ural", "Siberia", "Yakutsk", "China"]
    assert draft_of(", ".join(army), cities_of(*army[:4])) == 4  # nine territories, four cities


def test_9_2_five_territories_and_cities_are_three_troops():
    assert draft_of("Alaska, Alberta, Ontario", cities_of("Alaska", "Ontario")) == 3


def test_9_2_one_for_every_capital_controlled_own_included():
    army = "Alaska, Alberta, Ontario"
    assert draft_of(army, cities_of(), capitals=("Greenland", "Alaska", "Brazil")) == 3 + 1
    assert draft_of(army, cities_of(), capitals=("Ontario", "Alaska", "Brazil")) == 3 + 2
    assert draft_of(army, cities_of(), capitals=("Ontario", "Alaska", "Alberta")) == 3 + 3


def test_9_2_continents_as_ever():
    assert draft_of("Australia", cities_of()) == 3 + 2


# ------------------------------------------------------------------------------------------------ set-up


@pytest.mark.parametrize("players", [3, 4, 5])
def test_9_1_basic_training_starts_from_its_chart(players):
    game = Game(Rules.preset("basic_training", num_players=players), seed=1)
    chart = CLASSIC.chart(players)
    total = {3: 30, 4: 25, 5: 20}[players]
    assert game.owner.tolist() == list(chart.owner) and game.troops.tolist() == list(chart.troops)
    assert [int(game.troops[game.owner == seat].sum()) for seat in range(players)] == [total] * players
    assert [int(place) for place in game.record.capital[:players]] == list(chart.capitals)
    assert [len(game.hand(seat)) for seat in range(players)] == [0, 0, 1, 1, 2][:players]
    assert (game.turn, game.round) == (0, 1)


def test_9_1_basic_training_has_fixed_cities_and_objectives_and_no_rewards():
    game = Game("basic_training", seed=1)
    names = (
        "Western United States, Ontario, Eastern United States, Brazil, Great Britain, Northern Europe, "
        "Western Europe"
    )
    names += ", Southern Europe, Russia, Egypt, South Africa, India, China, Japan, Eastern Australia"
    assert sorted(CITIES) == sorted(places(names).split(", "))
    up = [name for name in NAMES if holder(game, name) == -1]
    minor = ["Europe", "North America", "Asia", "8 cities"]
    assert up == [
        *minor,
        "10 territories in one turn",
        "2 enemy capitals",
        "18 territories",
        "2 complete continents",
    ]
    assert [reward_owner(game, reward) for reward in Reward] == [-1] * 8
    assert set(game.record.objective_reward.tolist()) == {-1}
    assert [name for name, city in zip(CLASSIC.territories, city_flags(game), strict=True) if city] == CITIES


def city_flags(game):
    """Return flags of the territories with a city."""
    words = [int(word) for word in game.record.city]
    return [bool(words[t // 64] >> (t % 64) & 1) for t in range(CLASSIC.num_territories)]


@pytest.mark.parametrize("preset", ["command_room", "world_conquest"])
def test_9_3_cities_and_objectives_are_laid_out_at_random(preset):
    seen = set()
    for seed in range(12):
        game = Game(preset, seed=seed)
        assert sum(city_flags(game)) == 15
        up = [goal for goal in CLASSIC.objectives if holder(game, goal.name) == -1]
        assert [goal.major for goal in up] == [False] * 4 + [True] * 4
        laid = [int(game.record.objective_reward[NAMES.index(goal.name)]) for goal in up]
        assert sorted(laid[:4]) == [0, 1, 2, 3] and sorted(laid[4:]) == [4, 5, 6, 7]
        seen.add(tuple(goal.name for goal in up))
    assert len(seen) > 5


def test_9_3_capitals_come_first_then_claims_then_reinforcing():
    game = Game(ROOM, seed=3)
    starter = game.turn
    assert in_phase(game, Phase.CAPITAL, starter)
    for place, name in enumerate(CAPITALS):
        assert in_phase(game, Phase.CAPITAL, (starter + place) % 3)
        play(game, f"capital {name}")
        assert troops_on(game, name) == [1]
        if place < 2:
            refused(game, f"capital {name}")
    assert in_phase(game, Phase.CLAIM, starter)
    refused(game, "claim Alaska", "capital Peru")
    for _ in range(38):  # the last one is forced
        play(game, legal(game)[0])
    assert in_phase(game, Phase.DEPLOY, starter)
    assert [int(game.troops[game.owner == seat].sum()) for seat in range(3)] == [14, 14, 14]
    while game.round == 0:
        play(game, legal(game)[0])
    assert [int(game.troops[game.owner == seat].sum()) for seat in range(3)] == [30, 30, 30]
    assert [CLASSIC.territories[t] for t in game.record.capital[:3]] == [
        CAPITALS[(seat - starter) % 3] for seat in range(3)
    ]


@pytest.mark.parametrize("players", [3, 4, 5])
def test_9_3_starting_cards_by_turn_order(players):
    starters = set()
    for seed in range(6):
        game = Game(Rules.preset(ROOM, num_players=players), seed=seed)
        starters.add(game.turn)
        assert [len(game.hand((game.turn + place) % players)) for place in range(players)] == [0, 0, 1, 1, 2][
            :players
        ]
    assert len(starters) > 1


def test_9_3_capitals_never_move():
    game = command_room(f"Alaska {LOTS}", "Kamchatka, Japan 3", "rest")
    before = game.record.capital.tolist()
    play(game, "attack Alaska > Kamchatka", "blitz", "occupy all")
    assert game.record.capital.tolist() == before


def test_9_10_fortify_is_connected():
    game = play(
        command_room("Alaska 9, Northwest Territory, Greenland, Iceland, Brazil", "Kamchatka", "rest"), "done"
    )
    play(game, "from Alaska")
    assert legal(game) == ["to Northwest Territory", "to Greenland", "to Iceland"]


def test_the_rewards_have_the_names_of_the_rules():
    assert [reward.name.lower().replace("_", " ") for reward in Reward] == [*MINOR, *MAJOR]


# ------------------------------------------------------------------------------------------------ whole games


WORDS = (
    "capital claim deploy headquarters card bonus draft troops "
    "attack dice blitz defend occupy objective airfield"
)
LETTERS = dict(zip([*WORDS.split(), "from", "to", "move", "done"], "klphcbdtaxzvoOAfgm.", strict=True))
CHANCE = {"roll": "r", "card": "C"}  # chance of the set-up has no letter
PLACING = r"(dt)*"
ATTACK = r"a(x(v)?r|zr+)(o*\.?)"  # dice or a blitz, then what a capture asks for
MOVES = r"((fgm+\.?)*\.?)"
SYMBOL_TURN = re.compile(
    rf"(cccb?)*\.?{PLACING}"  # trade in sets, place
    rf"({ATTACK}((cccb?)+{PLACING})?)*"  # attack; after an elimination trades and their placement
    rf"(\.C?{MOVES})?"  # a card, then fortify; a won game ends before
)
STAR_TURN = re.compile(
    rf"(c*\.)?{PLACING}{MOVES}"  # stars, place, a Starting Maneuver
    rf"({ATTACK})*"
    rf"(\.(OA?|\.)?{MOVES}C?)?"  # an Objective, fortify, then a card
)
SETUPS = {
    "claim": r"l{42}p*",
    "deal": r"p*",
    "capitals": r"k+l+p*",
    "chart": r"",
}


def letter(line):
    """Return the letter of a line of a log."""
    who, word = line.split()[:2]
    return CHANCE.get(word, "") if who == "chance:" else LETTERS[word]


def turns_of(log):
    """Return the letters of the set-up, and those of each turn.

    A new turn begins where another seat acts, except to defend.
    """
    setup, turns, last = "", [], None
    for line in log:
        found, who = letter(line), line[0]
        if found and found in "kplh":
            setup += found
        elif who not in ("c", last) and found != "v":
            turns.append(found)
            last = who
        elif turns:
            turns[-1] += found
    return setup, turns


def eager(game, rng):
    """Return a legal action: mostly attacks with more troops than the defender and all dice.

    Objectives and cards are taken; otherwise any action.
    """
    texts = {game.action_text(action): action for action in game.legal_actions().tolist()}
    asked = [text for text in texts if text != "done"] or ["done"]
    if game.phase == Phase.ATTACK:
        asked = [text for text in asked if outnumbers(game, text)] or ["done"]
    elif game.phase in (Phase.ATTACK_DICE, Phase.DRAFT_AMOUNT, Phase.OCCUPY):
        asked = asked[-1:]
    return texts[rng.choice(asked if rng.random() < 0.9 else list(texts))]


def outnumbers(game, text):
    """Return True if an attack starts from more troops than it meets."""
    source, _, target = text.removeprefix("attack ").partition(" > ")
    return target and troops_on(game, source) > troops_on(game, target)


@whole_games
@pytest.mark.parametrize("preset", presets())
def test_a_whole_game_reads_like_the_rule_book(preset):
    rules = Rules.preset(preset, max_rounds=6)
    game, rng = Game(rules, seed=5), random.Random(preset)
    while not game.is_over:
        game.step(eager(game, rng))
    setup, turns = turns_of(game.log)
    neutral = "p*" if rules.neutral else ""
    assert re.fullmatch(
        SETUPS[rules.setup] + neutral + ("h{3}" if rules.victory == "headquarters" else ""), setup
    ), setup
    form = STAR_TURN if rules.deck == "star" else SYMBOL_TURN
    for turn in turns:
        assert form.fullmatch(turn), turn
    assert len(turns) > 2 and any("o" in turn for turn in turns)
    assert any("C" in turn for turn in turns)

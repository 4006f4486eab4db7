"""RULES 3-8, 10 and 11 on hand-made positions, statement by statement (the numbers name the statement)."""

import random
from collections import Counter, deque
from copy import deepcopy
from functools import partial
from itertools import combinations_with_replacement

import pytest

from risk_agents.human.narration import Words
from risk_agents.human.questions import board_lines, question
from risk_env import Game, Rules, presets
from risk_env.agent import View
from risk_env.core.observe import BLOCK, TERRITORY_WIDTH
from risk_env.core.types import MOST_TROOPS, Phase
from risk_env.text.amounts import most_troops
from tests import test_reference
from tests.conftest import mode
from tests.games import random_rules
from tests.naive import Naive, fixed_value
from tests.positions import (
    CLASSIC,
    battle,
    futures,
    in_phase,
    legal,
    made_to_order,
    owner_of,
    place_all,
    places,
    play,
    play_at_random,
    position,
    refused,
    rolled,
    to_draft,
    to_next_turn,
    to_own_draft,
    troops_on,
)

pytestmark = pytest.mark.modes
whole_games = pytest.mark.skipif(
    mode() != "compiled", reason="long; tests/test_reference.py plays whole games in every mode"
)

LOTS = 200  # troops that always win
BY_SYMBOL = {
    symbol: [
        name for name, found in zip(CLASSIC.territories, CLASSIC.symbols, strict=True) if found == symbol
    ]
    for symbol in ("infantry", "cavalry", "artillery")
}
INFANTRY, CAVALRY, ARTILLERY = BY_SYMBOL.values()
OPENING = ("Alaska 9, Alberta 9", "Kamchatka 9, Japan 9", "rest 9")


def cards(*names):
    """Return a line of cards."""
    return ", ".join(names)


def trade(game, *names):
    """Trade a set card by card. The engine plays forced picks."""
    sets = int(game.record.sets_traded)
    for name in names:
        if int(game.record.sets_traded) == sets:
            play(game, f"card {name}")
    assert int(game.record.sets_traded) == sets + 1
    return game


# ------------------------------------------------------------------------------------------------ 2 cards


def next_card(**lines):
    """Let seat 0, which has captured a territory, end its turn, and return its hand."""
    told = {"held_at_start": "Alaska", "captured": "yes", **lines}
    return to_next_turn(position("classic", *OPENING, **told)).hand(0)


def test_2_4_one_card_a_turn_for_a_capture_and_none_without():
    assert len(next_card()) == 1
    assert to_next_turn(position("classic", *OPENING)).hand(0) == ()


def test_2_4_however_many_territories_fell():
    game = position("classic", f"Alaska {LOTS}", "Kamchatka 9", "rest")
    for way in ("Alaska > Alberta", "Alberta > Ontario", "Ontario > Quebec"):
        play(game, f"attack {way}", "blitz", "occupy all")
    assert len(to_next_turn(game).hand(0)) == 1


def test_2_4_an_empty_deck_is_made_of_the_discard_pile():
    others = [name for name in CLASSIC.territories if name not in ("Peru", "China")]
    assert next_card(hand_1=cards(*others, "wild", "wild"), discard="Peru, China") in (("Peru",), ("China",))


def test_2_4_no_card_where_both_are_empty():
    assert next_card(hand_1=cards(*CLASSIC.territories, "wild", "wild")) == ()


# ------------------------------------------------------------------------------------------------ 3.1 draft


def scattered(number):
    """Return this many territories without the first of any continent, so that no continent is complete."""
    firsts = [CLASSIC.continent_of.index(continent) for continent in range(len(CLASSIC.continents))]
    return ", ".join([name for t, name in enumerate(CLASSIC.territories) if t not in firsts][:number])


def draft_of(army, rules="world_domination"):
    """Return the troops due to seat 1 at the start of its turn."""
    return to_draft(to_next_turn(position(rules, "rest 2", army, "")))


@pytest.mark.parametrize(
    ("territories", "troops"), [(1, 3), (8, 3), (9, 3), (11, 3), (12, 4), (14, 4), (15, 5), (17, 5), (30, 10)]
)
def test_3_1_1_a_third_of_the_territories_at_least_three(territories, troops):
    assert draft_of(scattered(territories)) == troops


@pytest.mark.parametrize("continent", range(6))
def test_3_1_2_a_whole_continent_gives_its_bonus(continent):
    """Asia 7 (12), North America 5 (9), Europe 5 (7), Africa 3 (6), South America 2 (4), Australia 2 (4)."""
    books = {"Asia": 7, "North America": 5, "Europe": 5, "Africa": 3, "South America": 2, "Australia": 2}
    name = CLASSIC.continents[continent]
    size = len(places(name).split(", "))
    assert draft_of(name) == max(3, size // 3) + books[name]
    last = places(name).rpartition(", ")[0]
    assert draft_of(last) == max(3, (size - 1) // 3)


def test_3_1_2_europe_and_africa_give_eight():
    assert draft_of("Europe, Africa") == 13 // 3 + 8


def test_3_1_2_counted_at_the_start_of_the_turn():
    """A continent captured during a turn pays in the next turn."""
    game = position("classic", f"Australia, Indonesia {LOTS}", "New Guinea, Japan 9", "rest", phase="draft")
    assert to_draft(game) == 3
    place_all(game)
    play(game, "attack Indonesia > New Guinea", "blitz", "done")
    assert to_draft(game) == 0
    assert to_draft(to_own_draft(game)) == 3 + 2


def test_3_1_4_any_split_but_all_of_them():
    game = position("classic", *OPENING, phase="draft")
    refused(game, "done")
    play(game, "draft Alaska", "troops 2", "draft Alberta")  # the last one is forced
    assert troops_on(game, "Alaska", "Alberta") == [11, 10]
    assert in_phase(game, Phase.ATTACK, 0)


def test_3_1_4_on_own_territories_only():
    game = position("classic", *OPENING, phase="draft")
    assert legal(game) == ["draft Alaska", "draft Alberta"]


def test_3_1_4_all_trading_comes_before_the_first_placement():
    game = position("classic", *OPENING, phase="trade", hand_0=cards(*INFANTRY[:4]))
    play(game, "done", "draft Alaska", "troops 1")
    refused(game, f"card {INFANTRY[0]}")


# ------------------------------------------------------------------------------------------------ 3.2 attack


TINY = ("Ash 3, Birch 1, Cedar 2", "Dune 4, Ember 1", "Flint 5")


def tiny(*armies, rules="classic", **lines):
    """Return a position on the map of six territories."""
    return position(rules, *(armies or TINY), map="tiny", **lines)


def test_3_2_1_from_own_with_two_troops_to_adjacent_enemies():
    assert set(legal(tiny())) == {"attack Cedar > Dune", "done"}
    assert set(legal(tiny(turn=1))) == {"attack Dune > Cedar", "done"}
    assert set(legal(tiny("Ash 3, Birch 2, Cedar 2", *TINY[1:]))) == {
        "attack Birch > Ember",
        "attack Cedar > Dune",
        "done",
    }


@pytest.mark.parametrize(
    ("troops", "answers"),
    [
        (3, {"dice 1", "dice 2", "blitz"}),
        (4, {"dice 1", "dice 2", "dice 3", "blitz"}),
        (9, {"dice 1", "dice 2", "dice 3", "blitz"}),
    ],
)
def test_3_2_2_one_more_troop_than_dice(troops, answers):
    game = position("classic", f"Alaska {troops}", *OPENING[1:])
    assert set(legal(play(game, "attack Alaska > Kamchatka"))) == answers


def test_3_2_2_with_two_troops_a_single_die_and_no_blitz():
    game = position("classic", "Alaska 2", *OPENING[1:], ask_forced=True)
    assert legal(play(game, "attack Alaska > Kamchatka")) == ["dice 1"]


def test_3_2_2_the_defender_chooses_seeing_the_attacker_s_dice():
    game = play(position("classic", *OPENING), "attack Alaska > Kamchatka", "dice 3")
    assert in_phase(game, Phase.DEFEND, 1) and game.turn == 0
    assert legal(game) == ["defend 1", "defend 2"]
    play(game, "defend 2")
    assert [len(dice) for dice in rolled(game)] == [3, 2]


def test_3_2_2_a_single_defender_rolls_one_die():
    game = position("classic", "Alaska 9", "Kamchatka, Japan 9", "rest", ask_forced=True)
    assert legal(play(game, "attack Alaska > Kamchatka", "dice 1")) == ["defend 1"]


def test_3_2_2_defender_dice_max_asks_nobody():
    game = position("preset=classic, defender_dice=max", *OPENING)
    play(game, "attack Alaska > Kamchatka", "dice 2")
    assert [len(dice) for dice in rolled(game)] == [2, 2]
    assert in_phase(game, Phase.ATTACK, 0)


@pytest.mark.parametrize("defence", [1, 2])
@pytest.mark.parametrize("dice", [1, 2, 3])
def test_3_2_3_highest_with_highest_ties_to_the_defender(dice, defence):
    for game in futures(position("classic", *OPENING), 60):
        roll = battle(play(game, "attack Alaska > Kamchatka", f"dice {dice}", f"defend {defence}"))
        assert roll.attacker_dice == tuple(sorted(roll.attacker_rolled, reverse=True))
        assert roll.defender_dice == tuple(sorted(roll.defender_rolled, reverse=True))
        pairs = list(zip(roll.attacker_dice, roll.defender_dice, strict=False))
        assert len(pairs) == min(dice, defence)
        lost = sum(mine <= theirs for mine, theirs in pairs), sum(mine > theirs for mine, theirs in pairs)
        assert (roll.attacker_losses, roll.defender_losses) == lost
        assert troops_on(game, "Alaska", "Kamchatka") == [9 - lost[0], 9 - lost[1]]


def test_3_2_3_six_five_against_five_five():
    """6 beats 5, and the tie 5-5 goes to the defender: each side loses one troop."""
    way = ["attack Alaska > Kamchatka", "dice 3", "defend 2"]

    def books(game):
        attack, defence = rolled(game)
        return attack[:2] == [6, 5] and defence == [5, 5]

    game = made_to_order(position("classic", *OPENING), way, books)
    assert troops_on(game, "Alaska", "Kamchatka") == [8, 8]


def test_3_2_4_attacks_may_be_repeated_switched_and_stopped():
    game = position("classic", "Alaska 50, Kamchatka 50", "Japan 50, Alberta 50", "rest 50")
    for way in ("Alaska > Alberta", "Alaska > Alberta", "Kamchatka > Japan", "Alaska > Northwest Territory"):
        play(game, f"attack {way}", "dice 1", "defend 1")
        assert in_phase(game, Phase.ATTACK, 0)
    assert in_phase(play(game, "done"), Phase.FORTIFY_FROM, 0)


def test_3_2_4_a_blitz_goes_on_until_it_is_decided():
    """A blitz never asks the defender, and rolls three dice against two while there are enough troops."""
    ends = Counter()
    for game in futures(position("classic", *OPENING), 30):
        play(game, "attack Alaska > Kamchatka", "blitz")
        fallen = owner_of(game, "Kamchatka") == 0
        ends[fallen] += 1
        assert fallen or troops_on(game, "Alaska") == [1]
        mine = theirs = 9
        for line in (line for line in game.log if line.startswith("chance: roll")):
            attack, defence = (side.split() for side in line.removeprefix("chance: roll ").split(" | "))
            assert (len(attack), len(defence)) == (min(3, mine - 1), min(2, theirs))
            pairs = list(zip(sorted(attack, reverse=True), sorted(defence, reverse=True), strict=False))
            mine -= sum(a <= d for a, d in pairs)
            theirs -= sum(a > d for a, d in pairs)
        assert (theirs == 0) == fallen
    assert ends[True] and ends[False]


def test_3_2_4_attack_max_is_one_roll_with_the_most_dice():
    for game in futures(position("preset=classic, attack=max", *OPENING), 5):
        play(game, "attack Alaska > Kamchatka", "defend 1")
        assert [len(dice) for dice in rolled(game)] == [3, 1]
        assert int(game.record.battles) == 1


def test_3_2_4_attack_blitz_makes_every_attack_one():
    game = position("preset=classic, attack=blitz", *OPENING)
    play(game, "attack Alaska > Kamchatka")
    assert owner_of(game, "Kamchatka") == 0 or troops_on(game, "Alaska") == [1]


def capture_with(dice, troops=9):
    """Return a single roll with which Alaska captures Kamchatka."""
    game = position("classic", f"Alaska {troops}", "Kamchatka, Japan 9", "rest")
    return made_to_order(
        game, ["attack Alaska > Kamchatka", f"dice {dice}"], lambda g: owner_of(g, "Kamchatka") == 0
    )


@pytest.mark.parametrize("dice", [1, 2, 3])
def test_3_2_5_at_least_as_many_as_dice_move_in(dice):
    game = capture_with(dice)
    assert troops_on(game, "Alaska", "Kamchatka") == [9 - dice, dice]
    assert in_phase(game, Phase.OCCUPY, 0)
    play(game, "done")
    assert troops_on(game, "Alaska", "Kamchatka") == [9 - dice, dice]


def test_3_2_5_three_move_in_and_five_more_may_follow():
    game = capture_with(3)
    refused(game, "occupy 5", "occupy 6")  # all five are said as `all`
    play(game, "occupy all")
    assert troops_on(game, "Alaska", "Kamchatka") == [1, 8]


def test_3_2_5_more_may_follow_bit_by_bit():
    game = play(capture_with(3), "occupy 1", "occupy 2", "done")
    assert troops_on(game, "Alaska", "Kamchatka") == [3, 6]


def test_3_2_5_nothing_is_asked_where_nobody_can_follow():
    game = capture_with(3, troops=4)
    assert troops_on(game, "Alaska", "Kamchatka") == [1, 3]
    assert in_phase(game, Phase.ATTACK, 0)


def test_3_2_6_every_territory_always_holds_a_troop():
    rng = random.Random(2)
    for preset in ("classic", "two_player", "command_room"):
        for game in play_at_random(Game(Rules.preset(preset, setup="random"), seed=4), rng, 250):
            assert game.troops.min() >= 1


def test_3_2_7_a_won_game_asks_for_no_occupation():
    game = position("classic", f"rest 2, Alaska {LOTS}", "Kamchatka", "")
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert (game.is_over, game.winner) == (True, 0)
    assert troops_on(game, "Kamchatka") == [3]


# -------------------------------------------------------------------------------------------- 3.3 elimination


def last_stand(mine, theirs, rules="classic", **lines):
    """Return a game in which seat 0 has just captured the last territory of seat 1.

    Both seats held this number of cards.
    """
    deck = [name for trio in zip(INFANTRY, CAVALRY, ARTILLERY, strict=True) for name in trio]
    hands = {"hand_0": cards(*deck[:mine]), "hand_1": cards(*deck[mine : mine + theirs])}
    game = position(rules, f"Alaska {LOTS}, Alberta 2, Peru 2", "Kamchatka", "rest", **{**hands, **lines})
    return play(game, "attack Alaska > Kamchatka", "blitz")


def test_3_3_1_the_eliminator_takes_all_cards():
    game = last_stand(1, 3)
    assert game.alive.tolist() == [True, False, True]
    assert (len(game.hand(0)), len(game.hand(1))) == (4, 0)
    assert game.returns().tolist() == [0.0, -0.5, 0.0]


@pytest.mark.parametrize(("mine", "theirs"), [(0, 5), (4, 1), (2, 3)])
def test_3_3_2_with_fewer_than_six_nothing_is_traded(mine, theirs):
    game = play(last_stand(mine, theirs), "done")
    assert in_phase(game, Phase.ATTACK, 0)
    assert len(game.hand(0)) == 5


@pytest.mark.parametrize(("hand", "kept"), [(6, 3), (7, 4), (8, 2), (9, 3)])
def test_3_3_2_traded_until_four_three_or_two_are_held(hand, kept):
    game = play(last_stand(4, hand - 4), "done")
    while in_phase(game, Phase.TRADE, 0):
        refused(game, "done")
        play(game, legal(game)[0])
        while in_phase(game, Phase.BONUS, 0):
            play(game, legal(game)[0])
    assert len(game.hand(0)) == kept
    assert in_phase(game, Phase.DRAFT, 0)


def test_3_3_2_the_troops_are_placed_at_once_then_the_turn_goes_on():
    game = play(last_stand(3, 3), "done")
    trade(game, *(card for card in game.hand(0) if card in INFANTRY[:1] + CAVALRY[:1] + ARTILLERY[:1]))
    while in_phase(game, Phase.BONUS):
        play(game, legal(game)[0])
    assert to_draft(game) == 4
    assert "draft Kamchatka" in legal(game)  # the newly captured included
    refused(game, "done", "attack Kamchatka > Japan")
    play(game, "draft Kamchatka", "troops all")
    assert in_phase(game, Phase.ATTACK, 0)
    assert "attack Kamchatka > Japan" in legal(game)


def test_3_3_2_the_occupation_comes_before_the_trades():
    game = last_stand(3, 3)
    assert in_phase(game, Phase.OCCUPY, 0)
    refused(game, *(f"card {card}" for card in game.hand(0)))


def test_3_3_2_a_drawn_sixth_card_triggers_nothing():
    five = [*INFANTRY[:2], *CAVALRY[:2], ARTILLERY[0]]
    lines = {"hand_0": cards(*five), "held_at_start": "Alaska", "captured": "yes"}
    traded = {"sets_traded": 1, "set_traded": "yes", "discard": cards(*ARTILLERY[2:5])}
    game = play(
        position(
            "classic",
            "Alaska 9, Alberta 9, Ontario",
            *OPENING[1:],
            **{**lines, "held_at_start": "Alaska, Alberta"},
            **traded,
        ),
        "done",
    )
    assert len(game.hand(0)) == 6
    assert in_phase(game, Phase.FORTIFY_FROM, 0)


# ------------------------------------------------------------------------------------------------ 3.4 fortify


CHAIN = "Alaska 9, Northwest Territory, Greenland, Iceland, Brazil 9, Peru"


def fortify_from(place, rules, army=CHAIN, **lines):
    """Return the territories to which the troops of a territory may move at the end of the turn."""
    game = position(rules, army, "Kamchatka 9", "rest 9", **lines)
    return legal(play(game, "done", f"from {place}"))


@pytest.mark.parametrize(
    ("rules", "army", "reached"),
    [
        ("world_domination", CHAIN + ", Alberta", {"to Northwest Territory", "to Alberta"}),
        ("classic", CHAIN, {"to Northwest Territory", "to Greenland", "to Iceland"}),
        ("preset=classic, fortify=free", CHAIN, {"to Northwest Territory", "to Greenland", "to Iceland"}),
    ],
)
def test_3_4_how_far_troops_may_go(rules, army, reached):
    assert set(fortify_from("Alaska", rules, army)) == reached


@pytest.mark.parametrize("rules", ["world_domination", "classic"])
def test_3_4_one_move(rules):
    game = play(position(rules, "Alaska 9, Alberta 9, Northwest Territory", "Kamchatka 9", "rest"), "done")
    play(game, "from Alaska", "to Alberta", "move 3", "done")
    assert troops_on(game, "Alaska", "Alberta") == [6, 12]
    assert game.turn == 1


def test_3_4_free_moves_the_same_troops_again():
    game = play(position("preset=classic, fortify=free", CHAIN, "Kamchatka 9", "rest"), "done")
    play(
        game, "from Alaska", "to Iceland", "move 5", "done", "from Iceland", "to Greenland", "move 2", "done"
    )
    play(game, "from Brazil", "move 4", "done", "done")
    assert troops_on(game, "Alaska", "Iceland", "Greenland", "Brazil", "Peru") == [4, 4, 3, 5, 5]
    assert game.turn == 1


def test_3_4_free_at_most_as_many_moves_as_the_map_has_territories():
    game = tiny("Ash 5, Birch 5, Cedar 5", "Dune, Ember", "Flint", rules="preset=classic, fortify=free")
    play(game, "done")
    for move in range(6):
        assert in_phase(game, Phase.FORTIFY_FROM, 0)
        source, target = ("Ash", "Birch") if move % 2 else ("Birch", "Ash")
        play(game, f"from {source}", f"to {target}", "move 1", "done")
    assert game.turn != 0


def test_3_4_at_least_one_troop_stays_behind():
    game = play(
        position("classic", CHAIN, "Kamchatka 9", "rest"), "done", "from Alaska", "to Iceland", "move all"
    )
    assert troops_on(game, "Alaska", "Iceland") == [1, 9]
    refused(play(position("classic", CHAIN, "Kamchatka 9", "rest"), "done"), "from Iceland")


def test_3_4_fortifying_is_optional_and_needs_no_battle():
    game = play(position("classic", CHAIN, "Kamchatka 9", "rest"), "done")
    assert "from Alaska" in legal(game)
    assert play(game, "done").turn == 1


def test_3_4_territories_captured_this_turn_count_as_own():
    game = position("classic", f"Alaska {LOTS}, Brazil 5", "Alberta, Japan 9", "rest")
    play(game, "attack Alaska > Alberta", "blitz", "done", "done", "from Alaska")
    assert in_phase(game, Phase.FORTIFY_AMOUNT, 0)  # Alberta was the only place to go to
    before = troops_on(game, "Alberta")[0]
    assert troops_on(play(game, "move all"), "Alberta")[0] > before


def test_3_4_the_card_comes_before_the_move():
    lines = {"held_at_start": "Alaska, Alberta", "captured": "yes"}
    game = play(position("classic", "Alaska 9, Alberta 9, Ontario", *OPENING[1:], **lines), "done")
    assert in_phase(game, Phase.FORTIFY_FROM, 0)
    assert len(game.hand(0)) == 1


def test_3_5_the_next_surviving_player_clockwise():
    game = position("preset=classic, num_players=5", "rest 2", "", "", "Japan 2, Mongolia", "Peru 2", turn=0)
    seats = [game.turn]
    for _ in range(3):
        to_next_turn(game)
        seats.append(game.turn)
        place_all(game)
    assert seats == [0, 3, 4, 0]


# ------------------------------------------------------------------------------------------------ 4 set-up


def seats_of(game, word):
    """Return the seats that acted with a word, in order."""
    return [int(line[0]) for line in game.log if line[1:].startswith(f": {word}")]


def set_up_at_random(game, seed=0):
    """Play the set-up to its end."""
    rng = random.Random(seed)
    while game.round == 0:
        game.step(rng.choice(game.legal_actions().tolist()))
    return game


@pytest.mark.parametrize(("players", "troops"), [(2, 40), (3, 35), (4, 30), (5, 25), (6, 20)])
def test_4_2_starting_troops_of_the_symbol_deck(players, troops):
    game = set_up_at_random(Game(Rules.preset("classic", num_players=players), seed=players))
    assert [int(game.troops[game.owner == seat].sum()) for seat in range(players)] == [troops] * players


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_4_3_claim_in_turn_then_reinforce_in_turn(players):
    game = Game(Rules.preset("world_domination", num_players=players), seed=players)
    starter = game.turn
    play(game, "claim Alaska")
    refused(game, "claim Alaska", "deploy Alaska")
    set_up_at_random(game)
    acted = seats_of(game, "claim") + seats_of(game, "deploy")
    assert len(seats_of(game, "claim")) == 42
    assert acted == [(starter + place) % players for place in range(len(acted))]
    assert game.turn == starter and game.round == 1


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_4_3_dealt_out_one_by_one_the_starter_first(players):
    game = Game(Rules.preset("secret_mission", num_players=players), seed=players)
    assert in_phase(game, Phase.DEPLOY, game.turn)
    shares = [int((game.owner == (game.turn + place) % players).sum()) for place in range(players)]
    assert shares == [42 // players + (place < 42 % players) for place in range(players)]
    assert set(game.troops.tolist()) == {1}


def test_4_4_everybody_places_the_same_total():
    """Two of four players have eleven territories; the others have ten and place one troop more."""
    game = Game(Rules.preset("secret_mission", num_players=4), seed=8)
    starter = game.turn
    set_up_at_random(game)
    acted = Counter(seats_of(game, "deploy"))
    assert [acted[(starter + place) % 4] for place in range(4)] == [19, 19, 20, 20]
    # who has none left is skipped
    assert seats_of(game, "deploy")[-2:] == [(starter + 2) % 4, (starter + 3) % 4]


def test_4_3_random_asks_nothing():
    for preset in ("classic", "two_player", "capital", "command_room"):
        game = Game(Rules.preset(preset, setup="random"), seed=1)
        assert game.round == 1 and game.phase in (Phase.DRAFT, Phase.TRADE)


def test_4_1_every_seat_may_start():
    assert {Game("classic", seed=seed).turn for seed in range(20)} == {0, 1, 2}


def test_11_4_chance_is_drawn_in_its_order():
    order = [
        "starter",
        "missions",
        "cities",
        "objectives",
        "deal",
        "setup",
        "capitals",
        "headquarters",
        "card",
    ]
    for preset in presets():
        log = Game(preset, seed=2).log
        kinds = [line.split()[1] for line in log if line.startswith("chance: ")]
        assert kinds == sorted(kinds, key=order.index)
        assert kinds[0] == "starter"


# ----------------------------------------------------------------------------------------------- 5 trading in


def trading(*hand, rules="classic", army="Alaska 9, Alberta 9", **lines):
    """Return a game in which seat 0 may trade cards, none of which shows one of its two territories."""
    return position(rules, army, *OPENING[1:], phase="trade", hand_0=cards(*hand), **lines)


HELD_IN_OPENING = ("Alaska", "Alberta")
FOOT, HORSE, GUNS = (
    [name for name in BY_SYMBOL[symbol] if name not in HELD_IN_OPENING] for symbol in BY_SYMBOL
)


@pytest.mark.parametrize(
    "hand",
    [
        FOOT[:3],
        HORSE[:3],
        GUNS[:3],
        [FOOT[0], HORSE[0], GUNS[0]],
        [FOOT[0], FOOT[1], "wild"],
        [FOOT[0], GUNS[1], "wild"],
        [HORSE[0], "wild", "wild"],
    ],
)
def test_5_1_a_set(hand):
    game = trade(trading(*hand), *hand)
    assert to_draft(game) == 3 + 4
    assert len(game.hand(0)) == 0
    assert in_phase(game, Phase.DRAFT, 0)


@pytest.mark.parametrize(
    "hand",
    [
        [FOOT[0], FOOT[1], HORSE[0]],
        [GUNS[0], GUNS[1], FOOT[0], FOOT[1]],
        [FOOT[0], "wild"],
        [FOOT[0], FOOT[1]],
    ],
)
def test_5_1_no_set_no_question(hand):
    game = position("classic", "Alaska 9", "Kamchatka 9, Japan 9", "rest", hand_1=cards(*hand))
    assert in_phase(to_next_turn(game), Phase.DRAFT, 1)


def test_5_1_only_picks_that_can_still_become_a_set():
    game = play(trading(FOOT[0], FOOT[1], FOOT[2], HORSE[0]), f"card {FOOT[0]}")
    assert set(legal(game)) == {f"card {FOOT[1]}", f"card {FOOT[2]}"}
    refused(game, "done", f"card {HORSE[0]}", f"card {FOOT[0]}")


@pytest.mark.parametrize(
    ("set_values", "worth"),
    [
        ("escalating", [4, 6, 8, 10, 12, 15, 20, 25, 30, 35]),
        ("by_one", [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
    ],
)
def test_5_2_the_worth_of_a_set(set_values, worth):
    for traded, troops in enumerate(worth):
        game = trading(*FOOT[:3], rules=f"preset=classic, set_values={set_values}", sets_traded=traded)
        assert to_draft(trade(game, *FOOT[:3])) == 3 + troops


def test_5_2_counted_over_all_players():
    hands = {"hand_0": cards(*FOOT[:3]), "hand_1": cards(*HORSE[3:6])}
    game = position("classic", *OPENING, phase="trade", **hands)
    to_next_turn(place_all(trade(game, *FOOT[:3])))
    before = to_draft(game)
    assert to_draft(trade(game, *HORSE[3:6])) == before + 6


FIXED = "preset=classic, set_values=fixed"
FIXED_WORTHS = "4 troops for three infantry, 6 for three cavalry, 8 for three artillery, 10 for one of each"


@pytest.mark.parametrize("traded", [0, 1, 9])
@pytest.mark.parametrize(
    ("hand", "troops"),
    [
        (FOOT[:3], 4),
        (HORSE[:3], 6),
        (GUNS[:3], 8),
        ([FOOT[0], HORSE[0], GUNS[0]], 10),
        ([FOOT[0], FOOT[1], "wild"], 4),
        ([HORSE[0], HORSE[1], "wild"], 6),
        ([GUNS[0], GUNS[1], "wild"], 8),
        ([FOOT[0], HORSE[0], "wild"], 10),
        ([FOOT[0], GUNS[0], "wild"], 10),
        ([HORSE[0], GUNS[0], "wild"], 10),
        ([FOOT[0], "wild", "wild"], 10),
        ([HORSE[0], "wild", "wild"], 10),
        ([GUNS[0], "wild", "wild"], 10),
    ],
)
def test_5_2_a_fixed_set_is_priced_by_its_cards_whatever_was_traded_before(hand, troops, traded):
    game = trade(trading(*hand, rules=FIXED, sets_traded=traded), *hand)
    assert to_draft(game) == 3 + troops
    symbols = dict(zip(CLASSIC.territories, CLASSIC.symbols, strict=True)) | {"wild": "wild"}
    assert fixed_value(symbols[card] for card in hand) == troops


def test_5_2_of_fixed_sets_the_player_chooses_by_the_cards():
    six = [*FOOT[:2], HORSE[0], *GUNS[:2], "wild"]
    assert to_draft(trade(trading(*six, rules=FIXED), *GUNS[:2], "wild")) == 3 + 8
    game = trade(trading(*six, rules=FIXED), FOOT[0], HORSE[0], GUNS[0])
    assert to_draft(trade(game, FOOT[1], GUNS[1], "wild")) == 3 + 10 + 10


def test_5_2_fixed_sets_are_counted():
    game = trade(trading(*FOOT[:3], rules=FIXED, sets_traded=6), *FOOT[:3])
    assert game.public().sets_traded == 7


def test_5_2_what_is_shown_of_the_next_fixed_set_is_the_most_and_tells_nothing_of_hands():
    first, second = (trading(*hand, rules=FIXED) for hand in (FOOT[:3], GUNS[:3]))
    assert first.public() == second.public()
    assert first.public().next_set == 10
    seen = first.observe_codes(1)
    assert (seen == second.observe_codes(1)).all()
    assert seen[TERRITORY_WIDTH * CLASSIC.num_territories + BLOCK.next_set] == 10


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("classic", "is worth 6 troops."),
        (FIXED, f"is worth {FIXED_WORTHS}."),
    ],
)
def test_5_2_a_person_is_told_what_a_set_is_worth(rules, told):
    view, words = View(trading(*FOOT[:3], rules=rules, sets_traded=1)), Words(("A", "B", "C"), CLASSIC)
    assert f"The set {told}" in question(view, words)
    assert board_lines(view, words, 100, False)[-1] == f"The next set of cards {told}"


def test_5_2_fixed_sets_need_symbols():
    with pytest.raises(ValueError, match="set_values='fixed' needs deck='symbol'"):
        Rules.preset("command_room", set_values="fixed")


@whole_games
@pytest.mark.parametrize("seeds", [(0, 1), pytest.param((2, 3), marks=pytest.mark.long)])
@pytest.mark.parametrize("preset", ["world_domination", "classic", "two_player", "capital", "secret_mission"])
def test_5_2_games_with_fixed_sets_agree_with_the_slow_reference(preset, seeds, monkeypatch):
    monkeypatch.setattr(test_reference, "random_rules", partial(random_rules, set_values="fixed"))
    for seed in seeds:
        test_reference.compare(preset, seed, board=CLASSIC)


def test_5_3_with_five_cards_a_set_must_be_traded():
    five = [*FOOT[:3], *HORSE[:2]]
    game = trading(*five)
    refused(game, "done")
    trade(game, *FOOT[:3])
    assert in_phase(game, Phase.DRAFT, 0)


def test_5_3_with_four_it_may_be():
    game = trading(*FOOT[:3], HORSE[0])
    assert in_phase(play(game, "done"), Phase.DRAFT, 0)
    assert len(game.hand(0)) == 4


def test_5_3_only_the_first_is_forced_a_second_may_be_traded():
    game = trade(trading(*FOOT[:3], *HORSE[:3]), *FOOT[:3])
    assert in_phase(game, Phase.TRADE, 0)
    declined = play(game.copy(), "done")
    assert (to_draft(declined), len(declined.hand(0))) == (3 + 4, 3)
    trade(game, *HORSE[:3])
    assert (to_draft(game), len(game.hand(0))) == (3 + 4 + 6, 0)


def test_5_3_any_five_cards_hold_a_set():
    kinds = {"infantry": FOOT, "cavalry": HORSE, "artillery": GUNS, "wild": ["wild", "wild"]}
    for hand in combinations_with_replacement(kinds, 5):
        wanted = Counter(hand)
        if wanted["wild"] <= 2:
            names = [name for kind, number in wanted.items() for name in kinds[kind][:number]]
            game = trading(*names)
            assert in_phase(game, Phase.TRADE, 0)
            refused(game, "done")


def bonus_game():
    """Return a game in which seat 0 holds Alaska and Alberta, both infantry, with the cards of both."""
    hand = cards("Alaska", "Alberta", FOOT[0])
    return position("classic", "Alaska 9, Alberta 9", *OPENING[1:], phase="trade", hand_0=hand)


def test_5_4_an_occupied_territory_gets_two_extra_at_once():
    game = position(
        "classic", "Alaska 9, Brazil 9", *OPENING[1:], phase="trade", hand_0=cards("Alaska", FOOT[0], FOOT[1])
    )
    trade(game, "Alaska", FOOT[0], FOOT[1])
    assert troops_on(game, "Alaska") == [11]
    assert to_draft(game) == 3 + 4


def test_5_4_with_several_the_player_chooses_and_cannot_decline():
    game = trade(bonus_game(), "Alaska", "Alberta", FOOT[0])
    assert legal(game) == ["bonus Alaska", "bonus Alberta"]
    play(game, "bonus Alberta")
    assert troops_on(game, "Alaska", "Alberta") == [9, 11]


def test_5_4_a_card_of_somebody_else_s_territory_gives_nothing():
    game = trade(trading(*FOOT[:3]), *FOOT[:3])
    assert int(game.troops.sum()) == 42 * 9


@pytest.mark.parametrize(("option", "troops"), [("once_a_turn", [11, 9]), ("once_a_set", [11, 11])])
def test_5_4_once_a_turn_or_once_a_set(option, troops):
    second = [HORSE[0], HORSE[1], "Kamchatka"]
    army = "Alaska 9, Alberta 9, Kamchatka 9"
    rules = f"preset=classic, occupied_bonus={option}"
    hand = cards("Alaska", FOOT[0], FOOT[1], *second)
    game = position(rules, army, "Japan 9", "rest 9", phase="trade", hand_0=hand)
    trade(game, "Alaska", FOOT[0], FOOT[1])
    trade(game, *second)
    assert troops_on(game, "Alaska", "Kamchatka") == troops
    assert to_draft(game) == 3 + 4 + 6


@pytest.mark.parametrize(("rules", "paid"), [("world_domination", False), ("classic", True)])
def test_5_4_the_trades_after_an_elimination_are_of_the_same_turn(rules, paid):
    """The extra troops of this turn are already paid. If they are due once a turn, no more follow."""
    before = {"sets_traded": 1, "set_traded": "yes", "bonus_paid": "yes", "discard": cards(*GUNS[:3])}
    hands = {"hand_0": cards("Alaska", INFANTRY[5], INFANTRY[6]), "hand_1": cards(*HORSE[:3])}
    game = position(rules, f"Alaska {LOTS}, Peru 2", "Kamchatka", "rest", **before, **hands)
    play(game, "attack Alaska > Kamchatka", "blitz", "done")
    alaska = troops_on(game, "Alaska")[0]
    trade(game, "Alaska", INFANTRY[5], INFANTRY[6])
    assert troops_on(game, "Alaska") == [alaska + 2 * paid]


def test_5_5_traded_cards_go_to_the_discard_pile():
    game = trade(trading(*FOOT[:2], "wild"), *FOOT[:2], "wild")
    assert (
        "discard: " + ", ".join(sorted(FOOT[:2], key=CLASSIC.territories.index)) + ", wild" in game.to_text()
    )


# ---------------------------------------------------------------------------------------------- 6 two players


DUEL = ("Alaska 9, Alberta 9", "Kamchatka 9, Brazil 9", "rest 2")  # the third army is the neutral one


def test_6_1_three_piles_of_fourteen_and_forty_troops_each():
    game = Game("two_player", seed=5)
    assert [int((game.owner == army).sum()) for army in range(3)] == [14, 14, 14]
    set_up_at_random(game)
    assert [int(game.troops[game.owner == army].sum()) for army in range(3)] == [40, 40, 40]


def test_6_1_two_own_troops_at_a_time_then_neutral_ones_in_turn():
    game = Game("two_player", seed=5)
    starter, other = game.turn, 1 - game.turn
    while in_phase(game, Phase.DEPLOY):
        play(game, legal(game)[0])
    own = seats_of(game, "deploy")
    assert own == [seat for _ in range(13) for seat in (starter, starter, other, other)]
    assert in_phase(game, Phase.DEPLOY_NEUTRAL, starter)
    assert all(owner_of(game, text.removeprefix("deploy ")) == 2 for text in legal(game))
    set_up_at_random(game)
    assert seats_of(game, "deploy")[52:] == [starter, other] * 13
    assert game.turn == starter


def test_6_1_a_last_odd_troop_alone():
    game = Game(Rules.preset("two_player", initial_troops=41), seed=5)
    starter, other = game.turn, 1 - game.turn
    while in_phase(game, Phase.DEPLOY):
        play(game, legal(game)[0])
    assert seats_of(game, "deploy")[-4:] == [other, other, starter, other]


def test_6_1_the_two_troops_may_stand_on_one_or_two_territories():
    game = Game("two_player", seed=5)
    first = legal(game)[0]
    assert first in legal(play(game, first))


def test_6_2_the_neutral_army_never_acts():
    rng = random.Random(3)
    for game in play_at_random(Game(Rules.preset("two_player", setup="random"), seed=6), rng, 400):
        assert game.seat in (-1, 0, 1) and game.turn in (0, 1)


@pytest.mark.parametrize("turn", [0, 1])
def test_6_2_the_attacker_s_opponent_rolls_for_the_neutral_army(turn):
    way = ("Alaska > Northwest Territory", "Brazil > Peru")[turn]
    game = play(position("two_player", *DUEL, turn=turn), f"attack {way}", "dice 2")
    assert in_phase(game, Phase.DEFEND, 1 - turn)
    assert legal(game) == ["defend 1", "defend 2"]


def test_6_2_a_neutral_territory_earns_a_card():
    game = position("two_player", f"Alaska {LOTS}, Alberta 9", *DUEL[1:])
    play(game, "attack Alaska > Northwest Territory", "blitz", "done")
    assert len(to_next_turn(game).hand(0)) == 1


def test_6_3_neutral_territories_need_not_fall():
    game = position("two_player", f"Alaska {LOTS}, Alberta 9", "Kamchatka", "rest 2")
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert (game.is_over, game.winner) == (True, 0)


def test_6_4_a_plain_duel_is_dealt_and_has_no_neutral_army():
    game = Game(Rules.preset("classic", num_players=2), seed=1)
    starter = game.turn
    assert [int((game.owner == army).sum()) for army in range(2)] == [21, 21]
    play(game, legal(game)[0])
    assert in_phase(game, Phase.DEPLOY, 1 - starter)  # one troop at a time
    set_up_at_random(game)
    assert [int(game.troops[game.owner == army].sum()) for army in range(2)] == [40, 40]


# ------------------------------------------------------------------------------------------------ 7 capital


HQ = {"headquarters_0": "Alaska", "headquarters_1": "Kamchatka", "headquarters_2": "Brazil"}


def to_headquarters(seed=3):
    """Return a game of Capital before the choice of the first headquarters."""
    game = Game("capital", seed=seed)
    rng = random.Random(seed)
    while not in_phase(game, Phase.HEADQUARTERS):
        game.step(rng.choice(game.legal_actions().tolist()))
    return game


def test_7_1_secret_until_the_last_has_picked():
    game = to_headquarters()
    starter = game.turn
    others = [(starter + 1) % 3, (starter + 2) % 3]
    picked = [play(game.copy(), text) for text in legal(game)[:2]]
    for seat in others:
        assert picked[0].observe(seat).tolist() == picked[1].observe(seat).tolist()
        assert str(picked[0]) == str(picked[1])
    assert picked[0].observe(starter).tolist() != picked[1].observe(starter).tolist()
    for future in picked:
        for _ in others:
            play(future, legal(future)[0])
    assert picked[0].observe(others[0]).tolist() != picked[1].observe(others[0]).tolist()


def test_7_1_any_own_territory_and_in_turn():
    game = to_headquarters()
    starter = game.turn
    for place in range(3):
        seat = (starter + place) % 3
        assert in_phase(game, Phase.HEADQUARTERS, seat)
        assert game.public().deck == 44 - place  # each pick removes a card at once
        assert [owner_of(game, text.removeprefix("headquarters ")) for text in legal(game)] == [seat] * len(
            legal(game)
        )
        play(game, legal(game)[0])
    assert game.round == 1


@pytest.mark.parametrize("players", [3, 4, 6])
def test_7_1_the_deck_has_forty_four_cards_less_the_players(players):
    game = Game(Rules.preset("capital", num_players=players, setup="random"), seed=1)
    deck = bin(int(game.record.deck[0])).count("1") + int(game.record.deck_wilds)
    assert deck == 44 - players


def test_7_1_its_card_is_never_drawn():
    hands = cards(
        *(name for name in CLASSIC.territories if name not in ("Alaska", "Kamchatka", "Brazil")),
        "wild",
        "wild",
    )
    lines = {**HQ, "hand_1": hands, "held_at_start": "Alaska", "captured": "yes"}
    game = to_next_turn(position("capital", "Alaska 9, Alberta 9", "Kamchatka 9", "rest", **lines))
    assert len(game.hand(0)) == 0


def test_7_2_losing_one_s_headquarters_does_not_eliminate():
    game = position("capital", f"Alaska {LOTS}", "Kamchatka, Japan 9", "rest", **HQ)
    play(game, "attack Alaska > Kamchatka", "blitz", "done")
    assert game.alive.tolist() == [True, True, True] and not game.is_over


def test_7_3_all_headquarters_win_at_once():
    game = position("capital", f"Alaska {LOTS}, Brazil 2", "Kamchatka, Japan 9", "rest", **HQ)
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert (game.is_over, game.winner) == (True, 0)


def test_7_3_the_own_headquarters_must_be_held():
    lines = {**HQ, "headquarters_0": "Peru"}
    game = position("capital", f"Alaska {LOTS}, Brazil 2", "Kamchatka, Japan 9", "rest", **lines)
    assert not play(game, "attack Alaska > Kamchatka", "blitz").is_over


def test_7_3_retaking_the_own_headquarters_wins():
    game = position("capital", f"Alberta {LOTS}, Brazil 2, Kamchatka 2", "Alaska, Japan 9", "rest", **HQ)
    assert play(game, "attack Alberta > Alaska", "blitz").winner == 0


@pytest.mark.parametrize(("needed", "over"), [(1, True), (2, True), (3, False)])
def test_7_3_the_shorter_game(needed, over):
    lines = {**HQ, "headquarters_3": "Egypt"}
    rules = f"preset=capital, num_players=4, headquarters_to_win={needed}"
    game = position(rules, f"Alaska {LOTS}, Brazil 2", "Kamchatka, Japan 9", "Peru 9", "rest", **lines)
    assert play(game, "attack Alaska > Kamchatka", "blitz").is_over == over


def test_7_2_headquarters_of_the_eliminated_count():
    game = position("capital", f"Alaska {LOTS}, Brazil 2", "Kamchatka", "rest", **HQ)
    assert play(game, "attack Alaska > Kamchatka", "blitz").winner == 0


# ------------------------------------------------------------------------------------------- 8 secret mission


def missions(*numbers):
    """Return each seat's mission.

    0-3: continents; 4: 24 territories; 5: 18 with two troops; 6-11: destroy seat 0-5.
    """
    return {f"mission_{seat}": number for seat, number in enumerate(numbers)}


FOUR = "preset=secret_mission, num_players=4"
DESTROY = 6  # the mission to destroy seat 0; the next ones name the next seats


@pytest.mark.parametrize("players", [3, 4, 6])
def test_8_1_missions_of_unused_colours_are_removed(players):
    seen = set()
    for seed in range(40):
        game = Game(Rules.preset("secret_mission", num_players=players), seed=seed)
        dealt = game.record.mission[:players].tolist()
        assert len(set(dealt)) == players
        seen |= set(dealt)
    assert seen == {0, 1, 2, 3, 4, 5, *range(DESTROY, DESTROY + players)}


def test_8_2_destroying_the_own_target_wins():
    game = position(FOUR, f"Alaska {LOTS}", "Kamchatka", "Brazil 9", "rest", **missions(DESTROY + 1, 0, 1, 2))
    assert play(game, "attack Alaska > Kamchatka", "blitz").winner == 0


def test_8_2_another_player_destroying_your_target_fulfils_yours():
    game = position(FOUR, f"Alaska {LOTS}", "Kamchatka", "Brazil 9", "rest", **missions(0, 1, DESTROY + 1, 2))
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert (game.is_over, game.winner, game.turn) == (True, 2, 0)


def test_8_2_the_dead_fulfil_nothing():
    """Seat 1, whose mission is to destroy seat 2, is already eliminated when seat 2 is destroyed."""
    game = position(FOUR, f"Alaska {LOTS}", "", "Kamchatka", "rest", **missions(0, DESTROY + 2, 1, 2))
    assert not play(game, "attack Alaska > Kamchatka", "blitz").is_over


def test_8_2_if_one_action_fulfils_several_the_player_in_turn_wins():
    army = places("North America, Africa", "Northwest Territory")
    lines = missions(2, 0, DESTROY + 1, 3)  # seat 0: North America and Africa, seat 2: destroy seat 1
    game = position(FOUR, army + f", Alaska {LOTS}", "Northwest Territory", "Brazil 9", "rest", **lines)
    assert play(game, "attack Alaska > Northwest Territory", "blitz").winner == 0


def test_8_2_then_clockwise():
    """Seat 1 eliminates seat 3, which is the mission of seat 0. Seat 2 already has its 24 territories."""
    lines = missions(DESTROY + 3, 0, 4, 1)
    army = places("Asia, Africa, Europe", "Kamchatka")
    game = position(FOUR, "Brazil 9", f"rest, Alaska {LOTS}", army, "Kamchatka", turn=1, **lines)
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert game.winner == 2  # clockwise from seat 1: seats 2, 3 (gone), 0


def test_8_2_judged_after_the_draft():
    """The last troop placed makes the eighteenth territory with two."""
    names = scattered(18).split(", ")
    army = ", ".join([*(f"{name} 2" for name in names[:17]), names[17]])
    game = position("secret_mission", army, "Kamchatka 9", "rest", phase="draft", **missions(5, 0, 1))
    play(game, f"draft {names[17]}", "troops 1")
    assert not game.is_over  # troops are left to place
    assert play(game, f"draft {names[0]}", "troops all").winner == 0


def test_8_2_judged_after_a_capture():
    names = [name for name in scattered(18).split(", ") if name not in ("Alberta", "Ontario")]
    army = ", ".join(f"{name} 2" for name in names)
    game = position(
        "secret_mission", f"{army}, Alberta {LOTS}", "Ontario, Kamchatka 9", "rest", **missions(5, 0, 1)
    )
    play(game, "attack Alberta > Ontario", "blitz")
    assert (game.is_over, game.winner) == (True, 0)  # three have moved in: it is the eighteenth with two


def test_8_2_judged_after_an_occupation_that_moves_the_missing_troops():
    names = [name for name in scattered(19).split(", ") if name not in ("Alberta", "Ontario")]
    army = ", ".join(f"{name} 2" for name in names[:16])
    start = f"{army}, Alberta 9"
    game = position("secret_mission", start, "Ontario, Kamchatka 9", "rest", **missions(5, 0, 1))
    way = ["attack Alberta > Ontario", "dice 1"]
    game = made_to_order(game, way, lambda g: owner_of(g, "Ontario") == 0)
    assert troops_on(game, "Ontario") == [1] and not game.is_over
    assert play(game, "occupy 1").is_over is False  # the question is still open
    assert play(game, "done").winner == 0


def test_8_2_judged_after_a_fortify():
    names = places("Europe, Africa, South America").split(", ")[:16]
    army = ", ".join([*(f"{name} 2" for name in names), "Alaska 3, Alberta 1"])
    game = play(position("secret_mission", army, "Kamchatka 9", "rest", **missions(5, 0, 1)), "done")
    assert not game.is_over
    assert play(game, "from Alaska", "move 1", "done").winner == 0


def test_8_2_judged_before_any_forced_trade():
    hands = {"hand_0": cards(*FOOT[:3]), "hand_1": cards(*HORSE[:3])}
    game = position(
        FOUR, f"Alaska {LOTS}", "Kamchatka", "Brazil 9", "rest", **missions(DESTROY + 1, 0, 1, 2), **hands
    )
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert (game.winner, len(game.hand(0))) == (0, 6)


@pytest.mark.parametrize(("lost", "over"), [("Egypt", True), ("Egypt, Iceland", False)])
def test_8_3_to_destroy_oneself_means_twenty_four_territories(lost, over):
    army = places("Asia, Africa, Europe", f"Kamchatka, {lost}") + f", Yakutsk {LOTS}"
    game = position("secret_mission", army, "Kamchatka, Peru 9", "rest", **missions(DESTROY, 0, 4))
    play(game, "attack Yakutsk > Kamchatka", "blitz")
    assert int((game.owner == 0).sum()) == 24 - (not over)
    assert game.is_over == over


def test_8_3_every_territory_wins_whatever_the_missions():
    game = position(
        "secret_mission", f"rest 2, Alaska {LOTS}", "Kamchatka", "", **missions(DESTROY + 2, 0, 1)
    )
    assert play(game, "attack Alaska > Kamchatka", "blitz").winner == 0


@pytest.mark.parametrize(
    ("number", "army"),
    [
        (0, "Asia, South America"),
        (1, "Asia, Africa"),
        (2, "North America, Africa"),
        (3, "North America, Australia"),
    ],
)
def test_8_2_two_continents(number, army):
    others = [other for other in (0, 1, 2, 3) if other != number]
    last = places(army).split(", ")[-1]
    rest = places(army, last)
    source = next(
        CLASSIC.territories[t]
        for t in CLASSIC.targets(CLASSIC.territory(last))
        if CLASSIC.territories[t] in rest.split(", ")
    )
    free = "Iceland 9" if "Europe" not in army else "Peru 9"
    lines = missions(number, others[0], others[1])
    game = position("secret_mission", f"{rest}, {source} {LOTS}", f"{last}, {free}", "rest", **lines)
    assert play(game, f"attack {source} > {last}", "blitz").winner == 0


# --------------------------------------------------------------------------------------------- 10 for experts


LIMIT = "preset=world_domination, max_troops=12"


def test_10_3_no_territory_holds_more_than_the_limit():
    game = position(LIMIT, "Alaska 12, Alberta 11", "Kamchatka 9", "rest", phase="draft")
    # three troops were due, Alberta was the only one with room, for one of them: two are lost
    assert troops_on(game, "Alaska", "Alberta") == [12, 12]
    assert in_phase(game, Phase.ATTACK, 0)


def test_10_3_amounts_are_capped_by_the_room():
    game = position(LIMIT, "Alaska 10, Alberta 11, Ontario 12", "Kamchatka 9", "rest", phase="draft")
    assert legal(game) == ["draft Alaska", "draft Alberta"]
    assert legal(play(game, "draft Alaska")) == ["troops 1", "troops all"]
    assert troops_on(play(game, "troops all"), "Alaska") == [12]


def test_10_3_an_occupation_stops_at_the_limit():
    rules = "preset=world_domination, max_troops=12"
    for game in futures(position(rules, "Alaska 12", "Kamchatka 1, Japan 9", "rest"), 20):
        play(game, "attack Alaska > Kamchatka", "blitz")
        if in_phase(game, Phase.OCCUPY, 0):
            play(game, "occupy all")
            assert max(troops_on(game, "Alaska", "Kamchatka")) <= 12


def test_10_3_a_fortify_move_stops_at_the_limit():
    game = play(position(LIMIT, "Alaska 9, Alberta 8, Ontario 12", "Kamchatka 9", "rest"), "done")
    play(game, "from Alaska", "move all")  # to Alberta, which has room for four
    assert troops_on(game, "Alaska", "Alberta") == [5, 12]


def test_10_3_no_fortify_to_a_full_territory():
    game = play(position(LIMIT, "Alaska 9, Alberta 12, Ontario 5", "Kamchatka 9", "rest"), "done")
    refused(game, "from Alaska")


def test_10_3_bonus_troops_beyond_the_room_are_lost():
    rules = "preset=world_domination, max_troops=12"
    game = position(
        rules,
        "Alaska 11, Alberta 12, Brazil 2",
        *OPENING[1:],
        phase="trade",
        hand_0=cards("Alaska", "Alberta", FOOT[0]),
    )
    trade(game, "Alaska", "Alberta", FOOT[0])  # only a territory with room can be chosen
    assert troops_on(game, "Alaska", "Alberta") == [12, 12]
    assert bool(game.record.bonus_paid)


def test_10_3_a_bonus_without_any_room_is_none():
    game = position(
        LIMIT,
        "Alaska 12, Alberta 12, Brazil 2",
        *OPENING[1:],
        phase="trade",
        hand_0=cards("Alaska", "Alberta", FOOT[0]),
    )
    trade(game, "Alaska", "Alberta", FOOT[0])
    assert not game.record.bonus_paid


def test_10_3_in_set_up_too():
    game = set_up_at_random(Game(Rules.preset("two_player", max_troops=4), seed=1))
    assert game.troops.max() <= 4


# -------------------------------------------------------------------------------------------- 1.5 the ceiling


FREE_MOVES = "preset=world_domination, fortify=free"


def test_1_5_a_full_territory_is_not_offered_for_drafting():
    full = f"Alaska {MOST_TROOPS}, Alberta {MOST_TROOPS - 1}"
    game = position("world_domination", full, "Kamchatka 9", "rest", phase="draft")
    # three troops were due, Alberta was the only one with room, for one of them: two are lost
    assert troops_on(game, "Alaska", "Alberta") == [MOST_TROOPS, MOST_TROOPS]
    assert in_phase(game, Phase.ATTACK, 0)


def test_1_5_amounts_are_capped_by_the_ceiling():
    armies = f"Alaska {MOST_TROOPS}, Alberta {MOST_TROOPS - 2}, Ontario 1"
    game = position("world_domination", armies, "Kamchatka 9", "rest", phase="draft")
    assert legal(game) == ["draft Alberta", "draft Ontario"]
    assert legal(play(game, "draft Alberta")) == ["troops 1", "troops all"]
    assert most_troops(game.public(), None) == 2
    assert troops_on(play(game, "troops all"), "Alberta") == [MOST_TROOPS]


@pytest.mark.parametrize("rules", ["world_domination", "classic", FREE_MOVES])
def test_1_5_no_move_ends_on_a_full_territory(rules):
    game = play(position(rules, f"Alaska 9, Alberta {MOST_TROOPS}", "Kamchatka 9", "rest"), "done")
    assert legal(game) == ["from Alberta", "done"]
    play(game, "from Alberta", "move all")
    assert troops_on(game, "Alaska", "Alberta") == [MOST_TROOPS, 9]


def test_1_5_bonus_troops_stop_at_the_ceiling():
    armies = f"Alaska {MOST_TROOPS - 1}, Alberta {MOST_TROOPS}, Brazil 2"
    hand = cards("Alaska", "Alberta", FOOT[0])
    game = position("world_domination", armies, *OPENING[1:], phase="trade", hand_0=hand)
    trade(game, "Alaska", "Alberta", FOOT[0])
    assert troops_on(game, "Alaska", "Alberta") == [MOST_TROOPS, MOST_TROOPS]


def test_1_5_no_more_than_the_ceiling_is_to_be_placed():
    hand = cards("Alaska", "Alberta", FOOT[0])
    lines = {"hand_0": hand, "draft_left": MOST_TROOPS - 3, "sets_traded": 2**30}
    game = position("world_domination", "Alaska 3, Alberta, Brazil 2", *OPENING[1:], phase="trade", **lines)
    assert game.public().next_set == MOST_TROOPS
    trade(game, "Alaska", "Alberta", FOOT[0])
    assert game.public().draft_left == MOST_TROOPS


@pytest.mark.parametrize("rules", ["classic", FREE_MOVES, "preset=classic, attack=blitz, defender_dice=max"])
def test_1_5_a_game_of_full_territories_always_goes_on(rules):
    game = position(rules, f"Alaska {MOST_TROOPS}, Alberta {MOST_TROOPS}", "Kamchatka 9, Japan 9", "rest")
    for now in play_at_random(game, random.Random(3), 600):
        assert now.is_over or len(now.legal_actions())
        assert now.troops.max() <= MOST_TROOPS
        assert Game.from_bytes(now.to_bytes()) == now


def test_1_5_every_set_up_that_the_rules_allow_can_be_saved(kernel_mode):
    with pytest.raises(
        ValueError, match="initial_troops=32769: must be None or a whole number from 1 to 32768"
    ):
        Rules.preset("classic", initial_troops=32_769)
    with pytest.raises(
        ValueError, match=f"max_troops=262145: must be None or a whole number from 2 to {MOST_TROOPS}"
    ):
        Rules.preset("classic", max_troops=MOST_TROOPS + 1)
    most = 1_000 if kernel_mode == "interpreted" else 32_768
    for setup in ("claim", "random"):
        game = Game(Rules.preset("classic", 6, setup=setup, initial_troops=most), seed=1)
        assert Game.from_bytes(game.to_bytes()) == game


EXPERT = "preset=classic, card_reroll=True, commander=True"
REROLL = "preset=classic, card_reroll=True"
COMMANDER = "preset=classic, commander=True"
WAY = ["attack Alaska > Kamchatka", "dice 3", "defend 2"]


def dice_like(attack):
    """Return True if the attacker rolled these dice."""
    return lambda game: rolled(game)[0] == attack


@pytest.mark.parametrize("card", ["Alaska", "Kamchatka"])
def test_10_4_the_card_of_either_territory_lets_one_die_be_rolled_again(card):
    game = made_to_order(position(REROLL, *OPENING, hand_0=card), WAY, dice_like([5, 5, 2]))
    assert in_phase(game, Phase.REROLL, 0)
    assert set(legal(game)) == {"reroll 2", "reroll 5", "done"}
    play(game, "reroll 5")
    again = int(game.log[-1].removeprefix("chance: reroll "))
    assert battle(game).attacker_dice == tuple(sorted([5, 2, again], reverse=True))
    assert battle(game).defender_dice == tuple(rolled(game)[1])  # not for defenders


def test_10_4_once_a_roll_and_the_card_is_kept_and_public():
    game = play(position(REROLL, *OPENING, hand_0="Alaska, Kamchatka"), *WAY)
    hidden = [game.determinize(1, seed).hand(0) for seed in range(8)]
    play(game, legal(game)[-1])
    assert not in_phase(game, Phase.REROLL)
    assert game.hand(0) == ("Alaska", "Kamchatka")
    assert "shown: Alaska\n" in game.to_text()  # the attacking territory's, if both are held
    assert all("Alaska" in game.determinize(1, seed).hand(0) for seed in range(8))
    assert any("Alaska" not in hand for hand in hidden)


def test_10_4_it_may_serve_again_in_the_next_roll():
    game = position(REROLL, *OPENING, hand_0="Alaska")
    for _ in range(2):
        play(game, *WAY)
        assert in_phase(game, Phase.REROLL, 0)
        play(game, legal(game)[-1])


def test_10_4_a_shown_card_is_public_when_another_seat_holds_it():
    lines = {"hand_1": "Peru, Japan", "shown": "Peru"}
    game = position(REROLL, f"Alaska {LOTS}", "Kamchatka", "rest", **lines)
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert all("Peru" in game.determinize(2, seed).hand(0) for seed in range(8))


def test_10_4_not_with_other_cards_nor_for_defenders():
    assert not in_phase(
        play(position(REROLL, *OPENING, hand_0="Peru", hand_1="Kamchatka"), *WAY), Phase.REROLL
    )


def test_10_5_one_die_may_be_turned_to_six_once_a_turn():
    game = made_to_order(position(COMMANDER, *OPENING), WAY, dice_like([6, 4, 1]))
    assert set(legal(game)) == {"commander 1", "commander 4", "done"}
    play(game, "commander 4")
    assert battle(game).attacker_dice == (6, 6, 1)
    assert not in_phase(play(game, *WAY), Phase.COMMANDER)


def test_10_5_declined_it_may_be_used_later_in_the_turn():
    game = made_to_order(position(COMMANDER, *OPENING), WAY, lambda g: max(rolled(g)[0]) < 6)
    game = play(game, "done", "attack Alberta > Ontario", "dice 1", "defend 1")
    assert in_phase(game, Phase.COMMANDER) or rolled(game)[0] == [6]


def test_10_5_all_sixes_ask_nothing():
    game = made_to_order(
        position(COMMANDER, *OPENING), ["attack Alaska > Kamchatka", "dice 1", "defend 1"], dice_like([6])
    )
    assert not in_phase(game, Phase.COMMANDER)


def test_10_6_re_roll_then_commander():
    game = made_to_order(position(EXPERT, *OPENING, hand_0="Alaska"), WAY, dice_like([5, 3, 2]))
    play(game, "reroll 2")
    again = int(game.log[-1].removeprefix("chance: reroll "))
    assert in_phase(game, Phase.COMMANDER, 0)
    play(game, "commander 3")  # a die re-rolled to three is as good as the other
    assert battle(game).attacker_dice == tuple(sorted([5, 6, again], reverse=True))


def test_10_6_a_blitz_uses_neither():
    for game in futures(position(EXPERT, *OPENING, hand_0="Alaska, Kamchatka"), 5):
        play(game, "attack Alaska > Kamchatka", "blitz")
        assert not game.is_over and game.phase in (Phase.ATTACK, Phase.OCCUPY)


def test_10_7_expert_turns_all_five_on():
    rules = Rules.preset("classic", expert=True)
    assert (rules.set_values, rules.fortify, rules.max_troops) == ("by_one", "free", 12)
    assert rules.card_reroll and rules.commander


# ------------------------------------------------------------------------------------------------ 11 the end


def round_ends(*armies, **lines):
    """Return a game of one round in which the last seat is about to end its turn."""
    return to_next_turn(position("preset=classic, num_players=4, max_rounds=1", *armies, turn=3, **lines))


def test_11_2_max_rounds_truncates():
    game = round_ends("Alaska 2", "Kamchatka 2", "Brazil 2", "rest")
    assert (game.is_over, game.truncated, game.winner) == (True, True, -1)
    assert legal(game) == []
    assert game.returns().tolist() == [0.0, 0.0, 0.0, 0.0]


def test_11_2_standings_by_territories_then_troops_equal_ones_share():
    game = round_ends("Alaska 5, Peru", "Kamchatka 3, Japan", "Brazil 9", "rest")
    assert game.placements().tolist() == [2, 3, 4, 1]
    game = round_ends("Alaska 4, Peru", "Kamchatka 3, Japan 2", "Brazil 9", "rest")
    assert game.placements().tolist() == [2, 2, 4, 1]


def test_11_2_the_dead_stand_last_the_last_to_fall_first():
    game = round_ends("", "Kamchatka 3", "", "rest", fallen="2, 0")
    assert game.placements().tolist() == [3, 2, 4, 1]
    assert game.returns().tolist() == pytest.approx([-1 / 3, 0.0, -1 / 3, 0.0])


def test_11_2_the_winner_is_first():
    game = position("classic", f"Alaska {LOTS}, rest", "Kamchatka", "", fallen="2")
    assert play(game, "attack Alaska > Kamchatka", "blitz").placements().tolist() == [1, 2, 3]


@pytest.mark.parametrize("starter", [0, 1, 2])
def test_11_2_a_round_ends_at_the_starter_s_place_whether_it_lives_or_not(starter):
    armies = ["Alaska 2, Alberta 2", "Kamchatka 2, Japan 2", "Peru 2, Brazil 2", "rest 2"]
    armies[starter] = ""
    turn = (starter - 1) % 4
    game = position("preset=classic, num_players=4", *armies, turn=turn, starter=starter)
    assert to_next_turn(game).round == 2
    assert game.turn == (starter + 1) % 4
    assert to_next_turn(place_all(game)).round == 2


def test_11_3_max_battles_per_turn_ends_the_attacks():
    game = position(
        "preset=classic, max_battles_per_turn=2", "Alaska 9, Alberta 9, Ontario 9", "Kamchatka 9", "rest 9"
    )
    for _ in range(2):
        assert in_phase(game, Phase.ATTACK, 0)
        play(game, "attack Alberta > Northwest Territory", "dice 1", "defend 1")
    assert in_phase(game, Phase.FORTIFY_FROM, 0)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_11_3_inside_a_blitz_too(limit):
    game = position(
        f"preset=classic, max_battles_per_turn={limit}", "Alaska 50, Alberta 50", "Kamchatka 50", "rest 9"
    )
    play(game, "attack Alaska > Kamchatka", "blitz")
    assert sum(line.startswith("chance: roll") for line in game.log) == limit
    assert in_phase(game, Phase.FORTIFY_FROM, 0)


def test_11_3_what_a_capture_asks_for_still_happens():
    game = position(
        "preset=classic, max_battles_per_turn=1", "Alaska 9, Alberta 9", "Kamchatka, Japan 9", "rest 9"
    )
    game = made_to_order(
        game, ["attack Alaska > Kamchatka", "dice 3"], lambda g: owner_of(g, "Kamchatka") == 0
    )
    assert in_phase(game, Phase.OCCUPY, 0)
    play(game, "occupy all")
    assert in_phase(game, Phase.FORTIFY_FROM, 0)
    assert len(game.hand(0)) == 1


# ------------------------------------------------------------------------------------------------ actions


DICE_PHASES = (Phase.ATTACK_DICE, Phase.DEFEND, Phase.REROLL, Phase.COMMANDER)


def outcomes(game):
    """Return the states after each legal action."""
    states = []
    for action in game.legal_actions().tolist():
        other = game.copy()
        other.step(action)
        states.append(other.to_bytes())
    return states


@whole_games
@pytest.mark.parametrize("preset", presets())
def test_two_actions_never_lead_to_the_same_state(preset):
    """All decisions are asked, including forced ones. Answers about dice are exceptions."""
    board = "classic" if preset == "basic_training" else "tiny"
    options = {} if board == "classic" else {"initial_troops": 8}
    rules, rng = Rules.preset(preset, max_rounds=8, **options), random.Random(preset)
    for seed in range(4):
        for game in play_at_random(Game(rules, board, seed=seed, ask_forced=True), rng, 120):
            if game.phase not in DICE_PHASES:
                states = outcomes(game)
                assert len(set(states)) == len(states), (game.phase.name, legal(game), game.to_text())


def perft(game, depth):
    """Return the number of sequences of `depth` legal actions, including forced ones."""
    actions = game.legal_actions().tolist()
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        other = game.copy()
        other.step(action)
        total += perft(other, depth - 1)
    return total


def naive_perft(reference, depth):
    """Return the same number by the reference implementation."""
    actions = reference.legal()
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        other = deepcopy(reference)
        other.step(action)
        total += naive_perft(other, depth - 1)
    return total


def reference_of(game):
    """Return the reference implementation in the same position, with the fields that these positions need."""
    chance = deque(["starter 0", "deal 0 0 1 1 2 2"] if game.rules.setup == "deal" else ["starter 0"])
    reference = Naive(game.rules, game.board, chance)
    record = game.record
    reference.phase, reference.turn, reference.round = game.phase.name, game.turn, game.round
    reference.owner, reference.troops = game.owner.tolist(), game.troops.tolist()
    reference.to_place = record.to_place[: game.num_players].tolist()
    names = [*game.board.territories, "wild"]
    reference.hands = [[names.index(card) for card in game.hand(seat)] for seat in range(game.num_players)]
    reference.deck = [card for card in reference.deck if not any(card in hand for hand in reference.hands)]
    reference.draft_left, reference.moves_left = int(record.draft_left), int(record.moves_left)
    reference.cards_at_start = len(reference.hands[game.turn])
    reference.held_at_start = set(reference.own(game.turn))
    return reference


WOODS = ("Ash 3, Birch 2, Cedar 2", "Dune 4, Ember 1", "Flint 5")
# name: (armies, lines, sequences of 1, 2, 3 actions). The test asks the reference implementation as well.
# Counted by hand:
# claim    6, 6 x 5, 6 x 5 x 4 free territories
# draft    3 places; 3 x 5 amounts of five troops; each of the 15 leaves 3 places, or (all placed) 2 attacks
#          and done
# attack   2 and done; one die each, 3 sources and done; 1 and 2 answers, 3 x 2 targets, 2 places of the next
#          draft
# trade    5 cards (2 infantry, 2 cavalry, Cedar); 4 x 3 and Cedar's 4; each of the 4 has 1 + 1 + 2, Cedar
#          4 x 2
# fortify  3 sources and done; 3 x 2 targets, the next draft's 2; 2 x 2 and 2 x 2 x 1 amounts, 2 x 3 of that
#          draft
PERFTS = {
    "claim": ((), {}, (6, 30, 120)),
    "draft": (WOODS, {"phase": "draft"}, (3, 15, 45)),
    "attack": (WOODS, {}, (3, 6, 11)),
    "trade": (WOODS, {"phase": "trade", "hand_0": "Ash, Birch, Cedar, Dune, Ember"}, (5, 16, 24)),
    "fortify": (WOODS, {"phase": "fortify from"}, (4, 8, 14)),
}


@pytest.mark.parametrize("name", PERFTS)
def test_numbers_of_legal_actions_to_depth_three(name):
    armies, lines, counts = PERFTS[name]
    if armies:
        game = tiny(*armies, ask_forced=True, **lines)
    else:
        game = Game(Rules.preset("classic", initial_troops=6), "tiny", seed=1, ask_forced=True)
    reference = reference_of(game)
    assert [perft(game, depth) for depth in (1, 2, 3)] == [
        naive_perft(reference, depth) for depth in (1, 2, 3)
    ]
    assert tuple(perft(game, depth) for depth in (1, 2, 3)) == counts

"""Checks of the game itself: small positions on a board of six territories in a ring, and made-up chance."""

import random
from collections import Counter, deque
from types import SimpleNamespace

import pytest

from tests import naive
from tests.naive import DONE, ChanceError, Naive

RING = tuple(sorted((t, (t + step) % 6) for t in range(6) for step in (1, 5)))
DEFAULTS = {
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
    "defender_dice": "max",
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
RANDOM = {"setup": "random", "initial_troops": 4}
OBJECTIVES_LINE = "objectives 0=2 1=3 4=0 5=1 6=4 8=6 10=5 11=7"
STAR = {"deck": "star", "capitals": True, "objectives": "random", "rewards": True, "victory": "objectives"}
WILD = 6


def mission(kind, **facts):
    blank = {"continents": (), "any_third": False, "territories": 0, "min_troops": 1, "target": -1}
    blank |= {"fallback_territories": 0, "extended": False}
    return SimpleNamespace(kind=kind, **(blank | facts))


def objective(kind, count=0, continent=-1, major=False, basic_training=False):
    return SimpleNamespace(
        kind=kind, count=count, continent=continent, major=major, basic_training=basic_training
    )


MISSIONS = (
    mission("continents", continents=(0,)),
    mission("continents", continents=(0,), any_third=True),
    mission("territories", territories=5),
    mission("territories", territories=3, min_troops=2),
    *(mission("destroy", target=seat, fallback_territories=4) for seat in range(6)),
    mission("continents", continents=(1,), extended=True),
)
OBJECTIVES = (
    objective("continent", continent=0, basic_training=True),
    objective("continent", continent=1, basic_training=True),
    objective("cities", count=3, basic_training=True),
    objective("enemy_capitals", count=1, basic_training=True),
    objective("cities_in_turn", count=2),
    objective("territories", count=4),
    objective("territories_in_turn", count=2, major=True, basic_training=True),
    objective("enemy_capitals", count=2, major=True, basic_training=True),
    objective("territories", count=5, major=True, basic_training=True),
    objective("continents", count=2, major=True, basic_training=True),
    objective("continent_in_turn", major=True),
    objective("cities", count=4, major=True),
)
BOARD = SimpleNamespace(
    territories=("Ash", "Birch", "Cedar", "Elm", "Fir grove", "Oak"),
    continents=("West", "East"),
    bonuses=(2, 3),
    continent_of=(0, 0, 0, 1, 1, 1),
    borders=RING,
    symbols=("infantry", "infantry", "cavalry", "cavalry", "artillery", "artillery"),
    num_wilds=2,
    stars=(1, 1, 1, 2, 2, 2),
    basic_training_cities=(0, 3, 4),
    random_cities=4,
    missions=MISSIONS,
    objectives=OBJECTIVES,
)


def charted(troops):
    """Return the board with a start chart for three players."""
    chart = SimpleNamespace(owner=(0, 1, 2, 0, 1, 2), troops=troops, capitals=(0, 1, 2))
    return SimpleNamespace(**vars(BOARD), chart={3: chart}.get)


def rules(**options):
    return SimpleNamespace(**(DEFAULTS | options))


class Position(Naive):
    """A game at a position of the test, without set-up."""

    def set_up(self):
        self.starter, self.round, self.neutral_to_place = 0, 1, 0
        self.to_place = [0 for _ in self.seats]


def position(owner, troops, hands=(), turn=0, **options):
    """Return a game in which seat `turn` begins its turn.

    `options` are rules, or fields of the game if it has such a field.
    """
    chosen = {name: value for name, value in options.items() if name in DEFAULTS and name != "missions"}
    game = Position(rules(**chosen), BOARD, deque())
    game.owner, game.troops = list(owner), list(troops)
    game.alive = [seat in owner for seat in game.seats]
    game.fallen = [seat for seat in game.seats if seat not in owner]
    for name in set(options) - set(chosen) | ({"capitals"} & set(options)):
        setattr(game, name, options[name])
    for seat, hand in enumerate(hands):
        game.hands[seat] = list(hand)
        game.deck = naive.minus(game.deck, list(hand))
    game.begin_turn(turn)
    return game


def attacking(*place, **options):
    """Return the same position after the draft."""
    game = position(*place, **options)
    game.draft_left, game.phase = 0, "ATTACK"
    return game


def star_position(owner, troops, capitals=(0, 1, 2), face_up=range(12), **options):
    """Return a 2008 game in which each objective o lies face up with reward o, if there is such a reward."""
    game = position(owner, troops, **({**STAR, "capitals": list(capitals)} | options))
    game.objective_holder = [naive.FACE_UP if o in face_up else naive.NOT_IN_PLAY for o in range(12)]
    game.objective_reward = [o if o < 8 else naive.NOBODY for o in range(12)]
    game.draft_left, game.phase = 0, "ATTACK"
    return game


def play(game, *answers, chance=()):
    """Play answers, with the chance lines queued before the first; all lines must be used up."""
    game.chance.extend(chance)
    for answer in answers:
        game.step(game.number[answer])
    assert not game.chance


def territory(t):
    return ("territory", t)


def border(source, target):
    return ("border", (source, target))


def amount(word):
    return ("amount", word)


def card(c):
    return ("card", c)


ALL, BLITZ = amount("all"), ("dice", "blitz")


def legal(game):
    return {game.meaning[action] for action in game.legal()}


# ---- numbers and facts


def test_action_numbers_follow_the_table():
    game = position([0, 0, 1, 1, 2, 2], [3] * 6, commander=True, objectives="fixed")
    assert game.number[territory(5)] == 5
    assert game.number[border(0, 1)] == 6
    assert game.number[border(0, 5)] == 7
    assert [game.number[("dice", d)] for d in (1, 2, 3, "blitz")] == [18, 19, 20, 21]
    assert [game.number[amount(k)] for k in (1, 50, "half", "all")] == [22, 36, 37, 38]
    assert [game.number[card(c)] for c in (0, WILD)] == [39, 45]
    assert game.number[DONE] == 46
    assert [game.number[("die", f)] for f in (1, 6)] == [47, 52]
    assert [game.number[("objective", o)] for o in (0, 11)] == [53, 64]
    assert len(game.meaning) == 65


def test_blocks_of_variants_are_there_only_where_used():
    assert len(position([0, 0, 1, 1, 2, 2], [3] * 6).meaning) == 47
    game = position([0, 0, 1, 1, 2, 2], [3] * 6, objectives="fixed")
    assert game.number[("objective", 0)] == 47


@pytest.mark.parametrize(
    ("available", "words"),
    [
        (1, ["all"]),
        (2, [1, "all"]),
        (7, [1, 2, 3, 4, 5, 6, "all"]),
        (14, [1, 2, 3, 4, 5, 6, 8, 10, 12, "half", "all"]),
    ],
)
def test_amounts(available, words):
    assert naive.amounts(available) == {amount(word) for word in words}
    assert naive.amount_meant("half", 15) == 7


@pytest.mark.parametrize(
    ("attack", "defence", "lost"),
    [([6, 5, 1], [5, 5], (1, 1)), ([5, 6], [6, 4], (1, 1)), ([3, 3, 3], [3], (1, 0)), ([6], [5, 5], (0, 1))],
)
def test_dice_are_compared_from_the_highest_down(attack, defence, lost):
    assert naive.losses(attack, defence) == lost  # the first is the example of RULES 3.2.3


def test_set_values():
    assert [naive.set_value("escalating", n) for n in range(9)] == [4, 6, 8, 10, 12, 15, 20, 25, 30]
    assert [naive.set_value("by_one", n) for n in range(4)] == [4, 5, 6, 7]


def test_sets():
    assert naive.is_set(["cavalry"] * 3)
    assert naive.is_set(["cavalry", "infantry", "artillery"])
    assert naive.is_set(["cavalry", "infantry", "wild"])
    assert naive.is_set(["wild", "infantry", "wild"])
    assert not naive.is_set(["cavalry", "cavalry", "artillery"])
    assert not naive.is_set(["cavalry", "wild"])


# ---- set-up


def test_claim_then_deploy_in_one_turn_order():
    game = Naive(rules(initial_troops=3), BOARD, deque(["starter 1"]))
    order = []
    for t in range(6):
        order.append(game.state()["seat"])
        play(game, territory(t))
    assert order == [1, 2, 0, 1, 2, 0]
    assert game.state()["phase"] == "DEPLOY" and game.state()["to_place"] == [1, 1, 1]
    assert legal(game) == {territory(0), territory(3)}
    play(game, territory(0), territory(1), territory(2))
    assert (game.phase, game.round, game.turn, game.draft_left) == ("DRAFT", 1, 1, 3)


def test_uneven_claim_leaves_the_last_troop_to_those_who_claimed_less():
    game = Naive(rules(num_players=4, initial_troops=2), BOARD, deque(["starter 0"]))
    play(game, *map(territory, range(6)))
    assert game.state()["to_place"] == [0, 0, 1, 1]
    assert (game.phase, game.turn) == ("DEPLOY", 2)
    play(game, territory(2), territory(3))
    assert game.phase == "DRAFT"


def test_a_player_with_none_left_to_place_is_skipped():
    options = {"setup": "deal", "num_players": 4, "initial_troops": 2}
    game = Naive(rules(**options), BOARD, deque(["starter 3", "deal 3 0 1 2 3 0"]))
    assert game.state()["to_place"] == [0, 1, 1, 0]
    assert (game.phase, game.turn) == ("DEPLOY", 1)


def test_two_player_game_with_an_odd_number_of_troops():
    """Players place two troops at a time and the odd one alone, then alternate neutral troops (RULES 6.1)."""
    options = {"num_players": 2, "neutral": True, "setup": "deal", "initial_troops": 5}
    game = Naive(rules(**options), BOARD, deque(["starter 1", "deal 0 1 2 0 1 2"]))
    seats = []
    while game.phase in ("DEPLOY", "DEPLOY_NEUTRAL"):
        seats.append((game.phase, game.turn))
        game.step(min(game.legal()))
    assert [seat for phase, seat in seats if phase == "DEPLOY"] == [1, 1, 0, 0, 1, 0]
    assert [seat for phase, seat in seats if phase == "DEPLOY_NEUTRAL"] == [1, 0, 1]
    assert game.troops == [4, 4, 4, 1, 1, 1]
    assert game.deck.count(WILD) == 2
    assert game.turn == 1


def test_headquarters_cards_leave_the_deck():
    options = {"victory": "headquarters", "initial_troops": 2}
    game = Naive(rules(**options), BOARD, deque(["starter 2"]))
    play(game, *map(territory, range(6)))
    assert (game.phase, game.turn, legal(game)) == ("HEADQUARTERS", 2, {territory(0), territory(3)})
    play(game, territory(3), territory(1), territory(2))
    assert game.state()["headquarters"] == [1, 2, 3]
    assert game.state()["deck"] == [0, 4, 5, WILD, WILD]


def test_capitals_then_claim_and_starting_cards():
    options = {**STAR, "setup": "capitals", "initial_troops": 2, "cities": "random"}
    lines = ["starter 1", "cities 0 1 2 5", "objectives 0=2 1=3 2=0 3=1 6=4 7=6 8=5 9=7", "card 0 Fir grove"]
    game = Naive(rules(**options), BOARD, deque(lines))
    assert game.state()["hands"] == [[4], [], []]
    assert game.state()["objective_reward"] == [2, 3, 0, 1, -1, -1, 4, 6, 5, 7, -1, -1]
    play(game, territory(0), territory(1), territory(2))
    assert (game.phase, game.turn, game.capitals) == ("CLAIM", 1, [2, 0, 1])
    play(game, territory(3), territory(4), territory(5))
    assert game.phase == "DRAFT"
    assert game.draft_left == 4  # three for two territories and a city, one for the capital


def test_chart():
    options = {**STAR, "setup": "chart", "objectives": "fixed", "rewards": False, "cities": "fixed"}
    game = Naive(rules(**options), charted((2, 3, 4, 5, 6, 7)), deque(["starter 0", "card 2 Ash"]))
    assert game.troops == [2, 3, 4, 5, 6, 7]
    assert game.cities == {0, 3, 4}
    assert game.objective_holder.count(naive.FACE_UP) == 8
    assert game.draft_left == 4


def test_random_set_up_asks_nothing():
    options = {**STAR, "setup": "random", "initial_troops": 4, "max_troops": 3}
    lines = ["starter 1", OBJECTIVES_LINE, "setup 0:3 1:2 2:1 0:1 1:2 2:3", "capitals 3 1 5", "card 0 Ash"]
    game = Naive(rules(**options), BOARD, deque(lines))
    assert (game.phase, game.turn, game.troops, game.capitals) == ("DRAFT", 1, [3, 2, 1, 1, 2, 3], [3, 1, 5])
    options = {"setup": "random", "initial_troops": 2, "victory": "headquarters"}
    lines = ["starter 1", "setup 0:1 1:1 2:1 0:1 1:1 2:1", "headquarters 3 1 5"]
    game = Naive(rules(**options), BOARD, deque(lines))
    assert (game.headquarters, game.deck) == ([3, 1, 5], [0, 2, 4, WILD, WILD])


def test_fixed_objectives_with_rewards_are_drawn_too():
    """The Reward on each Objective is drawn (RULES 9.3)."""
    line = "objectives 0=2 1=3 2=0 3=1 6=4 7=6 8=5 9=7"
    game = Naive(rules(**{**STAR, "objectives": "fixed"}), BOARD, deque(["starter 0", line, "card 2 Ash"]))
    assert game.objective_reward[:4] == [2, 3, 0, 1]
    with pytest.raises(ChanceError, match="not the fixed ones"):
        Naive(rules(**{**STAR, "objectives": "fixed"}), BOARD, deque(["starter 0", OBJECTIVES_LINE]))


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, []),
        (RANDOM, ["starter 0", "setup 0:2 0:2 1:2 1:1 2:2 2:2"]),
        ({**RANDOM, "max_troops": 2}, ["starter 0", "setup 0:3 0:1 1:2 1:2 2:2 2:2"]),
        (
            {**RANDOM, "victory": "headquarters"},
            ["starter 0", "setup 0:2 0:2 1:2 1:2 2:2 2:2", "headquarters 0 1 4"],
        ),
        (
            {**RANDOM, "victory": "headquarters"},
            ["starter 0", "setup 0:2 0:2 1:2 1:2 2:2 2:2", "headquarters 0 2"],
        ),
        ({}, ["starter 3"]),
        ({}, ["deal 0 1 2 0 1 2"]),
        ({"setup": "deal"}, ["starter 0", "deal 0 0 0 1 1 2"]),
        ({"setup": "deal", "num_players": 4}, ["starter 1", "deal 0 0 1 1 2 3"]),
        (RANDOM, ["starter 0", "setup 0:4 0:0 1:2 1:2 2:2 2:2"]),
        ({"victory": "mission"}, ["starter 0", "missions 0 0 1"]),
        ({"victory": "mission"}, ["starter 0", "missions 0 1 7"]),
        ({"victory": "mission"}, ["starter 0", "missions 0 1 10"]),
        ({**STAR, "cities": "random"}, ["starter 0", "cities 0 1 2"]),
        ({**STAR, "cities": "random"}, ["starter 0", "cities 0 2 1 3"]),
        ({**STAR, "cities": "random"}, ["starter 0", "cities 0 1 2 6"]),
        (STAR, ["starter 0", "objectives 0=2 1=3 2=0 3=4 6=1 7=6 8=5 9=7"]),
        ({**STAR, "objectives": None, "rewards": False}, ["starter 0", "card 1 Ash"]),
    ],
)
def test_impossible_set_up_chance_is_refused(options, lines):
    with pytest.raises(ChanceError):
        Naive(rules(**options), BOARD, deque(lines))


# ---- draft and cards


def test_draft_counts_territories_and_continents():
    assert position([0, 0, 0, 0, 1, 2], [1] * 6).draft_left == 5
    assert position([0, 1, 0, 2, 2, 2], [1] * 6, turn=2).draft_left == 6


def test_five_cards_force_one_set_and_a_second_may_follow():
    game = position([0, 0, 0, 1, 1, 2], [1] * 6, hands=[[0, 1, 2, 4, 5, WILD]])
    assert game.phase == "TRADE" and DONE not in legal(game)
    play(game, card(0), card(2))
    assert game.state()["picked"] == [0, 2] and game.state()["hands"][0] == [0, 1, 2, 4, 5, WILD]
    assert legal(game) == {card(4), card(5), card(WILD)}
    play(game, card(4))
    assert (game.phase, legal(game)) == ("BONUS", {territory(0), territory(2)})
    play(game, territory(2))
    assert game.troops[2] == 3
    assert (game.phase, legal(game)) == ("TRADE", {card(1), card(5), card(WILD), DONE})
    assert (game.draft_left, game.discard, game.sets_traded) == (3 + 2 + 4, [0, 2, 4], 1)
    play(game, DONE)
    assert game.phase == "DRAFT"


@pytest.mark.parametrize(("bonus", "asked"), [("once_a_turn", "DRAFT"), ("once_a_set", "BONUS")])
def test_occupied_bonus_once_a_turn_or_once_a_set(bonus, asked):
    game = position([0, 0, 0, 1, 1, 2], [1] * 6, hands=[[0, 1, 2, 4, 5, WILD]], occupied_bonus=bonus)
    play(game, card(0), card(2), card(4), territory(0), card(1), card(5), card(WILD))
    assert game.phase == asked


def test_no_territory_of_the_set_held_means_no_bonus():
    game = position([1, 1, 1, 0, 0, 2], [1] * 6, hands=[[0, 1, WILD]])
    play(game, card(WILD), card(0), card(1))
    assert (game.phase, game.draft_left) == ("DRAFT", 7)


def test_draft_amounts():
    game = position([0, 0, 0, 1, 1, 2], [1] * 6)
    assert legal(game) == {territory(0), territory(1), territory(2)}
    play(game, territory(1))
    assert legal(game) == {amount(1), amount(2), amount(3), amount(4), ALL}
    play(game, amount(2))
    assert (game.phase, game.draft_left, game.troops[1]) == ("DRAFT", 3, 3)
    play(game, territory(0), ALL)
    assert game.phase == "ATTACK"


def test_troops_and_bonus_without_room_are_lost():
    game = position([0, 0, 0, 1, 1, 2], [3, 4, 4, 1, 1, 1], hands=[[0, 1, WILD]], max_troops=4)
    play(game, card(0), card(1), card(WILD))
    assert legal(game) == {territory(0)}
    play(game, territory(0))
    assert game.troops == [4, 4, 4, 1, 1, 1]
    assert (game.phase, game.draft_left, game.bonus_paid) == ("ATTACK", 0, True)


def test_exactly_five_cards_force_a_set_and_four_do_not():
    owner = [0, 0, 0, 1, 1, 2]
    assert DONE not in legal(position(owner, [1] * 6, hands=[[0, 1, 2, 4, 5]]))
    assert DONE in legal(position(owner, [1] * 6, hands=[[0, 2, 4, 5]]))
    assert position(owner, [1] * 6, hands=[[0, 1, 2, 3]]).phase == "DRAFT"  # no set


@pytest.mark.parametrize(("hand", "phase"), [([0], "DRAFT"), ([3], "TRADE"), ([0, 1], "TRADE")])
def test_two_stars_make_a_trade(hand, phase):
    assert (
        position([0, 1, 2, 0, 1, 2], [1] * 6, hands=[hand], **{**STAR, "capitals": [0, 1, 2]}).phase == phase
    )


def test_star_trade():
    game = position([0, 1, 2, 0, 1, 2], [1] * 6, hands=[[0, 3, 4, 5]], **{**STAR, "capitals": [3, 1, 2]})
    assert DONE in legal(game)
    play(game, card(0))
    assert DONE not in legal(game)
    play(game, card(3), card(5), DONE)
    assert (game.draft_left, game.hands[0], game.phase) == (3 + 1 + 10, [4], "DRAFT")
    assert game.state()["discard"] == [0, 3, 5] and game.state()["sets_traded"] == 0


def test_star_trade_never_holds_more_than_ten_stars():
    game = attacking([0, 1, 2, 0, 1, 2], [1] * 6, **{**STAR, "capitals": [0, 1, 2]})
    game.hands[0] = [0, 3, 3, 4, 4, 5]
    game.ask_trade()
    play(game, card(3), card(4), card(5), card(3), card(4))
    assert legal(game) == {DONE}
    play(game, DONE)
    assert game.draft_left == 30


# ---- attack


def test_attack_dice_and_defender_choice():
    game = attacking([0, 1, 1, 1, 1, 2], [4, 2, 1, 1, 1, 1], defender_dice="choice")
    assert legal(game) == {border(0, 1), border(0, 5), DONE}
    play(game, border(0, 1))
    assert legal(game) == {("dice", 1), ("dice", 2), ("dice", 3), BLITZ}
    play(game, ("dice", 3))
    assert (game.phase, game.state()["seat"], game.state()["turn"]) == ("DEFEND", 1, 0)
    assert legal(game) == {("dice", 1), ("dice", 2)}
    play(game, ("dice", 2), chance=["roll 6 5 1 | 5 5"])
    assert game.troops[:2] == [3, 1]
    assert game.state()["battles"] == 1


def test_the_attackers_opponent_rolls_for_the_neutral_army():
    game = attacking(
        [0, 2, 1, 1, 0, 2], [4, 2, 1, 1, 1, 1], num_players=2, neutral=True, defender_dice="choice"
    )
    play(game, border(0, 1), ("dice", 1))
    assert game.state()["seat"] == 1


def test_two_troops_allow_one_die_and_no_blitz():
    game = attacking([0, 1, 1, 1, 1, 2], [2, 2, 1, 1, 1, 1])
    play(game, border(0, 1))
    assert legal(game) == {("dice", 1)}


def test_capture_moves_the_dice_chosen_and_asks_for_the_rest():
    """Three troops move in after a roll with three dice, and five more may follow (RULES 3.2.5)."""
    game = attacking([0, 1, 1, 1, 1, 2], [9, 1, 1, 1, 1, 1])
    play(game, border(0, 1), ("dice", 3), chance=["roll 6 5 1 | 5"])
    assert (game.owner[1], game.troops[:2], game.captured) == (0, [6, 3], True)
    assert legal(game) == {amount(1), amount(2), amount(3), amount(4), ALL, DONE}
    play(game, amount(4))
    assert (game.phase, legal(game)) == ("OCCUPY", {ALL, DONE})
    play(game, ALL)
    assert (game.phase, game.troops[:2]) == ("ATTACK", [1, 8])


def test_three_troops_allow_a_blitz():
    game = attacking([0, 1, 1, 1, 1, 2], [3, 2, 1, 1, 1, 1])
    play(game, border(0, 1))
    assert legal(game) == {("dice", 1), ("dice", 2), BLITZ}


@pytest.mark.parametrize(
    ("line", "reason"),
    [("roll 6 5 | 5", "3 chosen"), ("roll 6 5 4 | 5 5", "1 chosen"), ("roll 6 5 7 | 1", "no die")],
)
def test_impossible_rolls_are_refused(line, reason):
    game = attacking([0, 1, 1, 1, 1, 2], [9, 1, 1, 1, 1, 1])
    with pytest.raises(ChanceError, match=reason):
        play(game, border(0, 1), ("dice", 3), chance=[line])


def test_blitz_stops_when_the_rolls_are_used_up():
    game = attacking([0, 1, 1, 1, 1, 2], [9, 5, 1, 1, 1, 1], max_battles_per_turn=2)
    play(game, border(0, 1), BLITZ, chance=["roll 6 6 6 | 1 1", "roll 1 1 1 | 6 6"])
    assert (game.phase, game.troops[:2], legal(game)) == ("ATTACK", [7, 3], {DONE})


def test_the_last_roll_may_capture_and_what_it_asks_for_happens():
    game = attacking([0, 1, 1, 1, 1, 2], [9, 3, 1, 1, 1, 1], attack="blitz", max_battles_per_turn=2)
    play(game, border(0, 1), chance=["roll 6 6 6 | 1 1", "roll 6 1 1 | 1"])
    assert (game.phase, game.troops[:2]) == ("OCCUPY", [6, 3])


def test_blitz_rolls_fewer_dice_as_troops_fall():
    game = attacking([0, 1, 1, 1, 1, 2], [4, 2, 1, 1, 1, 1], attack="blitz")
    play(game, border(0, 1), chance=["roll 1 1 1 | 1 1", "roll 6 | 1 1", "roll 1 | 1"])
    assert (game.phase, game.troops[:2]) == ("ATTACK", [1, 1])


def test_max_attack_rolls_at_once():
    game = attacking([0, 1, 1, 1, 1, 2], [4, 2, 1, 1, 1, 1], attack="max")
    play(game, border(0, 1), chance=["roll 6 6 6 | 1 1"])
    assert (game.phase, game.owner[1], game.troops[:2]) == ("ATTACK", 0, [1, 3])  # nothing is left to follow


# ---- elimination and victory


def test_elimination_takes_the_cards_and_forces_trades_down_to_four():
    owner, hands = [0, 1, 2, 2, 2, 2], [[0, 1, 2], [3, 4, WILD]]
    game = attacking(owner, [5, 1, 1, 1, 1, 1], hands=hands)
    play(game, border(0, 1), ("dice", 3), chance=["roll 6 6 6 | 1"])
    assert game.state()["alive"] == [True, False, True]
    assert game.phase == "OCCUPY"
    play(game, DONE)
    assert game.phase == "TRADE" and DONE not in legal(game)
    play(game, card(0), card(2), card(4))
    assert legal(game) == {territory(0)}
    play(game, territory(0))
    assert (game.phase, game.hands[0], game.draft_left) == ("DRAFT", [1, 3, WILD], 4)
    play(game, territory(1), ALL)
    assert (game.phase, game.troops[1]) == ("ATTACK", 7)


def test_five_cards_left_by_a_forced_trade_are_traded_too():
    owner, hands = [1, 0, 2, 2, 2, 2], [[0, 1, 2, 3], [4, 5, WILD, WILD]]
    game = attacking(owner, [1, 4, 1, 1, 1, 1], hands=hands)
    play(game, border(1, 0), ("dice", 3), card(2), card(3), card(WILD), chance=["roll 6 6 6 | 1"])
    assert (game.phase, len(game.hands[0])) == ("TRADE", 5)
    assert DONE not in legal(game)


def test_five_cards_after_an_elimination_wait():
    game = attacking([0, 1, 2, 2, 2, 2], [4, 1, 1, 1, 1, 1], hands=[[0, 1], [3, 4, WILD]])
    play(game, border(0, 1), ("dice", 3), chance=["roll 6 6 6 | 1"])
    assert (game.phase, len(game.hands[0])) == ("ATTACK", 5)


def test_the_bonus_of_the_turn_is_spent_for_trades_after_an_elimination_too():
    hands = [[0, 1, 2], [3, 4, WILD]]
    game = attacking([0, 1, 2, 2, 2, 2], [4, 1, 1, 1, 1, 1], hands=hands, occupied_bonus="once_a_turn")
    game.bonus_paid = True
    play(game, border(0, 1), ("dice", 3), card(0), card(2), card(4), chance=["roll 6 6 6 | 1"])
    assert game.phase == "DRAFT"


def test_the_last_capture_wins_without_an_occupation():
    game = attacking([0, 0, 0, 0, 0, 1], [9, 1, 1, 1, 1, 1])
    play(game, border(0, 5), ("dice", 2), chance=["roll 6 6 | 1"])
    state = game.state()
    assert (state["phase"], state["seat"], state["winner"], game.legal()) == ("OVER", -1, 0, set())
    assert state["placement"] == [1, 2, 3]


def test_neutral_territories_need_not_fall():
    game = attacking([0, 2, 2, 2, 2, 1], [9, 1, 1, 1, 1, 1], num_players=2, neutral=True)
    play(game, border(0, 5), ("dice", 2), chance=["roll 6 6 | 1"])
    assert game.winner == 0


@pytest.mark.parametrize(("needed", "third", "winner"), [(None, 3, -1), (None, 5, 0), (2, 3, -1), (1, 3, 0)])
def test_headquarters_win(needed, third, winner):
    options = {"victory": "headquarters", "headquarters": [0, 1, third], "headquarters_to_win": needed}
    game = attacking([0, 1, 1, 2, 2, 0], [9, 1, 1, 1, 1, 1], **options)
    play(game, border(0, 1), ("dice", 2), chance=["roll 6 6 | 1"])
    assert game.winner == winner


def test_headquarters_need_the_own_one():
    options = {"victory": "headquarters", "headquarters": [2, 1, 3], "headquarters_to_win": 1}
    game = attacking([0, 1, 1, 2, 2, 2], [9, 1, 1, 1, 1, 1], **options)
    play(game, border(0, 1), ("dice", 2), chance=["roll 6 6 | 1"])
    assert game.winner == -1


def test_a_mission_is_fulfilled_when_another_destroys_the_target():
    game = attacking([0, 1, 2, 2, 0, 0], [9, 1, 1, 1, 1, 1], victory="mission", missions=[0, 0, 5])
    play(game, border(0, 1), ("dice", 2), chance=["roll 6 6 | 1"])
    assert (game.phase, game.winner) == ("OVER", 2)
    assert game.standings() == [2, 3, 1]


def test_the_player_in_turn_wins_when_one_action_fulfils_several():
    game = attacking([0, 1, 2, 2, 0, 0], [9, 1, 1, 1, 1, 1], victory="mission", missions=[5, 0, 5])
    play(game, border(0, 1), ("dice", 2), chance=["roll 6 6 | 1"])
    assert game.winner == 0


def test_missions_about_troops_are_judged_after_draft_occupation_and_fortify():
    game = position([0, 0, 0, 0, 1, 2], [1, 1, 1, 1, 1, 1], victory="mission", missions=[3, 6, 5])
    play(game, territory(0), amount(1), territory(1), amount(1), territory(2), amount(1))
    assert game.phase == "DRAFT"  # troops are left: not judged yet
    play(game, territory(0), ALL)
    assert game.winner == 0
    game = attacking([0, 0, 0, 1, 1, 2], [9, 2, 1, 1, 1, 1], victory="mission", missions=[3, 6, 5])
    play(game, DONE, territory(0), territory(2), amount(1), DONE)
    assert game.winner == 0


def test_mission_of_the_own_colour_counts_territories():
    game = position([0, 0, 0, 0, 1, 2], [1] * 6, victory="mission", missions=[4, 0, 1])
    assert game.has_fulfilled_mission(0)
    assert not game.has_fulfilled_mission(2)


def test_any_third_continent():
    west = position([0, 0, 0, 1, 1, 2], [1] * 6, victory="mission", missions=[1, 0, 4])
    assert position([0, 0, 0, 1, 1, 2], [1] * 6, victory="mission", missions=[0, 0, 4]).has_fulfilled_mission(
        0
    )
    both = position([0] * 6, [1] * 6, victory="mission", missions=[1, 0, 4])
    assert (west.has_fulfilled_mission(0), both.has_fulfilled_mission(0)) == (False, True)


# ---- re-roll and commander


def test_reroll_shows_the_attacking_territorys_card_and_commander_follows():
    owner, hands = [0, 1, 1, 1, 1, 2], [[0, 1]]
    game = attacking(owner, [9, 2, 1, 1, 1, 1], hands=hands, card_reroll=True, commander=True)
    play(game, border(0, 1), ("dice", 3), chance=["roll 6 2 1 | 5 5"])
    assert (game.phase, legal(game)) == ("REROLL", {("die", 6), ("die", 2), ("die", 1), DONE})
    play(game, ("die", 1), chance=["reroll 6"])
    assert game.state()["shown"] == [0]
    assert (game.phase, legal(game)) == ("COMMANDER", {("die", 2), DONE})
    play(game, DONE)
    assert (game.owner[1], game.commander_used) == (0, False)


def test_commander_once_a_turn():
    game = attacking([0, 1, 1, 1, 1, 2], [9, 3, 1, 1, 1, 1], commander=True)
    play(game, border(0, 1), ("dice", 1), ("die", 3), chance=["roll 3 | 5 5"])
    assert game.troops[:2] == [9, 2]
    play(game, border(0, 1), ("dice", 1), chance=["roll 3 | 5 5"])
    assert (game.phase, game.troops[:2]) == ("ATTACK", [8, 2])


def test_commander_is_not_asked_about_sixes_only():
    game = attacking([0, 1, 1, 1, 1, 2], [9, 3, 1, 1, 1, 1], commander=True)
    play(game, border(0, 1), ("dice", 2), chance=["roll 6 6 | 6 5"])
    assert (game.phase, game.troops[:2]) == ("ATTACK", [8, 2])


def test_an_impossible_reroll_is_refused():
    game = attacking([0, 1, 1, 1, 1, 2], [9, 3, 1, 1, 1, 1], hands=[[0]], card_reroll=True)
    with pytest.raises(ChanceError, match="one face"):
        play(game, border(0, 1), ("dice", 1), ("die", 2), chance=["roll 2 | 5 5", "reroll 7"])


def test_rerolling_with_the_attacked_territorys_card():
    game = attacking([0, 1, 1, 1, 1, 2], [9, 3, 1, 1, 1, 1], hands=[[1, 2]], card_reroll=True)
    play(game, border(0, 1), ("dice", 1), ("die", 2), chance=["roll 2 | 5 5", "reroll 6"])
    assert (game.state()["shown"], game.troops[:2]) == ([1], [9, 2])
    game = attacking([0, 1, 1, 1, 1, 2], [9, 3, 1, 1, 1, 1], hands=[[2, WILD]], card_reroll=True)
    play(game, border(0, 1), ("dice", 1), chance=["roll 2 | 5 5"])
    assert game.phase == "ATTACK"


# ---- the 2008 games


def test_attack_die_and_defense_die_drop_the_lowest():
    game = star_position([0, 1, 1, 1, 1, 2], [9, 2, 1, 1, 1, 1])
    game.reward_owner[naive.ATTACK_DIE], game.reward_owner[naive.DEFENSE_DIE] = 0, 1
    play(game, border(0, 1), ("dice", 2), chance=["roll 1 6 4 | 5 3 2"])
    assert (game.attack_dice, game.defence_dice) == ([6, 4], [5, 3])
    assert (game.phase, game.troops[:2]) == ("OCCUPY", [7, 2])  # the bonus die does not move in


def test_airfields_add_one_to_the_highest_die_of_each_side():
    game = star_position([0, 1, 1, 1, 1, 2], [9, 3, 1, 1, 1, 1])
    game.reward_owner[naive.AIRFIELD_MINOR], game.airfields = 0, [0, -1]
    play(game, border(0, 1), ("dice", 1), chance=["roll 5 | 5 1"])
    assert game.troops[:2] == [9, 2]
    game.reward_owner[naive.AIRFIELD_MAJOR], game.airfields = 1, [0, 2]
    play(game, border(0, 1), ("dice", 1), chance=["roll 5 | 5 1"])
    assert game.troops[:2] == [8, 2]


def test_an_airfield_is_destroyed_with_its_territory_and_the_objective_stays():
    game = star_position([0, 1, 1, 1, 1, 2], [9, 1, 1, 1, 1, 1])
    game.objective_holder[0], game.reward_owner[0], game.airfields = 1, 1, [1, -1]
    play(game, border(0, 1), ("dice", 1), chance=["roll 6 | 4"])
    assert (game.airfields, game.objective_holder[0], game.reward_owner[0]) == ([-1, -1], 1, -1)


def test_take_over_objectives_count_what_was_not_held_at_the_start():
    game = star_position([0, 0, 0, 1, 1, 2], [9, 9, 9, 1, 1, 1], capitals=(0, 5, 5))
    game.cities = {0, 3, 4, 5}
    game.owner = [0, 0, 0, 0, 0, 2]
    assert set(game.objectives_met()) == {0, 2, 4, 5, 6, 8}
    game.held_at_start = {0, 1, 2, 3}
    assert set(game.objectives_met()) == {0, 2, 5, 8}
    game.held_at_start = {0, 1, 2}
    game.owner = [0, 0, 0, 0, 0, 0]
    assert 10 in game.objectives_met()
    game.held_at_start = {0, 1, 2, 3}
    assert 10 not in game.objectives_met()


def test_enemy_capitals_count_without_the_own_one_and_after_their_owners_death():
    game = star_position([0, 0, 1, 1, 1, 1], [9, 9, 9, 1, 1, 1], capitals=(2, 0, 1))
    assert {3, 7} <= set(game.objectives_met())


def test_an_objective_costs_the_card_and_gives_its_airfield_at_once():
    game = star_position([0, 0, 0, 1, 1, 2], [9, 1, 1, 1, 1, 1], capitals=(0, 3, 5))
    game.captured = True
    play(game, DONE)
    assert (game.phase, legal(game)) == ("OBJECTIVE", {("objective", 0), DONE})
    play(game, ("objective", 0))
    assert (game.phase, legal(game)) == ("AIRFIELD", {territory(0), territory(1), territory(2)})
    play(game, territory(1), DONE)
    assert (game.airfields, game.hands[0], game.turn) == ([1, -1], [], 1)


def test_without_an_objective_a_capture_earns_a_card_and_a_guaranteed_card_comes_always():
    game = star_position([0, 0, 1, 1, 1, 2], [9, 1, 1, 1, 1, 1], face_up=[])
    game.captured = True
    play(game, DONE, DONE, chance=["card 0 Ash"])
    assert game.hands[0] == [0]
    game = star_position([0, 0, 1, 1, 1, 2], [9, 1, 1, 1, 1, 1], face_up=[])
    game.reward_owner[naive.GUARANTEED_CARD] = 0
    play(game, DONE, DONE, chance=["card 0 Oak"])
    assert game.hands[0] == [5]


def test_additional_maneuver_already_this_turn_and_starting_maneuver_before_the_attacks():
    game = star_position([0, 0, 0, 1, 1, 2], [9, 2, 1, 1, 1, 1], face_up=[0])
    game.objective_reward[0] = naive.ADDITIONAL_MANEUVER
    game.reward_owner[naive.STARTING_MANEUVER] = 1
    play(game, DONE, ("objective", 0))
    assert game.state()["moves_left"] == 2
    play(game, territory(0), territory(2), ALL, territory(1), territory(2), ALL)
    assert (game.turn, game.troops) == (1, [1, 1, 10, 1, 1, 1])
    play(game, territory(3), ALL)
    assert (game.phase, game.state()["moves_left"]) == ("FORTIFY_FROM", 1)
    play(game, territory(3), territory(4), amount(1), DONE)
    assert (game.phase, game.turn, game.state()["moves_left"]) == ("ATTACK", 1, 0)


def test_two_troops_reward_and_capitals_at_the_draft():
    game = star_position([0, 0, 1, 1, 1, 2], [9, 1, 1, 1, 1, 1])
    game.reward_owner[naive.TWO_TROOPS] = 0
    assert game.troops_due(0) == 3 + 2 + 2


def test_cities_count_as_territories():
    """Thirteen territories and cities give four, five give three (RULES 9.2), here twelve of them."""
    game = star_position([0] * 6, [1] * 6, capitals=(-1, -1, -1))
    game.cities = set(range(6))
    assert game.troops_due(0) == 4 + 5


@pytest.mark.parametrize(("capital", "winner"), [(0, 0), (5, -1)])
def test_three_objectives_and_the_own_capital_win_at_the_end_of_the_turn(capital, winner):
    game = star_position([0, 0, 1, 1, 1, 2], [9, 1, 1, 1, 1, 1], capitals=(capital, 2, 3), face_up=[])
    game.objective_holder[:3] = [0, 0, 0]
    play(game, DONE)
    assert game.winner == -1
    play(game, DONE)
    assert game.winner == winner


def test_elimination_hands_over_objectives_not_rewards_and_forces_no_trade():
    game = star_position([0, 1, 2, 2, 2, 2], [5, 1, 1, 1, 1, 1])
    game.hands[:2] = [[0, 1, 2], [3, 4, 5]]
    game.objective_holder[:2], game.reward_owner[5] = [1, 1], 1
    play(game, border(0, 1), ("dice", 3), DONE, chance=["roll 6 6 6 | 1"])
    assert (game.phase, game.objective_holder[:2], game.reward_owner[5]) == ("ATTACK", [0, 0], -1)
    assert len(game.hands[0]) == 6


# ---- fortify and the end of turns


@pytest.mark.parametrize(("fortify", "targets"), [("adjacent", {1}), ("connected", {1, 2}), ("free", {1, 2})])
def test_fortify_reaches_own_components_only(fortify, targets):
    game = attacking([0, 0, 0, 1, 0, 2], [5, 1, 1, 1, 5, 1], fortify=fortify)
    play(game, DONE)
    assert legal(game) == {territory(0), DONE}
    assert game.state()["moves_left"] == (6 if fortify == "free" else 1)
    play(game, territory(0))
    assert legal(game) == {territory(t) for t in targets}
    play(game, territory(1))
    assert DONE not in legal(game)
    play(game, amount(2))
    assert (game.phase, legal(game)) == ("FORTIFY_AMOUNT", {amount(1), ALL, DONE})
    play(game, DONE)
    assert game.troops[:2] == [3, 3]
    assert game.phase == ("FORTIFY_FROM" if fortify == "free" else "DRAFT")


def test_fortify_moves_are_capped_by_room():
    game = attacking([0, 0, 1, 1, 1, 2], [6, 5, 1, 1, 1, 1], max_troops=6)
    play(game, DONE, territory(0), territory(1))
    assert legal(game) == {ALL}
    play(game, ALL)
    assert (game.troops[:2], game.turn) == ([5, 6], 1)


def test_a_card_is_drawn_after_a_capture_and_an_empty_deck_is_refilled():
    game = attacking([0, 0, 1, 1, 1, 2], [6, 5, 1, 1, 1, 1])
    game.captured, game.deck, game.discard, game.shown = True, [], [0, WILD], {0, 3}
    play(game, DONE, chance=["card 0 wild"])
    assert (game.hands[0], game.deck, game.discard, game.state()["shown"]) == ([WILD], [0], [], [3])


def test_no_card_is_drawn_from_nothing_nor_one_that_is_not_there():
    game = attacking([0, 0, 1, 1, 1, 2], [6, 5, 1, 1, 1, 1])
    game.captured, game.deck, game.discard = True, [], []
    play(game, DONE)
    assert game.hands[0] == []
    game = attacking([0, 0, 1, 1, 1, 2], [6, 5, 1, 1, 1, 1], hands=[[], [3]])
    game.captured = True
    with pytest.raises(ChanceError, match="not in the deck"):
        play(game, DONE, chance=["card 0 Elm"])


def test_a_round_ends_past_a_dead_starter():
    game = attacking([2, 2, 1, 1, 1, 2], [2] * 6, turn=2)
    assert not game.alive[0]
    play(game, DONE, DONE)
    assert (game.turn, game.round) == (1, 2)
    game.draft_left, game.phase = 0, "ATTACK"
    play(game, DONE, DONE)
    assert (game.turn, game.round) == (2, 2)


def test_truncation_and_shared_places():
    owner, troops = [0, 0, 1, 1, 2, 2], [2, 2, 3, 1, 4, 1]
    game = attacking(owner, troops, turn=2, max_rounds=1)
    play(game, DONE, DONE)
    state = game.state()
    assert (state["phase"], state["winner"], state["truncated"], state["round"]) == ("OVER", -1, True, 1)
    assert state["placement"] == [2, 2, 1]
    assert state["seat"] == -1 and state["turn"] == 2


def test_standings_of_the_dead():
    game = attacking([0, 0, 0, 0, 3, 3], [1] * 6, num_players=4)
    game.fallen = [2, 1]
    assert game.standings() == [1, 3, 4, 2]


def test_illegal_actions_are_refused():
    game = attacking([0, 0, 0, 0, 1, 2], [1] * 6)
    before = game.state()
    with pytest.raises(ValueError, match="not legal in ATTACK"):
        game.step(game.number[border(0, 5)])
    assert game.state() == before


# ---- whole games


class Dealer(Naive):
    """A game with random numbers of its own, for whole random games."""

    dice_box = random.Random(0)

    def draw_card(self, seat):
        if self.deck or self.discard:
            drawn = self.dice_box.choice(self.deck or self.discard)
            self.chance.append(f"card {seat} {'wild' if drawn == WILD else BOARD.territories[drawn]}")
        super().draw_card(seat)

    def roll(self, defence_dice):
        extra = [
            self.has_reward(self.turn, naive.ATTACK_DIE),
            self.has_reward(self.owner[self.target], naive.DEFENSE_DIE),
        ]
        sides = [self.throw(self.dice + extra[0]), self.throw(defence_dice + extra[1])]
        self.chance.append(f"roll {sides[0]} | {sides[1]}")
        super().roll(defence_dice)

    def throw(self, dice):
        return " ".join(str(self.dice_box.randint(1, 6)) for _ in range(dice))

    def do_reroll(self, face):
        if face is not None:
            self.chance.append(f"reroll {self.throw(1)}")
        super().do_reroll(face)


def check(game, all_cards):
    """Check the invariants of every state."""
    state = game.state()
    cards = Counter(state["deck"] + state["discard"] + [c for hand in state["hands"] for c in hand])
    assert cards == all_cards
    assert not game.chance
    over = state["phase"] == "OVER"
    assert bool(game.legal()) != over
    assert over == bool(state["truncated"] or state["winner"] >= 0) == bool(state["placement"])
    if state["round"] >= 1:
        assert min(state["troops"]) >= 1
        assert [seat in state["owner"] for seat in game.seats] == state["alive"]
        assert over or state["alive"][state["seat"]]
        assert max(state["troops"]) <= (game.rules.max_troops or naive.MOST_TROOPS)
        assert state["draft_left"] == 0 or state["phase"] in ("TRADE", "BONUS", "DRAFT", "DRAFT_AMOUNT")


def test_a_territory_at_the_ceiling_takes_no_more_troops():
    most = naive.MOST_TROOPS
    game = position([0, 0, 0, 1, 1, 2], [most, most - 1, 4, 1, 1, 1])
    assert game.legal() == {game.number[territory(1)], game.number[territory(2)]}
    play(game, territory(1), ("amount", "all"))
    assert game.troops[1] == most
    game.add_to_draft(most)
    assert game.draft_left == most


EXPERT = {"set_values": "by_one", "fortify": "free", "max_troops": 12, "card_reroll": True, "commander": True}
DEAL = "deal 0 1 2 0 1 2"
GAMES = {
    "world_domination": ({"fortify": "adjacent", "occupied_bonus": "once_a_turn"}, []),
    "expert": ({**EXPERT, "defender_dice": "choice"}, []),
    "duel": ({"num_players": 2, "setup": "deal", "attack": "max"}, ["deal 0 1 0 1 0 1"]),
    "two_player": ({"num_players": 2, "neutral": True, "setup": "deal", "defender_dice": "choice"}, [DEAL]),
    "capital": ({"victory": "headquarters", "attack": "blitz"}, []),
    "secret_mission": ({"victory": "mission", "setup": "deal"}, ["missions 2 4 5", DEAL]),
    "basic_training": (
        {**STAR, "setup": "chart", "objectives": "fixed", "rewards": False, "cities": "fixed"},
        [],
    ),
    "command_room": ({**STAR, "setup": "capitals", "cities": "random"}, ["cities 0 1 3 4", OBJECTIVES_LINE]),
    "world_conquest": ({**STAR, "setup": "capitals", "victory": "domination"}, [OBJECTIVES_LINE]),
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_whole_random_games(name, seed):
    options, lines = GAMES[name]
    chooser = random.Random(seed)
    Dealer.dice_box = random.Random(seed + 100)
    initial = None if options.get("setup") == "chart" else 8
    game_rules = rules(**{"initial_troops": initial, "max_rounds": 15, **options})
    game = Dealer(game_rules, charted((5,) * 6), deque(["starter 0", *lines]))
    phases = set()
    while game.phase != "OVER":
        phases.add(game.phase)
        game.step(chooser.choice(sorted(game.legal())))
        all_cards = Counter(game.whole_deck()) - Counter(t for t in game.headquarters if t >= 0)
        check(game, all_cards)
    assert {"DRAFT", "ATTACK"} <= phases

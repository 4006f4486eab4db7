"""The slow, obvious reference implementation of the game core: every game of RULES.md, in plain Python.

It is written from the rules and from `docs/decisions.md` alone, without knowledge of `risk_env/core`. Tests
feed it the chance results of the core's log, and compare both action by action: the legal actions and the
state. It draws no random numbers itself, but rejects impossible results (a card that is not in the deck, two
dice instead of three).

An *answer* is the form of an action in this module. It is a pair such as `("territory", 4)`, `("die", 3)`,
`("border", (4, 7))`, `("dice", "blitz")`, `("amount", "half")`, `("card", 2)`, `("objective", 0)` or
`("done", None)`.

Each phase has two methods: `may_<phase>` returns the legal answers, and `do_<phase>` plays one, given its
value only. `self.turn` is the seat at turn, or during setup the seat that places.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

Answer = tuple[str, Any]

DONE: Answer = ("done", None)
FREE = -1  # owner of an unclaimed territory
NOBODY = -1
NOT_IN_PLAY, FACE_UP = -2, -1  # places of objectives that no seat holds
NONE_YET = -1  # a capital or headquarters that is not chosen, an airfield that is not on the board

DICE = (1, 2, 3, "blitz")
AMOUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
FACES = (1, 2, 3, 4, 5, 6)
MOST_TROOPS = 262_144  # largest number on a territory or in a draft (RULES 1.5)
NUM_OBJECTIVES = 12

STARTING_TROOPS = {
    "symbol": {2: 40, 3: 35, 4: 30, 5: 25, 6: 20},
    "star": {3: 30, 4: 25, 5: 20},
    "none": {2: 40, 3: 35, 4: 30, 5: 25, 6: 20},
}
FIRST_SETS = (4, 6, 8, 10, 12, 15)
FIXED_SETS = {"infantry": 4, "cavalry": 6, "artillery": 8}  # three cards of one symbol
ONE_OF_EACH = 10
STAR_TROOPS = {2: 2, 3: 4, 4: 7, 5: 10, 6: 13, 7: 17, 8: 21, 9: 25, 10: 30}
STARTING_CARDS = (0, 0, 1, 1, 2)  # by place in the turn order

AIRFIELD_MINOR, ADDITIONAL_MANEUVER, GUARANTEED_CARD, STARTING_MANEUVER = 0, 1, 2, 3
AIRFIELD_MAJOR, ATTACK_DIE, DEFENSE_DIE, TWO_TROOPS = 4, 5, 6, 7
AIRFIELDS = (AIRFIELD_MINOR, AIRFIELD_MAJOR)
MINOR_REWARDS, MAJOR_REWARDS = [0, 1, 2, 3], [4, 5, 6, 7]


class ChanceError(Exception):
    """A chance line is missing, of the wrong kind, or impossible."""


# ---- facts that need no game


def amounts(available: int) -> set[Answer]:
    """Return the legal amounts if `available` troops can move (decisions.md, Amounts)."""
    answers = {("amount", k) for k in AMOUNTS if k < available} | {("amount", "all")}
    if available // 2 >= 1 and available // 2 not in AMOUNTS:
        answers.add(("amount", "half"))
    return answers


def amount_meant(word: int | str, available: int) -> int:
    """Return the number of troops that the word of an amount stands for."""
    if word == "all":
        return available
    return available // 2 if word == "half" else int(word)


def is_set(symbols: Iterable[str]) -> bool:
    """Return True for three cards of one symbol, of three symbols, or with a wild card (RULES 5.1)."""
    symbols = list(symbols)
    return len(symbols) == 3 and ("wild" in symbols or len(set(symbols)) in (1, 3))


def set_value(set_values: str, traded_before: int) -> int:
    """Return the troops for the next set, after `traded_before` sets of all players (RULES 5.2)."""
    if set_values == "by_one":
        return 4 + traded_before
    if traded_before < len(FIRST_SETS):
        return FIRST_SETS[traded_before]
    return 15 + 5 * (traded_before - len(FIRST_SETS) + 1)


def fixed_value(symbols: Iterable[str]) -> int:
    """Return the highest value of three cards, where a wild card stands for any symbol (RULES 5.2)."""
    readings = product(*(FIXED_SETS if symbol == "wild" else [symbol] for symbol in symbols))
    return max(
        ONE_OF_EACH if len(set(cards)) == 3 else FIXED_SETS[cards[0]] for cards in readings if is_set(cards)
    )


def without_lowest(dice: list[int], extra: int) -> list[int]:
    """Return the dice that remain after the `extra` lowest ones are dropped (RULES 9.8)."""
    return sorted(dice, reverse=True)[: len(dice) - extra]


def with_airfield(dice: list[int], airfield: bool) -> list[int]:
    """Return the dice from the highest down, the highest plus 1 if an airfield helps (RULES 9.8, 9.9)."""
    dice = sorted(dice, reverse=True)
    return [dice[0] + 1, *dice[1:]] if airfield else dice


def losses(attack: list[int], defence: list[int]) -> tuple[int, int]:
    """Return the losses of attacker and defender, comparing dice from the highest down (RULES 3.2.3)."""
    pairs = list(zip(sorted(attack, reverse=True), sorted(defence, reverse=True), strict=False))
    lost_by_attacker = sum(1 for own, other in pairs if own <= other)
    return lost_by_attacker, len(pairs) - lost_by_attacker


def minus(cards: list[int], taken: list[int]) -> list[int]:
    """Return the cards without those taken, each removed once."""
    rest = list(cards)
    for card in taken:
        rest.remove(card)
    return rest


def plausible(condition: bool, message: str) -> None:
    """Raise ChanceError if a chance result is impossible."""
    if not condition:
        raise ChanceError(message)


def numbers(words: Iterable[str]) -> list[int]:
    """Return the whole numbers of a chance line."""
    try:
        return [int(word) for word in words]
    except ValueError as error:
        raise ChanceError(f"chance line: whole numbers are expected, not {error}") from None


# ---- the game


class Naive:
    """One game.

    rules: an object with the options of RULES 13. board: an object with the map's facts. chance: a queue
    (`popleft`) of chance lines without "chance: ". The lines of the setup are in the queue at construction.
    Later lines are added before the `step` that needs them.
    """

    def __init__(self, rules: Any, board: Any, chance: Any) -> None:
        self.rules, self.board, self.chance = rules, board, chance
        self.num_territories = len(board.territories)
        self.territories = list(range(self.num_territories))
        self.seats = list(range(rules.num_players))
        self.neutral = rules.num_players
        self.wild = self.num_territories
        # territory b is adjacent to a if a border leads from a to b (RULES 1.2)
        self.adjacent_to = {t: [b for a, b in board.borders if a == t] for t in self.territories}
        self.meaning = self.all_answers()
        self.number = {answer: number for number, answer in enumerate(self.meaning)}
        self.clear_table()
        self.clear_turn()
        self.clear_battle()
        self.set_up()

    def clear_table(self) -> None:
        """Reset the board and everything beside it to the state before the setup."""
        self.phase, self.turn, self.round = "", 0, 0
        self.owner = [FREE for _ in self.territories]
        self.troops = [0 for _ in self.territories]
        self.to_place = [self.troops_to_start() for _ in self.seats]
        self.neutral_to_place = self.troops_to_start() if self.rules.neutral else 0
        self.deployed_in_a_row = 0
        self.hands: list[list[int]] = [[] for _ in self.seats]
        self.deck, self.discard, self.shown = self.whole_deck(), list[int](), set[int]()
        self.sets_traded = 0
        self.alive = [True for _ in self.seats]
        self.fallen: list[int] = []
        self.missions: list[int] = []
        self.headquarters = [NONE_YET for _ in self.seats] if self.rules.victory == "headquarters" else []
        self.capitals = [NONE_YET for _ in self.seats] if self.rules.capitals else []
        self.cities: set[int] = set()
        self.objective_holder: list[int] = []
        self.objective_reward: list[int] = []
        self.reward_owner = [NOBODY] * 8 if self.rules.rewards else []
        self.airfields = [NONE_YET] * 2 if self.rules.rewards else []
        self.winner, self.truncated = NOBODY, False

    def clear_turn(self) -> None:
        """Reset the counters of a turn."""
        self.held_at_start: set[int] = set()
        self.cards_at_start = 0
        self.sets_this_turn = 0
        self.picked: list[int] = []
        self.traded_set: list[int] = []
        self.draft_left = 0
        self.bonus_paid = False
        self.captured = False
        self.battles = 0
        self.commander_used = False
        self.objective_taken = False
        self.trading_after_elimination = False
        self.moves_left = 0
        self.starting_maneuver = False

    def clear_battle(self) -> None:
        """Reset the current move or battle."""
        self.source = self.target = 0
        self.dice = 0  # number of dice that the attacker chose
        self.attack_dice: list[int] = []
        self.defence_dice: list[int] = []
        self.eliminated_somebody = False
        self.moved_some = False
        self.airfield_in_hand = 0  # index of the airfield to place

    # ---- interface

    def legal(self) -> set[int]:
        """Return the numbers of the legal actions, or an empty set if the game is over."""
        return {self.number[answer] for answer in self.answers()}

    def step(self, action: int) -> None:
        """Play one action."""
        if action not in self.legal():
            raise ValueError(
                f"action {action} is not legal in {self.phase}; legal are {sorted(self.legal())}"
            )
        _, value = self.meaning[action]
        getattr(self, "do_" + self.phase.lower())(value)

    def answers(self) -> set[Answer]:
        """Return the legal answers of the current phase."""
        if self.phase == "OVER":
            return set()
        answers: set[Answer] = getattr(self, "may_" + self.phase.lower())()
        return answers

    def seat_to_decide(self) -> int:
        """Return the seat to act: the seat at turn, except in DEFEND."""
        if self.phase == "OVER":
            return NOBODY
        if self.phase != "DEFEND":
            return self.turn
        defender = self.owner[self.target]
        return self.next_seat(self.turn) if defender == self.neutral else defender  # RULES 6.2

    def state(self) -> dict[str, Any]:
        """Return everything that is compared with the core, in plain Python."""
        return self.state_of_board() | self.state_of_cards() | self.state_of_goals() | self.state_of_turn()

    def state_of_board(self) -> dict[str, Any]:
        return {
            "owner": list(self.owner),
            "troops": list(self.troops),
            "to_place": list(self.to_place),
            "neutral_to_place": self.neutral_to_place,
            "alive": list(self.alive),
            "cities": sorted(self.cities),
            "capitals": list(self.capitals),
            "headquarters": list(self.headquarters),
            "airfields": list(self.airfields),
        }

    def state_of_cards(self) -> dict[str, Any]:
        return {
            "hands": [sorted(hand) for hand in self.hands],
            "picked": sorted(self.picked),
            "deck": sorted(self.deck),
            "discard": sorted(self.discard),
            "shown": sorted(self.shown),
            "sets_traded": self.sets_traded,
        }

    def state_of_goals(self) -> dict[str, Any]:
        over = self.phase == "OVER"
        return {
            "missions": list(self.missions),
            "objective_holder": list(self.objective_holder),
            "objective_reward": list(self.objective_reward),
            "reward_owner": list(self.reward_owner),
            "winner": self.winner,
            "truncated": self.truncated,
            "placement": self.standings() if over else [],
        }

    def state_of_turn(self) -> dict[str, Any]:
        return {
            "phase": self.phase,
            "seat": self.seat_to_decide(),
            "turn": self.turn,
            "round": self.round,
            "draft_left": self.draft_left,
            "moves_left": self.moves_left,
            "must_trade": self.phase in ("TRADE", "BONUS") and self.must_trade(),
            "captured": self.captured,
            "battles": self.battles,
        }

    def all_answers(self) -> list[Answer]:
        """Return every answer in the order of its number (decisions.md, Action numbers)."""
        answers: list[Answer] = [("territory", t) for t in self.territories]
        answers += [("border", tuple(border)) for border in self.board.borders]
        answers += [("dice", d) for d in DICE]
        answers += [("amount", k) for k in (*AMOUNTS, "half", "all")]
        answers += [("card", c) for c in [*self.territories, self.wild]]
        answers += [DONE]
        if self.rules.card_reroll or self.rules.commander:
            answers += [("die", face) for face in FACES]
        if self.rules.objectives is not None:
            answers += [("objective", o) for o in range(NUM_OBJECTIVES)]
        return answers

    # ---- words for the board

    def own(self, army: int) -> list[int]:
        """Return the territories of a seat or of the neutral army."""
        return [t for t in self.territories if self.owner[t] == army]

    def room(self, territory: int) -> int:
        """Return how many more troops the territory may hold (RULES 1.5, 10.3)."""
        most = MOST_TROOPS if self.rules.max_troops is None else self.rules.max_troops
        return int(most - self.troops[territory])

    def own_with_room(self, army: int) -> list[int]:
        return [t for t in self.own(army) if self.room(t) > 0]

    def free_territories(self) -> list[int]:
        return [t for t in self.territories if self.owner[t] == FREE]

    def continent(self, continent: int) -> set[int]:
        return {t for t in self.territories if self.board.continent_of[t] == continent}

    def continents_held(self, seat: int) -> list[int]:
        """Return the continents that the seat holds entirely (RULES 3.1.2)."""
        own = set(self.own(seat))
        return [c for c in range(len(self.board.continents)) if self.continent(c) <= own]

    def joined(self, territory: int) -> set[int]:
        """Return the own territories to which a chain of own territories leads from this one (RULES 3.4).

        Each territory of the chain is adjacent to the one before it. The territory itself is included.
        """
        reached, waiting = {territory}, [territory]
        while waiting:
            for t in self.adjacent_to[waiting.pop()]:
                if self.owner[t] == self.owner[territory] and t not in reached:
                    reached.add(t)
                    waiting.append(t)
        return reached

    def next_seat(self, seat: int) -> int:
        return (seat + 1) % len(self.seats)

    def from_seat(self, first: int) -> list[int]:
        """Return all seats clockwise, beginning with this one."""
        return self.seats[first:] + self.seats[:first]

    def has_reward(self, seat: int, reward: int) -> bool:
        return self.rules.rewards and self.reward_owner[reward] == seat

    # ---- chance

    def next_chance(self, kind: str) -> list[str]:
        """Return the words of the next chance line, which must be of this kind."""
        plausible(len(self.chance) > 0, f"a line '{kind}' is missing in phase '{self.phase}'")
        line = self.chance.popleft()
        words = line.split()
        plausible(words[:1] == [kind], f"a line '{kind}' was expected in phase '{self.phase}', not '{line}'")
        return words[1:]

    def whole_deck(self) -> list[int]:
        """Return the cards of all territories, and wild cards in a symbol deck (RULES 2.1, 2.2, 2.5)."""
        if self.rules.deck == "none":
            return []
        if self.rules.deck != "symbol":
            return list(self.territories)
        cards = [territory for territory in self.territories if self.board.symbols[territory] is not None]
        return cards + [self.wild] * self.board.num_wilds

    def draw_card(self, seat: int) -> None:
        """Draw one card for the seat, and refill an empty deck from the discard pile (RULES 2.4)."""
        if not self.deck:
            self.deck, self.discard = self.discard, []
            self.shown -= set(self.deck)
        if not self.deck:
            return
        who, *name = self.next_chance("card")
        card = self.card_named(" ".join(name))
        plausible(numbers([who]) == [seat], f"the card is due to seat {seat}, not {who}")
        plausible(card in self.deck, f"card {card} is not in the deck {sorted(self.deck)}")
        self.deck.remove(card)
        self.hands[seat].append(card)

    def card_named(self, name: str) -> int:
        if name == "wild":
            return self.wild
        name = name.strip('"')
        plausible(name in self.board.territories, f"no card is named '{name}'")
        return list(self.board.territories).index(name)

    # ---- setup (RULES 4, 6.1, 7.1, 9.1, 9.3)

    def troops_to_start(self) -> int:
        """Return the number of troops of every army at the start (RULES 4.2)."""
        if self.rules.setup == "chart":
            return 0
        if self.rules.initial_troops is not None:
            return self.rules.initial_troops
        troops, territories = STARTING_TROOPS[self.rules.deck][self.rules.num_players], self.wild
        armies = self.rules.num_players + (1 if self.rules.neutral else 0)
        if math.ceil(territories / armies) <= troops:
            return troops
        return math.ceil(troops * territories / 42)

    def set_up(self) -> None:
        """Play the chance events in the order of RULES 11.4, then prepare the first decision."""
        self.draw_starter()
        self.deal_missions()
        self.lay_cities()
        self.lay_objectives()
        if self.rules.setup == "deal":
            self.deal_territories()
        elif self.rules.setup == "random":
            self.place_at_random()
        elif self.rules.setup == "chart":
            self.place_by_chart()
        self.draw_starting_cards()
        self.ask_first_question()

    def draw_starter(self) -> None:
        drawn = numbers(self.next_chance("starter"))
        plausible(len(drawn) == 1 and drawn[0] in self.seats, f"starter {drawn} is not one of {self.seats}")
        plausible(self.rules.setup != "chart" or drawn == [0], "the starter of a chart is seat 0")
        self.starter = self.turn = drawn[0]

    def deal_missions(self) -> None:
        """Deal one mission to each seat (RULES 8.1).

        Missions of unused colours are left out, and extended missions are used only if the rules say so.
        """
        if self.rules.victory != "mission":
            return
        self.missions = numbers(self.next_chance("missions"))
        plausible(
            len(self.missions) == len(self.seats), f"{len(self.seats)} missions are due, not {self.missions}"
        )
        plausible(len(set(self.missions)) == len(self.missions), f"missions {self.missions} repeat")
        plausible(
            set(self.missions) <= set(self.missions_in_deck()),
            f"missions {self.missions}: not all in the deck",
        )

    def missions_in_deck(self) -> list[int]:
        return [number for number, mission in enumerate(self.board.missions) if self.mission_in_deck(mission)]

    def mission_in_deck(self, mission: Any) -> bool:
        if mission.kind == "destroy" and mission.target not in self.seats:
            return False
        return self.rules.missions == "extended" or not mission.extended

    def lay_cities(self) -> None:
        """Place the cities of Basic Training, or the cities that were drawn (RULES 9.1, 9.3)."""
        if self.rules.cities == "fixed":
            self.cities = set(self.board.basic_training_cities)
        elif self.rules.cities == "random":
            drawn = numbers(self.next_chance("cities"))
            due = getattr(self.board, "random_cities", 15)
            plausible(
                drawn == sorted(set(drawn)) and len(drawn) == due,
                f"{due} ascending cities are due, not {drawn}",
            )
            plausible(set(drawn) <= set(self.territories), f"cities {drawn} are not all territories")
            self.cities = set(drawn)

    def lay_objectives(self) -> None:
        """Lay out the eight objectives of Basic Training, or four minor and four major ones (RULES 9.1, 9.3).

        Drawn objectives come with Rewards if the rules have them.
        """
        if self.rules.objectives is None:
            return
        self.objective_holder = [NOT_IN_PLAY for _ in self.board.objectives]
        self.objective_reward = [NOBODY for _ in self.board.objectives]
        drawn = self.objectives_drawn() if self.rules.objectives == "random" or self.rules.rewards else {}
        fixed = {o: NOBODY for o, objective in enumerate(self.board.objectives) if objective.basic_training}
        if self.rules.objectives == "fixed":
            plausible(
                not drawn or set(drawn) == set(fixed), f"objectives {sorted(drawn)} are not the fixed ones"
            )
        for o, reward in (drawn or fixed).items():
            self.objective_holder[o] = FACE_UP
            self.objective_reward[o] = reward

    def objectives_drawn(self) -> dict[int, int]:
        """Return reward by objective from the log.

        The reward is -1 in games without Rewards.
        """
        pairs = [numbers(word.split("=")) for word in self.next_chance("objectives")]
        plausible(all(len(pair) == 2 for pair in pairs), "objectives are written objective=reward")
        drawn = {pair[0]: pair[1] for pair in pairs}
        plausible(
            list(drawn) == [o for o, _ in pairs] == sorted(drawn), "objectives ascend and do not repeat"
        )
        plausible(
            set(drawn) <= set(range(len(self.board.objectives))),
            f"objectives {list(drawn)}: not all on the map",
        )
        for major, rewards in ((False, MINOR_REWARDS), (True, MAJOR_REWARDS)):
            got = sorted(reward for o, reward in drawn.items() if self.board.objectives[o].major == major)
            due = rewards if self.rules.rewards else [NOBODY] * 4
            plausible(
                got == due, f"rewards {due} are due on the {'major' if major else 'minor'} ones, not {got}"
            )
        return drawn

    def armies_in_order(self) -> list[int]:
        """Return the seats from the starter on, then the neutral army."""
        return self.from_seat(self.starter) + ([self.neutral] if self.rules.neutral else [])

    def check_shares(self, owner: list[int]) -> None:
        """Check the number of territories of each army, dealt one by one from the starter on (RULES 4.3)."""
        plausible(len(owner) == self.num_territories, f"owners of {self.num_territories} territories are due")
        armies = self.armies_in_order()
        for place, army in enumerate(armies):
            due = len(range(place, self.num_territories, len(armies)))
            plausible(
                owner.count(army) == due, f"army {army} is due {due} territories, not {owner.count(army)}"
            )

    def deal_territories(self) -> None:
        """Deal the territories, with one troop on each (RULES 4.3, 6.1)."""
        owner = numbers(self.next_chance("deal"))
        self.check_shares(owner)
        for territory, army in enumerate(owner):
            self.put_first_troop(territory, army)

    def put_first_troop(self, territory: int, army: int) -> None:
        self.owner[territory] = army
        self.troops[territory] = 1
        if army == self.neutral:
            self.neutral_to_place -= 1
        else:
            self.to_place[army] -= 1

    def place_at_random(self) -> None:
        """Apply a random claim and placement, with capitals and headquarters (RULES 4.3)."""
        pairs = [numbers(word.split(":")) for word in self.next_chance("setup")]
        plausible(all(len(pair) == 2 for pair in pairs), "a random set-up is written owner:troops")
        self.check_shares([owner for owner, _ in pairs])
        self.owner, self.troops = [owner for owner, _ in pairs], [troops for _, troops in pairs]
        for army in self.armies_in_order():
            self.check_placement(army)
        self.to_place, self.neutral_to_place = [0 for _ in self.seats], 0
        if self.capitals:
            self.capitals = self.own_territories_drawn("capitals")
        if self.headquarters:
            self.headquarters = self.own_territories_drawn("headquarters")
            self.deck = minus(self.deck, self.headquarters)

    def check_placement(self, army: int) -> None:
        troops = [self.troops[t] for t in self.own(army)]
        due = self.troops_to_start()
        plausible(sum(troops) == due, f"army {army} places {due} troops, not {sum(troops)}")
        plausible(min(troops) >= 1, f"army {army} leaves a territory empty")
        plausible(all(self.room(t) >= 0 for t in self.own(army)), f"army {army} exceeds max_troops")

    def own_territories_drawn(self, kind: str) -> list[int]:
        """Return one own territory of every seat from the log."""
        drawn = numbers(self.next_chance(kind))
        owners = [self.owner[t] for t in drawn if t in self.territories]
        plausible(owners == self.seats, f"{kind} {drawn} are not one own territory of each seat")
        return drawn

    def place_by_chart(self) -> None:
        """Place the start positions of Basic Training (RULES 9.1)."""
        chart = self.board.chart(self.rules.num_players)
        self.owner, self.troops, self.capitals = list(chart.owner), list(chart.troops), list(chart.capitals)

    def draw_starting_cards(self) -> None:
        """Draw the starting cards of 2008 games (RULES 9.1, 9.3).

        The third and fourth seat in the turn order start with one card, the fifth with two.
        """
        if self.rules.deck != "star":
            return
        for place, seat in enumerate(self.from_seat(self.starter)):
            for _ in range(STARTING_CARDS[place]):
                self.draw_card(seat)

    def ask_first_question(self) -> None:
        if self.rules.setup == "capitals":
            self.phase = "CAPITAL"
        elif self.rules.setup == "claim":
            self.phase = "CLAIM"
        else:
            self.ask_deploy(self.starter)

    def next_to_place(self, first: int) -> int:
        """Return the first seat, from this one on, with troops left to place."""
        return next((seat for seat in self.from_seat(first) if self.to_place[seat] > 0), first)

    def may_capital(self) -> set[Answer]:
        return {("territory", t) for t in self.free_territories()}

    def do_capital(self, territory: int) -> None:
        """Place the capital and one troop (RULES 9.3)."""
        self.capitals[self.turn] = territory
        if NONE_YET not in self.capitals:
            self.phase = "CLAIM"
        self.do_claim(territory)

    def may_claim(self) -> set[Answer]:
        return {("territory", t) for t in self.free_territories()}

    def do_claim(self, territory: int) -> None:
        """Place one troop on a free territory (RULES 4.3).

        The next seat in turn order follows.
        """
        self.put_first_troop(territory, self.turn)
        self.turn = self.next_to_place(self.next_seat(self.turn))
        if not self.free_territories():
            self.ask_deploy(self.turn)

    def ask_deploy(self, first: int) -> None:
        """Let seats place one troop each in turn, skipping seats with none left (RULES 4.3, 4.4)."""
        self.lose_what_finds_no_room()
        self.deployed_in_a_row = 0
        if any(self.to_place):
            self.phase, self.turn = "DEPLOY", self.next_to_place(first)
        else:
            self.turn = self.starter
            self.ask_deploy_neutral()

    def lose_what_finds_no_room(self) -> None:
        """Remove troops that have no room on any own territory (RULES 10.3)."""
        for seat in self.seats:
            if not self.own_with_room(seat):
                self.to_place[seat] = 0
        if not self.own_with_room(self.neutral):
            self.neutral_to_place = 0

    def may_deploy(self) -> set[Answer]:
        return {("territory", t) for t in self.own_with_room(self.turn)}

    def do_deploy(self, territory: int) -> None:
        """Place one troop (RULES 6.1).

        With a neutral army, a seat places two before the other seat.
        """
        self.troops[territory] += 1
        self.to_place[self.turn] -= 1
        self.deployed_in_a_row += 1
        self.lose_what_finds_no_room()
        second_one_due = self.rules.neutral and self.deployed_in_a_row < 2 and self.to_place[self.turn] > 0
        if not second_one_due:
            self.ask_deploy(self.next_seat(self.turn))

    def ask_deploy_neutral(self) -> None:
        if self.neutral_to_place > 0:
            self.phase = "DEPLOY_NEUTRAL"
        else:
            self.ask_headquarters()

    def may_deploy_neutral(self) -> set[Answer]:
        return {("territory", t) for t in self.own_with_room(self.neutral)}

    def do_deploy_neutral(self, territory: int) -> None:
        """Place one neutral troop (RULES 6.1).

        The players alternate.
        """
        self.troops[territory] += 1
        self.neutral_to_place -= 1
        self.lose_what_finds_no_room()
        self.turn = self.next_seat(self.turn)
        self.ask_deploy_neutral()

    def ask_headquarters(self) -> None:
        if NONE_YET in self.headquarters:
            self.phase, self.turn = "HEADQUARTERS", self.starter
        else:
            self.begin_first_turn()

    def may_headquarters(self) -> set[Answer]:
        return {("territory", t) for t in self.own(self.turn)}

    def do_headquarters(self, territory: int) -> None:
        """Choose a headquarters (RULES 7.1).

        Its card leaves the deck.
        """
        self.headquarters[self.turn] = territory
        self.deck.remove(territory)
        self.turn = self.next_seat(self.turn)
        if NONE_YET not in self.headquarters:
            self.begin_first_turn()

    def begin_first_turn(self) -> None:
        self.round = 1
        self.begin_turn(self.starter)

    # ---- draft (RULES 3.1, 9.2)

    def begin_turn(self, seat: int) -> None:
        self.clear_turn()
        self.clear_battle()
        self.turn = seat
        self.held_at_start = set(self.own(seat))
        self.cards_at_start = len(self.hands[seat])
        self.draft_left = self.troops_due(seat)
        self.ask_trade()

    def troops_due(self, seat: int) -> int:
        """Return the troops for territories, cities, continents, capitals and Rewards.

        Sources: RULES 3.1.1, 3.1.2, 9.2 and 9.8.
        """
        own = self.own(seat)
        due = max(3, (len(own) + len(self.cities & set(own))) // 3)
        due += sum(self.board.bonuses[c] for c in self.continents_held(seat))
        due += sum(1 for capital in self.capitals if capital in own)
        return due + (2 if self.has_reward(seat, TWO_TROOPS) else 0)

    def add_to_draft(self, troops: int) -> None:
        """Add troops to place (RULES 1.5).

        Troops beyond the largest number are lost.
        """
        self.draft_left = min(self.draft_left + troops, MOST_TROOPS)

    def may_draft(self) -> set[Answer]:
        return {("territory", t) for t in self.own_with_room(self.turn)}

    def do_draft(self, territory: int) -> None:
        self.target = territory
        self.phase = "DRAFT_AMOUNT"

    def can_be_placed(self) -> int:
        return min(self.draft_left, self.room(self.target))

    def may_draft_amount(self) -> set[Answer]:
        return amounts(self.can_be_placed())

    def do_draft_amount(self, word: int | str) -> None:
        placed = amount_meant(word, self.can_be_placed())
        self.troops[self.target] += placed
        self.draft_left -= placed
        self.ask_draft()

    def ask_draft(self) -> None:
        """Continue the draft while troops are left (RULES 10.3).

        Without any room, the rest is lost.
        """
        if self.draft_left > 0 and self.own_with_room(self.turn):
            self.phase = "DRAFT"
        else:
            self.draft_left = 0
            self.end_draft()

    def end_draft(self) -> None:
        """Judge missions, then begin a Starting Maneuver or the attacks (RULES 8.2, 9.8).

        A draft after an elimination is not followed by a Starting Maneuver.
        """
        if self.judge_missions():
            return
        if not self.trading_after_elimination and self.has_reward(self.turn, STARTING_MANEUVER):
            self.starting_maneuver, self.moves_left = True, 1
            self.phase = "FORTIFY_FROM"
        else:
            self.phase = "ATTACK"
        self.trading_after_elimination = False

    # ---- trading in cards (RULES 5, 9.4, 3.3.2)

    def symbol(self, card: int) -> str:
        return "wild" if card == self.wild else self.board.symbols[card]

    def stars(self, cards: Iterable[int]) -> int:
        return sum(self.board.stars[card] for card in cards)

    def sets_in(self, cards: list[int]) -> list[tuple[int, ...]]:
        return [
            three for three in combinations(sorted(cards), 3) if is_set(self.symbol(card) for card in three)
        ]

    def ask_trade(self) -> None:
        """Let a seat that holds a set, or two stars, trade before it places troops (RULES 5.3, 9.4)."""
        hand = self.hands[self.turn]
        can_trade = bool(self.sets_in(hand)) if self.rules.deck == "symbol" else self.stars(hand) >= 2
        if can_trade:
            self.phase = "TRADE"
        else:
            self.ask_draft()

    def must_trade(self) -> bool:
        """Return True if the seat at turn must trade (RULES 5.3, 3.3.2).

        The first set of five or more cards is forced. After an elimination, sets are forced while five or
        more cards are held.
        """
        if self.trading_after_elimination:
            return len(self.hands[self.turn]) >= 5
        return self.cards_at_start >= 5 and self.sets_this_turn == 0

    def may_trade(self) -> set[Answer]:
        return self.may_trade_symbols() if self.rules.deck == "symbol" else self.may_trade_stars()

    def may_trade_symbols(self) -> set[Answer]:
        """Return the cards that can still become a set with those picked."""
        rest = minus(self.hands[self.turn], self.picked)
        answers = {("card", card) for card in rest if self.can_become_set([*self.picked, card])}
        return answers if self.picked or self.must_trade() else answers | {DONE}

    def can_become_set(self, cards: list[int]) -> bool:
        rest = minus(self.hands[self.turn], cards)
        more = combinations(rest, 3 - len(cards))
        return any(is_set(self.symbol(card) for card in [*cards, *others]) for others in more)

    def may_trade_stars(self) -> set[Answer]:
        """Return the cards that keep the total at ten stars or less (RULES 9.4).

        At least two stars make a trade.
        """
        rest = minus(self.hands[self.turn], self.picked)
        answers = {("card", card) for card in rest if self.stars([*self.picked, card]) <= 10}
        return answers | {DONE} if not self.picked or self.stars(self.picked) >= 2 else answers

    def do_trade(self, card: int | None) -> None:
        if card is not None:
            self.picked.append(card)
            if self.rules.deck == "symbol" and len(self.picked) == 3:
                self.trade_set()
            return
        if self.picked:
            self.add_to_draft(STAR_TROOPS[self.stars(self.picked)])
            self.lay_away_picked()
        self.ask_draft()

    def lay_away_picked(self) -> None:
        """Move traded cards to the discard pile (RULES 5.5)."""
        self.hands[self.turn] = minus(self.hands[self.turn], self.picked)
        self.discard += self.picked
        self.traded_set, self.picked = self.picked, []

    def trade_set(self) -> None:
        self.add_to_draft(self.picked_value())
        self.sets_traded += 1
        self.sets_this_turn += 1
        self.lay_away_picked()
        if self.bonus_places():
            self.phase = "BONUS"
        else:
            self.after_set()

    def picked_value(self) -> int:
        """Return the value of the picked set (RULES 5.2).

        It depends on the symbols, or on the number of sets before this one.
        """
        if self.rules.set_values == "fixed":
            return fixed_value(self.symbol(card) for card in self.picked)
        return set_value(self.rules.set_values, self.sets_traded)

    def bonus_places(self) -> list[int]:
        """Return own territories with room on the cards of the set (RULES 5.4).

        The bonus is paid once a turn or once a set.
        """
        if self.rules.occupied_bonus == "once_a_turn" and self.bonus_paid:
            return []
        return [t for t in self.own_with_room(self.turn) if t in self.traded_set]

    def may_bonus(self) -> set[Answer]:
        return {("territory", t) for t in self.bonus_places()}

    def do_bonus(self, territory: int) -> None:
        """Place two extra troops on the territory, less those without room (RULES 5.4, 10.3)."""
        self.troops[territory] += min(2, self.room(territory))
        self.bonus_paid = True
        self.after_set()

    def after_set(self) -> None:
        """Continue with another set if there is one (RULES 3.3.2).

        After an elimination, this happens only while five or more cards are held.
        """
        if self.trading_after_elimination and not self.must_trade():
            self.ask_draft()
        else:
            self.ask_trade()

    # ---- attack (RULES 3.2)

    def battles_used_up(self) -> bool:
        """Return True if the turn has had all its rolls (RULES 11.3)."""
        most = self.rules.max_battles_per_turn
        return most is not None and self.battles >= most

    def may_attack(self) -> set[Answer]:
        """Return attacks from own territories with two troops to adjacent foreign ones (RULES 3.2.1)."""
        if self.battles_used_up():
            return {DONE}
        return {DONE} | {("border", (a, b)) for a, b in self.board.borders if self.may_attack_along(a, b)}

    def may_attack_along(self, source: int, target: int) -> bool:
        return self.owner[source] == self.turn != self.owner[target] and self.troops[source] >= 2

    def do_attack(self, border: tuple[int, int] | None) -> None:
        if border is None:
            self.end_attacks()
            return
        self.source, self.target = border
        if self.rules.attack == "choice":
            self.phase = "ATTACK_DICE"
        elif self.rules.attack == "max":
            self.declare(self.most_attack_dice())
        else:
            self.blitz()

    def most_attack_dice(self) -> int:
        return min(3, self.troops[self.source] - 1)

    def most_defence_dice(self) -> int:
        return min(2, self.troops[self.target])

    def may_attack_dice(self) -> set[Answer]:
        blitz: set[Answer] = {("dice", "blitz")} if self.troops[self.source] >= 3 else set()
        return blitz | {("dice", d) for d in (1, 2, 3) if d <= self.most_attack_dice()}

    def do_attack_dice(self, dice: int | str) -> None:
        if dice == "blitz":
            self.blitz()
        else:
            self.declare(int(dice))

    def declare(self, dice: int) -> None:
        """Declare the attacker's dice (RULES 3.2.2).

        The defender sees them and chooses.
        """
        self.dice = dice
        if self.rules.defender_dice == "choice":
            self.phase = "DEFEND"
        else:
            self.battle(self.most_defence_dice())

    def may_defend(self) -> set[Answer]:
        return {("dice", d) for d in (1, 2) if d <= self.most_defence_dice()}

    def do_defend(self, dice: int) -> None:
        self.battle(dice)

    def battle(self, defence_dice: int) -> None:
        """Roll once, then go on to re-roll, commander and comparison (RULES 10.6)."""
        self.roll(defence_dice)
        if self.cards_for_reroll():
            self.phase = "REROLL"
        else:
            self.offer_commander()

    def roll(self, defence_dice: int) -> None:
        """Read the dice from the log, including bonus dice, and drop the lowest (RULES 9.8)."""
        words = self.next_chance("roll")
        plausible(words.count("|") == 1, "a roll is written: attacker's dice | defender's dice")
        attack, defence = numbers(words[: words.index("|")]), numbers(words[words.index("|") + 1 :])
        attack_extra = 1 if self.has_reward(self.turn, ATTACK_DIE) else 0
        defence_extra = 1 if self.has_reward(self.owner[self.target], DEFENSE_DIE) else 0
        self.check_dice(attack, self.dice, attack_extra)
        self.check_dice(defence, defence_dice, defence_extra)
        self.attack_dice = without_lowest(attack, attack_extra)
        self.defence_dice = without_lowest(defence, defence_extra)
        self.battles += 1

    def check_dice(self, dice: list[int], chosen: int, extra: int) -> None:
        plausible(len(dice) == chosen + extra, f"dice {dice}: {chosen} chosen and {extra} extra are due")
        plausible(set(dice) <= set(FACES), f"dice {dice} show a face that no die has")

    def cards_for_reroll(self) -> list[int]:
        """Return the cards in the attacker's hand that allow a re-roll (RULES 10.4).

        They are the cards of the attacking and of the attacked territory, in this order.
        """
        if not self.rules.card_reroll:
            return []
        return [t for t in (self.source, self.target) if t in self.hands[self.turn]]

    def may_reroll(self) -> set[Answer]:
        return {DONE} | {("die", face) for face in self.attack_dice}

    def do_reroll(self, face: int | None) -> None:
        """Re-roll one own die (RULES 10.4).

        The card is public from then on.
        """
        if face is not None:
            self.shown.add(self.cards_for_reroll()[0])
            again = numbers(self.next_chance("reroll"))
            plausible(len(again) == 1 and again[0] in FACES, f"a re-roll gives one face, not {again}")
            self.attack_dice.remove(face)
            self.attack_dice += again
        self.offer_commander()

    def offer_commander(self) -> None:
        """Let the attacker turn one die below six, once a turn (RULES 10.5)."""
        if self.rules.commander and not self.commander_used and min(self.attack_dice) < 6:
            self.phase = "COMMANDER"
        else:
            self.end_battle()

    def may_commander(self) -> set[Answer]:
        return {DONE} | {("die", face) for face in self.attack_dice if face < 6}

    def do_commander(self, face: int | None) -> None:
        if face is not None:
            self.commander_used = True
            self.attack_dice.remove(face)
            self.attack_dice.append(6)
        self.end_battle()

    def end_battle(self) -> None:
        self.remove_losses()
        if self.troops[self.target] == 0:
            self.capture()
        else:
            self.phase = "ATTACK"

    def remove_losses(self) -> None:
        attack = with_airfield(self.attack_dice, self.airfield_helps(self.turn))
        defence = with_airfield(self.defence_dice, self.airfield_helps(self.owner[self.target]))
        lost_by_attacker, lost_by_defender = losses(attack, defence)
        self.troops[self.source] -= lost_by_attacker
        self.troops[self.target] -= lost_by_defender

    def airfield_helps(self, army: int) -> bool:
        """Return True if an airfield of the army helps in a battle for the target (RULES 9.8, 9.9).

        The target has the airfield, or is adjacent to the territory with the airfield.
        """
        standing = [airfield for airfield in self.airfields if airfield != NONE_YET]
        own = [airfield for airfield in standing if self.owner[airfield] == army]
        return any(self.target == airfield or self.target in self.adjacent_to[airfield] for airfield in own)

    def blitz(self) -> None:
        """Roll with the most dice until the blitz ends (RULES 3.2.4, 11.3).

        The blitz ends when the territory falls, one troop is left on the attacking territory, or no roll is
        left.
        """
        while self.troops[self.target] > 0 and self.troops[self.source] >= 2 and not self.battles_used_up():
            self.dice = self.most_attack_dice()
            self.roll(self.most_defence_dice())
            self.remove_losses()
        if self.troops[self.target] == 0:
            self.capture()
        else:
            self.phase = "ATTACK"

    # ---- capture, occupation, elimination (RULES 3.2.5, 3.2.7, 3.3)

    def destroy_airfields(self) -> None:
        """Remove an airfield with its territory (RULES 9.8).

        Nobody owns its Reward any more.
        """
        for which, airfield in enumerate(self.airfields):
            if airfield == self.target:
                self.airfields[which] = NONE_YET
                self.reward_owner[AIRFIELDS[which]] = NOBODY

    def capture(self) -> None:
        """Capture the target, and move in as many troops as dice were chosen (RULES 3.2.7).

        Eliminations and victory are judged before the occupation continues.
        """
        loser = self.owner[self.target]
        self.owner[self.target] = self.turn
        self.troops[self.source] -= self.dice
        self.troops[self.target] = self.dice
        self.captured = True
        self.destroy_airfields()
        self.eliminated_somebody = loser != self.neutral and not self.own(loser)
        if self.eliminated_somebody:
            self.eliminate(loser)
        if not (self.judge_conquest() or self.judge_missions()):
            self.ask_occupy()

    def eliminate(self, loser: int) -> None:
        """Give cards and Objectives to the eliminator (RULES 3.3.1, 3.3.3).

        Rewards are lost.
        """
        self.alive[loser] = False
        self.fallen.append(loser)
        self.hands[self.turn] += self.hands[loser]
        self.hands[loser] = []
        self.objective_holder = [self.turn if holder == loser else holder for holder in self.objective_holder]
        self.reward_owner = [NOBODY if holder == loser else holder for holder in self.reward_owner]

    def can_move(self) -> int:
        """Return how many troops can move from source to target (RULES 3.2.5, 3.4, 10.3).

        One troop stays behind, and the room on the target is a limit.
        """
        return min(self.troops[self.source] - 1, self.room(self.target))

    def move(self, word: int | str) -> None:
        moved = amount_meant(word, self.can_move())
        self.troops[self.source] -= moved
        self.troops[self.target] += moved

    def ask_occupy(self) -> None:
        if self.can_move() > 0:
            self.phase = "OCCUPY"
        else:
            self.end_occupation()

    def may_occupy(self) -> set[Answer]:
        return amounts(self.can_move()) | {DONE}

    def do_occupy(self, word: int | str | None) -> None:
        if word is None:
            self.end_occupation()
        else:
            self.move(word)
            self.ask_occupy()

    def end_occupation(self) -> None:
        """Judge missions, then begin the trades that an elimination forces (RULES 3.2.7, 3.3.2)."""
        if self.judge_missions():
            return
        many_cards = self.rules.deck == "symbol" and len(self.hands[self.turn]) >= 6
        if self.eliminated_somebody and many_cards:
            self.trading_after_elimination = True
            self.ask_trade()
        else:
            self.phase = "ATTACK"

    # ---- the end of a turn (RULES 3, 9.5)

    def end_attacks(self) -> None:
        """Draw a card in games with a symbol deck, then take an Objective or fortify (RULES 3)."""
        if self.rules.deck == "symbol" and self.captured:
            self.draw_card(self.turn)
        if self.objectives_met():
            self.phase = "OBJECTIVE"
        else:
            self.begin_fortify()

    def objectives_met(self) -> list[int]:
        """Return face-up Objectives that the position meets when the attacks end (RULES 9.5, 9.6)."""
        face_up = [o for o, holder in enumerate(self.objective_holder) if holder == FACE_UP]
        return [o for o in face_up if self.is_met(self.board.objectives[o])]

    def is_met(self, objective: Any) -> bool:
        """Return True if the seat at turn meets an Objective (RULES 9.6)."""
        own = set(self.own(self.turn))
        new = own - self.held_at_start
        if objective.kind == "continent":
            return self.continent(objective.continent) <= own
        if objective.kind == "continent_in_turn":
            return any(self.continent(c) <= new for c in range(len(self.board.continents)))
        count = {
            "cities": len(self.cities & own),
            "enemy_capitals": sum(1 for s in self.seats if s != self.turn and self.capital_of(s) in own),
            "cities_in_turn": len(self.cities & new),
            "territories_in_turn": len(new),
            "territories": len(own),
            "continents": len(self.continents_held(self.turn)),
        }[objective.kind]
        return count >= objective.count

    def capital_of(self, seat: int) -> int:
        return self.capitals[seat] if self.capitals else NONE_YET

    def may_objective(self) -> set[Answer]:
        return {DONE} | {("objective", o) for o in self.objectives_met()}

    def do_objective(self, objective: int | None) -> None:
        """Take one Objective with its Reward, or none (RULES 9.5)."""
        if objective is None:
            self.begin_fortify()
            return
        self.objective_holder[objective] = self.turn
        self.objective_taken = True
        self.take_reward(self.objective_reward[objective])

    def take_reward(self, reward: int) -> None:
        """Take a Reward (RULES 9.8).

        An airfield is placed at once, where no airfield stands.
        """
        if reward != NOBODY:
            self.reward_owner[reward] = self.turn
        if reward in AIRFIELDS and self.may_airfield():
            self.airfield_in_hand = AIRFIELDS.index(reward)
            self.phase = "AIRFIELD"
            return
        if reward in AIRFIELDS:  # no territory for the airfield
            self.reward_owner[reward] = NOBODY
        self.begin_fortify()

    def may_airfield(self) -> set[Answer]:
        return {("territory", t) for t in self.own(self.turn) if t not in self.airfields}

    def do_airfield(self, territory: int) -> None:
        self.airfields[self.airfield_in_hand] = territory
        self.begin_fortify()

    # ---- fortify (RULES 3.4, 9.8, 9.10)

    def begin_fortify(self) -> None:
        if self.rules.fortify == "free":
            self.moves_left = self.num_territories
        else:
            self.moves_left = 2 if self.has_reward(self.turn, ADDITIONAL_MANEUVER) else 1
        self.phase = "FORTIFY_FROM"

    def fortify_targets(self, source: int) -> list[int]:
        """Return other own territories with room, adjacent or joined (RULES 3.4)."""
        within_reach = self.adjacent_to[source] if self.rules.fortify == "adjacent" else self.joined(source)
        return [t for t in self.own_with_room(self.turn) if t in within_reach and t != source]

    def may_fortify_from(self) -> set[Answer]:
        sources = [t for t in self.own(self.turn) if self.troops[t] >= 2 and self.fortify_targets(t)]
        return {DONE} | {("territory", t) for t in sources}

    def do_fortify_from(self, territory: int | None) -> None:
        if territory is None:
            self.end_fortify()
        else:
            self.source = territory
            self.phase = "FORTIFY_TO"

    def may_fortify_to(self) -> set[Answer]:
        return {("territory", t) for t in self.fortify_targets(self.source)}

    def do_fortify_to(self, territory: int) -> None:
        self.target = territory
        self.moved_some = False
        self.phase = "FORTIFY_AMOUNT"

    def may_fortify_amount(self) -> set[Answer]:
        return amounts(self.can_move()) | ({DONE} if self.moved_some else set())

    def do_fortify_amount(self, word: int | str | None) -> None:
        if word is not None:
            self.move(word)
            self.moved_some = True
        if word is None or self.can_move() == 0:
            self.end_move()

    def end_move(self) -> None:
        """Judge missions after every move (RULES 8.2), and continue or end fortifying."""
        self.moves_left -= 1
        if self.judge_missions():
            return
        if self.moves_left > 0:
            self.phase = "FORTIFY_FROM"
        else:
            self.end_fortify()

    def end_fortify(self) -> None:
        """Begin the attacks after a Starting Maneuver, or end the turn."""
        self.moves_left = 0
        if self.starting_maneuver:
            self.starting_maneuver = False
            self.phase = "ATTACK"
        else:
            self.end_turn()

    def end_turn(self) -> None:
        """Draw the card of a star deck, check the win by Objectives, then pass the turn.

        Sources: RULES 3, 3.5 and 9.7.
        """
        if self.rules.deck == "star" and self.star_card_due():
            self.draw_card(self.turn)
        if self.rules.victory == "objectives" and self.wins_by_objectives():
            self.win(self.turn)
        else:
            self.pass_turn()

    def star_card_due(self) -> bool:
        """Return True if the seat draws a card of a star deck (RULES 9.5, 9.8).

        The card is due for a capture if no Objective was taken, and always with a Guaranteed Card. There are
        never two.
        """
        return self.has_reward(self.turn, GUARANTEED_CARD) or (self.captured and not self.objective_taken)

    def wins_by_objectives(self) -> bool:
        """Return True if the seat has at least three Objectives and its own capital (RULES 9.7)."""
        return self.objective_holder.count(self.turn) >= 3 and self.capital_of(self.turn) in self.own(
            self.turn
        )

    def pass_turn(self) -> None:
        """Pass the turn to the next living seat (RULES 11.2).

        A round ends when the turn passes the starter's place, even if the starter is dead.
        """
        seat = self.turn
        round_ended = False
        while True:
            seat = self.next_seat(seat)
            round_ended = round_ended or seat == self.starter
            if self.alive[seat]:
                break
        if round_ended and self.round == self.rules.max_rounds:
            self.phase, self.truncated = "OVER", True
            return
        self.round += 1 if round_ended else 0
        self.begin_turn(seat)

    # ---- victory (RULES 6.3, 7.3, 8, 11)

    def win(self, seat: int) -> None:
        self.phase, self.winner, self.moves_left = "OVER", seat, 0

    def judge_conquest(self) -> bool:
        """Judge the victory after a capture (RULES 11.1, 6.3, 7.3).

        The seat wins with all territories, as the last living seat, or with enough headquarters.
        """
        if (
            self.alive.count(True) == 1
            or len(self.own(self.turn)) == self.num_territories
            or self.holds_headquarters()
        ):
            self.win(self.turn)
        return self.phase == "OVER"

    def holds_headquarters(self) -> bool:
        """Return True if the seat holds its own headquarters and enough opposing ones (RULES 7.3)."""
        if self.rules.victory != "headquarters":
            return False
        own = self.own(self.turn)
        opposing = sum(1 for s in self.seats if s != self.turn and self.headquarters[s] in own)
        needed = self.rules.headquarters_to_win or len(self.seats) - 1
        return self.headquarters[self.turn] in own and opposing >= needed

    def judge_missions(self) -> bool:
        """Let the first living seat with a fulfilled mission win, the seat at turn first (RULES 8.2)."""
        if self.rules.victory != "mission":
            return False
        fulfilled = [s for s in self.from_seat(self.turn) if self.alive[s] and self.has_fulfilled_mission(s)]
        if fulfilled:
            self.win(fulfilled[0])
        return bool(fulfilled)

    def has_fulfilled_mission(self, seat: int) -> bool:
        mission = self.board.missions[self.missions[seat]]
        if mission.kind == "continents":
            return self.has_continents(seat, mission)
        if mission.kind == "territories":
            return self.has_territories(seat, mission.territories, mission.min_troops)
        if mission.target == seat:
            return self.has_territories(seat, mission.fallback_territories, 1)  # RULES 8.3
        return not self.alive[mission.target]

    def has_continents(self, seat: int, mission: Any) -> bool:
        """Return True if the seat holds the named continents, and a third one if the mission requires it."""
        held, named = set(self.continents_held(seat)), set(mission.continents)
        return named <= held and (not mission.any_third or held > named)

    def has_territories(self, seat: int, number: int, min_troops: int) -> bool:
        return len([t for t in self.own(seat) if self.troops[t] >= min_troops]) >= number

    def standings(self) -> list[int]:
        """Return the place of every seat, 1 the best (RULES 11.2).

        Equal seats share the better place.
        """
        merits = [self.merit(seat) for seat in self.seats]
        return [1 + sum(1 for other in merits if other > merit) for merit in merits]

    def merit(self, seat: int) -> tuple[int, int, int]:
        """Return a sort key: the winner, the living by territories and troops, the dead by time of death."""
        if not self.alive[seat]:
            return (0, self.fallen.index(seat), 0)
        own = self.own(seat)
        return (2 if seat == self.winner else 1, len(own), sum(self.troops[t] for t in own))

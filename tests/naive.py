"""The slow, obvious twin of the game core: every game of RULES.md once more, in plain Python.

It is written from the rules and from `docs/decisions.md` alone and knows nothing of `risk_env/core`. Tests feed it the
chance results of the core's log and compare the two action by action: what is legal, and the state. It draws no
chance itself, but refuses results that cannot be (a card that is not in the deck, two dice where three were rolled).

An *answer* is a pair such as `("territory", 4)`, `("border", (4, 7))`, `("dice", "blitz")`, `("amount", "half")`,
`("card", 2)`, `("done", None)`, `("die", 3)` or `("objective", 0)`. Each phase has two methods: `may_<phase>` gives the
legal answers, `do_<phase>` plays one (it is given the value only). `self.turn` is the seat at turn, in set-up the one
that places.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

Answer = tuple[str, Any]

DONE: Answer = ("done", None)
FREE = -1  # owner of a territory nobody has claimed
NOBODY = -1
NOT_IN_PLAY, FACE_UP = -2, -1  # where an objective lies that no seat has taken
NONE_YET = -1  # a capital or headquarters not picked, an airfield not on the board

DICE = (1, 2, 3, "blitz")
AMOUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
FACES = (1, 2, 3, 4, 5, 6)
MOST_TROOPS = 262_144  # on a territory, or to place at a draft (RULES 1.5)
NUM_OBJECTIVES = 12

STARTING_TROOPS = {
    "symbol": {2: 40, 3: 35, 4: 30, 5: 25, 6: 20},
    "star": {3: 30, 4: 25, 5: 20},
}
FIRST_SETS = (4, 6, 8, 10, 12, 15)
FIXED_SETS = {"infantry": 4, "cavalry": 6, "artillery": 8}  # three of a symbol
ONE_OF_EACH = 10
STAR_TROOPS = {2: 2, 3: 4, 4: 7, 5: 10, 6: 13, 7: 17, 8: 21, 9: 25, 10: 30}
STARTING_CARDS = (0, 0, 1, 1, 2)  # by place in the turn order

AIRFIELD_MINOR, ADDITIONAL_MANEUVER, GUARANTEED_CARD, STARTING_MANEUVER = 0, 1, 2, 3
AIRFIELD_MAJOR, ATTACK_DIE, DEFENSE_DIE, TWO_TROOPS = 4, 5, 6, 7
AIRFIELDS = (AIRFIELD_MINOR, AIRFIELD_MAJOR)
MINOR_REWARDS, MAJOR_REWARDS = [0, 1, 2, 3], [4, 5, 6, 7]


class ChanceError(Exception):
    """A chance line is missing, of another kind than the game asks for, or impossible."""


# ---- facts that need no game -------------------------------------------------------------------------------------


def amounts(available: int) -> set[Answer]:
    """The answers to "how many?" where `available` troops can move (decisions.md, Amounts)."""
    answers = {("amount", k) for k in AMOUNTS if k < available} | {("amount", "all")}
    if available // 2 >= 1 and available // 2 not in AMOUNTS:
        answers.add(("amount", "half"))
    return answers


def amount_meant(word: int | str, available: int) -> int:
    """The number of troops that an amount's word stands for."""
    if word == "all":
        return available
    return available // 2 if word == "half" else int(word)


def is_set(symbols: Iterable[str]) -> bool:
    """Three cards of one symbol, of three symbols, or with a wild one among them (RULES 5.1)."""
    symbols = list(symbols)
    return len(symbols) == 3 and ("wild" in symbols or len(set(symbols)) in (1, 3))


def set_value(set_values: str, traded_before: int) -> int:
    """Troops for the next set, after `traded_before` sets of all players (RULES 5.2)."""
    if set_values == "by_one":
        return 4 + traded_before
    if traded_before < len(FIRST_SETS):
        return FIRST_SETS[traded_before]
    return 15 + 5 * (traded_before - len(FIRST_SETS) + 1)


def fixed_value(symbols: Iterable[str]) -> int:
    """The dearest set that three cards can be when a wild one stands for any symbol (RULES 5.2)."""
    readings = product(*(FIXED_SETS if symbol == "wild" else [symbol] for symbol in symbols))
    return max(ONE_OF_EACH if len(set(cards)) == 3 else FIXED_SETS[cards[0]] for cards in readings if is_set(cards))


def without_lowest(dice: list[int], extra: int) -> list[int]:
    """The dice that stay when as many as were added are dropped, the lowest first (RULES 9.8)."""
    return sorted(dice, reverse=True)[: len(dice) - extra]


def with_airfield(dice: list[int], airfield: bool) -> list[int]:
    """The dice from the highest down, the highest one better if an airfield helps (RULES 9.8, 9.9)."""
    dice = sorted(dice, reverse=True)
    return [dice[0] + 1, *dice[1:]] if airfield else dice


def losses(attack: list[int], defence: list[int]) -> tuple[int, int]:
    """Troops that attacker and defender lose when dice from the highest down are compared (RULES 3.2.3)."""
    pairs = list(zip(sorted(attack, reverse=True), sorted(defence, reverse=True), strict=False))
    lost_by_attacker = sum(1 for own, other in pairs if own <= other)
    return lost_by_attacker, len(pairs) - lost_by_attacker


def minus(cards: list[int], taken: list[int]) -> list[int]:
    """The cards without those taken, each once."""
    rest = list(cards)
    for card in taken:
        rest.remove(card)
    return rest


def plausible(condition: bool, message: str) -> None:
    """Refuse a chance result that cannot be."""
    if not condition:
        raise ChanceError(message)


def numbers(words: Iterable[str]) -> list[int]:
    """Whole numbers of a chance line."""
    try:
        return [int(word) for word in words]
    except ValueError as error:
        raise ChanceError(f"chance line: whole numbers are expected, not {error}") from None


# ---- the game ----------------------------------------------------------------------------------------------------


class Naive:
    """One game.

    rules: an object with the options of RULES 13. board: an object with the map's facts. chance: a queue (`popleft`) of
    chance lines without "chance: ", set-up's at construction, later ones added before the `step` that needs them.
    """

    def __init__(self, rules: Any, board: Any, chance: Any) -> None:
        self.rules, self.board, self.chance = rules, board, chance
        self.num_territories = len(board.territories)
        self.territories = list(range(self.num_territories))
        self.seats = list(range(rules.num_players))
        self.neutral = rules.num_players
        self.wild = self.num_territories
        self.neighbours = {t: [b for a, b in board.borders if a == t] for t in self.territories}
        self.meaning = self.all_answers()
        self.number = {answer: number for number, answer in enumerate(self.meaning)}
        self.clear_table()
        self.clear_turn()
        self.clear_battle()
        self.set_up()

    def clear_table(self) -> None:
        """The board and everything beside it before the set-up."""
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
        """What is counted within one turn."""
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
        """The move or battle at hand."""
        self.source = self.target = 0
        self.dice = 0  # dice the attacker chose
        self.attack_dice: list[int] = []
        self.defence_dice: list[int] = []
        self.eliminated_somebody = False
        self.moved_some = False
        self.airfield_in_hand = 0  # which of the two is to be placed

    # ---- doors

    def legal(self) -> set[int]:
        """The numbers of the legal actions, empty when the game is over."""
        return {self.number[answer] for answer in self.answers()}

    def step(self, action: int) -> None:
        """Play one action."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal in {self.phase}; legal are {sorted(self.legal())}")
        _, value = self.meaning[action]
        getattr(self, "do_" + self.phase.lower())(value)

    def answers(self) -> set[Answer]:
        """The legal answers of the phase at hand."""
        if self.phase == "OVER":
            return set()
        answers: set[Answer] = getattr(self, "may_" + self.phase.lower())()
        return answers

    def seat_to_decide(self) -> int:
        """The seat whose answer is awaited: the one at turn, but in DEFEND."""
        if self.phase == "OVER":
            return NOBODY
        if self.phase != "DEFEND":
            return self.turn
        defender = self.owner[self.target]
        return self.next_seat(self.turn) if defender == self.neutral else defender  # RULES 6.2

    def state(self) -> dict[str, Any]:
        """Everything that is compared with the core, in plain Python."""
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
        """Every answer in the order of its number (decisions.md, Action numbers)."""
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
        """The territories of a seat or of the neutral army."""
        return [t for t in self.territories if self.owner[t] == army]

    def room(self, territory: int) -> int:
        """How many more troops the territory may hold (RULES 1.5, 10.3)."""
        most = MOST_TROOPS if self.rules.max_troops is None else self.rules.max_troops
        return int(most - self.troops[territory])

    def own_with_room(self, army: int) -> list[int]:
        return [t for t in self.own(army) if self.room(t) > 0]

    def free_territories(self) -> list[int]:
        return [t for t in self.territories if self.owner[t] == FREE]

    def continent(self, continent: int) -> set[int]:
        return {t for t in self.territories if self.board.continent_of[t] == continent}

    def continents_held(self, seat: int) -> list[int]:
        """Continents that the seat holds entirely (RULES 3.1.2)."""
        own = set(self.own(seat))
        return [c for c in range(len(self.board.continents)) if self.continent(c) <= own]

    def joined(self, territory: int) -> set[int]:
        """The own territories joined to this one by a chain of own territories, itself included (RULES 3.4)."""
        reached, waiting = {territory}, [territory]
        while waiting:
            for t in self.neighbours[waiting.pop()]:
                if self.owner[t] == self.owner[territory] and t not in reached:
                    reached.add(t)
                    waiting.append(t)
        return reached

    def next_seat(self, seat: int) -> int:
        return (seat + 1) % len(self.seats)

    def from_seat(self, first: int) -> list[int]:
        """All seats clockwise, beginning with this one."""
        return self.seats[first:] + self.seats[:first]

    def has_reward(self, seat: int, reward: int) -> bool:
        return self.rules.rewards and self.reward_owner[reward] == seat

    # ---- chance

    def next_chance(self, kind: str) -> list[str]:
        """The words of the next chance line, which must be of this kind."""
        plausible(len(self.chance) > 0, f"a line '{kind}' is missing in phase '{self.phase}'")
        line = self.chance.popleft()
        words = line.split()
        plausible(words[:1] == [kind], f"a line '{kind}' was expected in phase '{self.phase}', not '{line}'")
        return words[1:]

    def whole_deck(self) -> list[int]:
        """The cards of all territories, with symbols the wild ones too (RULES 2.1, 2.2)."""
        wilds = [self.wild] * self.board.num_wilds if self.rules.deck == "symbol" else []
        return self.territories + wilds

    def draw_card(self, seat: int) -> None:
        """One card for the seat; an empty deck is refilled from the discard pile (RULES 2.4)."""
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
        plausible(name in self.board.territories, f"no card is named '{name}'")
        return list(self.board.territories).index(name)

    # ---- set-up (RULES 4, 6.1, 7.1, 9.1, 9.3)

    def troops_to_start(self) -> int:
        """Troops of every army at the start (RULES 4.2)."""
        if self.rules.setup == "chart":
            return 0
        if self.rules.initial_troops is not None:
            return self.rules.initial_troops
        return STARTING_TROOPS[self.rules.deck][self.rules.num_players]

    def set_up(self) -> None:
        """Chance in the order of RULES 11.4, then the first question."""
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
        """One mission each, none of unused colours, extended ones only if wanted (RULES 8.1)."""
        if self.rules.victory != "mission":
            return
        self.missions = numbers(self.next_chance("missions"))
        plausible(len(self.missions) == len(self.seats), f"{len(self.seats)} missions are due, not {self.missions}")
        plausible(len(set(self.missions)) == len(self.missions), f"missions {self.missions} repeat")
        plausible(set(self.missions) <= set(self.missions_in_deck()), f"missions {self.missions}: not all in the deck")

    def missions_in_deck(self) -> list[int]:
        return [number for number, mission in enumerate(self.board.missions) if self.mission_in_deck(mission)]

    def mission_in_deck(self, mission: Any) -> bool:
        if mission.kind == "destroy" and mission.target not in self.seats:
            return False
        return self.rules.missions == "extended" or not mission.extended

    def lay_cities(self) -> None:
        """The cities of Basic Training, or those drawn (RULES 9.1, 9.3)."""
        if self.rules.cities == "fixed":
            self.cities = set(self.board.basic_training_cities)
        elif self.rules.cities == "random":
            drawn = numbers(self.next_chance("cities"))
            due = getattr(self.board, "random_cities", 15)
            plausible(drawn == sorted(set(drawn)) and len(drawn) == due, f"{due} ascending cities are due, not {drawn}")
            plausible(set(drawn) <= set(self.territories), f"cities {drawn} are not all territories")
            self.cities = set(drawn)

    def lay_objectives(self) -> None:
        """The eight of Basic Training, or four minor and four major ones drawn, with Rewards (RULES 9.1, 9.3)."""
        if self.rules.objectives is None:
            return
        self.objective_holder = [NOT_IN_PLAY for _ in self.board.objectives]
        self.objective_reward = [NOBODY for _ in self.board.objectives]
        drawn = self.objectives_drawn() if self.rules.objectives == "random" or self.rules.rewards else {}
        fixed = {o: NOBODY for o, objective in enumerate(self.board.objectives) if objective.basic_training}
        if self.rules.objectives == "fixed":
            plausible(not drawn or set(drawn) == set(fixed), f"objectives {sorted(drawn)} are not the fixed ones")
        for o, reward in (drawn or fixed).items():
            self.objective_holder[o] = FACE_UP
            self.objective_reward[o] = reward

    def objectives_drawn(self) -> dict[int, int]:
        """Objective = reward, from the log; -1 where no Rewards are played."""
        pairs = [numbers(word.split("=")) for word in self.next_chance("objectives")]
        plausible(all(len(pair) == 2 for pair in pairs), "objectives are written objective=reward")
        drawn = {pair[0]: pair[1] for pair in pairs}
        plausible(list(drawn) == [o for o, _ in pairs] == sorted(drawn), "objectives ascend and do not repeat")
        plausible(set(drawn) <= set(range(len(self.board.objectives))), f"objectives {list(drawn)}: not all on the map")
        for major, rewards in ((False, MINOR_REWARDS), (True, MAJOR_REWARDS)):
            got = sorted(reward for o, reward in drawn.items() if self.board.objectives[o].major == major)
            due = rewards if self.rules.rewards else [NOBODY] * 4
            plausible(got == due, f"rewards {due} are due on the {'major' if major else 'minor'} ones, not {got}")
        return drawn

    def armies_in_order(self) -> list[int]:
        """The seats from the starter on, then the neutral army."""
        return self.from_seat(self.starter) + ([self.neutral] if self.rules.neutral else [])

    def check_shares(self, owner: list[int]) -> None:
        """Dealt one by one, the starter first: nobody has more than one territory too many (RULES 4.3)."""
        plausible(len(owner) == self.num_territories, f"owners of {self.num_territories} territories are due")
        armies = self.armies_in_order()
        for place, army in enumerate(armies):
            due = len(range(place, self.num_territories, len(armies)))
            plausible(owner.count(army) == due, f"army {army} is due {due} territories, not {owner.count(army)}")

    def deal_territories(self) -> None:
        """One troop on each territory dealt (RULES 4.3, 6.1)."""
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
        """A fair claim and a legal placement by the engine, capitals and headquarters too (RULES 4.3)."""
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
        """One own territory of every seat."""
        drawn = numbers(self.next_chance(kind))
        owners = [self.owner[t] for t in drawn if t in self.territories]
        plausible(owners == self.seats, f"{kind} {drawn} are not one own territory of each seat")
        return drawn

    def place_by_chart(self) -> None:
        """The start positions of Basic Training (RULES 9.1)."""
        chart = self.board.chart(self.rules.num_players)
        self.owner, self.troops, self.capitals = list(chart.owner), list(chart.troops), list(chart.capitals)

    def draw_starting_cards(self) -> None:
        """2008 games: the third and fourth in turn order start with one card, the fifth with two (RULES 9.1, 9.3)."""
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
        """The first seat, from this one on, with troops left to place."""
        return next((seat for seat in self.from_seat(first) if self.to_place[seat] > 0), first)

    def may_capital(self) -> set[Answer]:
        return {("territory", t) for t in self.free_territories()}

    def do_capital(self, territory: int) -> None:
        """The capital and one troop (RULES 9.3)."""
        self.capitals[self.turn] = territory
        if NONE_YET not in self.capitals:
            self.phase = "CLAIM"
        self.do_claim(territory)

    def may_claim(self) -> set[Answer]:
        return {("territory", t) for t in self.free_territories()}

    def do_claim(self, territory: int) -> None:
        """One troop on a free territory; then the turn order simply goes on (RULES 4.3)."""
        self.put_first_troop(territory, self.turn)
        self.turn = self.next_to_place(self.next_seat(self.turn))
        if not self.free_territories():
            self.ask_deploy(self.turn)

    def ask_deploy(self, first: int) -> None:
        """One troop each in turn, seats with none left skipped (RULES 4.3, 4.4)."""
        self.lose_what_finds_no_room()
        self.deployed_in_a_row = 0
        if any(self.to_place):
            self.phase, self.turn = "DEPLOY", self.next_to_place(first)
        else:
            self.turn = self.starter
            self.ask_deploy_neutral()

    def lose_what_finds_no_room(self) -> None:
        """Troops that find no room on any own territory are lost (RULES 10.3)."""
        for seat in self.seats:
            if not self.own_with_room(seat):
                self.to_place[seat] = 0
        if not self.own_with_room(self.neutral):
            self.neutral_to_place = 0

    def may_deploy(self) -> set[Answer]:
        return {("territory", t) for t in self.own_with_room(self.turn)}

    def do_deploy(self, territory: int) -> None:
        """One troop; beside a neutral army a seat places two before the other one does (RULES 6.1)."""
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
        """The players alternate placing one neutral troop (RULES 6.1)."""
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
        """The card of a headquarters leaves the deck (RULES 7.1)."""
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
        """Troops for territories, cities, continents, capitals and rewards (RULES 3.1.1, 3.1.2, 9.2, 9.8)."""
        own = self.own(seat)
        due = max(3, (len(own) + len(self.cities & set(own))) // 3)
        due += sum(self.board.bonuses[c] for c in self.continents_held(seat))
        due += sum(1 for capital in self.capitals if capital in own)
        return due + (2 if self.has_reward(seat, TWO_TROOPS) else 0)

    def add_to_draft(self, troops: int) -> None:
        """More troops to place; those that nobody may have to place are lost (RULES 1.5)."""
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
        """Go on while troops are left; without any room the rest is lost (RULES 10.3)."""
        if self.draft_left > 0 and self.own_with_room(self.turn):
            self.phase = "DRAFT"
        else:
            self.draft_left = 0
            self.end_draft()

    def end_draft(self) -> None:
        """Missions are judged; then a Starting Maneuver, if it is not a draft after an elimination (RULES 8.2, 9.8)."""
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
        return [three for three in combinations(sorted(cards), 3) if is_set(self.symbol(card) for card in three)]

    def ask_trade(self) -> None:
        """A seat that holds a set, or two stars, may trade before placing (RULES 5.3, 9.4)."""
        hand = self.hands[self.turn]
        can_trade = bool(self.sets_in(hand)) if self.rules.deck == "symbol" else self.stars(hand) >= 2
        if can_trade:
            self.phase = "TRADE"
        else:
            self.ask_draft()

    def must_trade(self) -> bool:
        """The first set of five cards or more is forced, after an elimination every one of five (RULES 5.3, 3.3.2)."""
        if self.trading_after_elimination:
            return len(self.hands[self.turn]) >= 5
        return self.cards_at_start >= 5 and self.sets_this_turn == 0

    def may_trade(self) -> set[Answer]:
        return self.may_trade_symbols() if self.rules.deck == "symbol" else self.may_trade_stars()

    def may_trade_symbols(self) -> set[Answer]:
        """Cards that can still become a set with those picked."""
        rest = minus(self.hands[self.turn], self.picked)
        answers = {("card", card) for card in rest if self.can_become_set([*self.picked, card])}
        return answers if self.picked or self.must_trade() else answers | {DONE}

    def can_become_set(self, cards: list[int]) -> bool:
        rest = minus(self.hands[self.turn], cards)
        more = combinations(rest, 3 - len(cards))
        return any(is_set(self.symbol(card) for card in [*cards, *others]) for others in more)

    def may_trade_stars(self) -> set[Answer]:
        """Any cards with at most ten stars together; at least two stars make a trade (RULES 9.4)."""
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
        """Traded cards go to the discard pile (RULES 5.5)."""
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
        """Fixed by the symbols of the picked set, or by the number of sets before it (RULES 5.2)."""
        if self.rules.set_values == "fixed":
            return fixed_value(self.symbol(card) for card in self.picked)
        return set_value(self.rules.set_values, self.sets_traded)

    def bonus_places(self) -> list[int]:
        """Own territories on the cards of the set, with room; once a turn or once a set (RULES 5.4)."""
        if self.rules.occupied_bonus == "once_a_turn" and self.bonus_paid:
            return []
        return [t for t in self.own_with_room(self.turn) if t in self.traded_set]

    def may_bonus(self) -> set[Answer]:
        return {("territory", t) for t in self.bonus_places()}

    def do_bonus(self, territory: int) -> None:
        """Two extra troops on that very territory, less what finds no room (RULES 5.4, 10.3)."""
        self.troops[territory] += min(2, self.room(territory))
        self.bonus_paid = True
        self.after_set()

    def after_set(self) -> None:
        """Another set if there is one; after an elimination only while five cards or more are held (RULES 3.3.2)."""
        if self.trading_after_elimination and not self.must_trade():
            self.ask_draft()
        else:
            self.ask_trade()

    # ---- attack (RULES 3.2)

    def battles_used_up(self) -> bool:
        """Whether the turn has had all its rolls (RULES 11.3)."""
        most = self.rules.max_battles_per_turn
        return most is not None and self.battles >= most

    def may_attack(self) -> set[Answer]:
        """From an own territory with two troops to an adjacent one of somebody else (RULES 3.2.1)."""
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
        """The attacker declares first, the defender sees it and chooses (RULES 3.2.2)."""
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
        """One roll; then re-roll, commander, and the comparison (RULES 10.6)."""
        self.roll(defence_dice)
        if self.cards_for_reroll():
            self.phase = "REROLL"
        else:
            self.ask_commander()

    def roll(self, defence_dice: int) -> None:
        """Dice from the log, bonus dice among them; the lowest are dropped (RULES 9.8)."""
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
        """Cards of the attacking or the attacked territory in the attacker's hand, in this order (RULES 10.4)."""
        if not self.rules.card_reroll:
            return []
        return [t for t in (self.source, self.target) if t in self.hands[self.turn]]

    def may_reroll(self) -> set[Answer]:
        return {DONE} | {("die", face) for face in self.attack_dice}

    def do_reroll(self, face: int | None) -> None:
        """One own die again; the card is public from then on (RULES 10.4)."""
        if face is not None:
            self.shown.add(self.cards_for_reroll()[0])
            again = numbers(self.next_chance("reroll"))
            plausible(len(again) == 1 and again[0] in FACES, f"a re-roll gives one face, not {again}")
            self.attack_dice.remove(face)
            self.attack_dice += again
        self.ask_commander()

    def ask_commander(self) -> None:
        """Once a turn one die below six may be turned (RULES 10.5)."""
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
        """An own airfield on the attacked territory or beside it (RULES 9.8, 9.9)."""
        near = [self.target, *self.neighbours[self.target]]
        return any(airfield in near and self.owner[airfield] == army for airfield in self.airfields)

    def blitz(self) -> None:
        """Rolls with the most dice until it falls, one troop is left, or no roll is left (RULES 3.2.4, 11.3)."""
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
        """An airfield is lost with its territory, and nobody owns its Reward any more (RULES 9.8)."""
        for which, airfield in enumerate(self.airfields):
            if airfield == self.target:
                self.airfields[which] = NONE_YET
                self.reward_owner[AIRFIELDS[which]] = NOBODY

    def capture(self) -> None:
        """As many troops as dice chosen move in at once; eliminations and victory come first (RULES 3.2.7)."""
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
        """The eliminator takes cards and Objectives; Rewards are gone (RULES 3.3.1, 3.3.3)."""
        self.alive[loser] = False
        self.fallen.append(loser)
        self.hands[self.turn] += self.hands[loser]
        self.hands[loser] = []
        self.objective_holder = [self.turn if holder == loser else holder for holder in self.objective_holder]
        self.reward_owner = [NOBODY if holder == loser else holder for holder in self.reward_owner]

    def can_move(self) -> int:
        """Troops that can go from source to target: one stays behind, room caps it (RULES 3.2.5, 3.4, 10.3)."""
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
        """Missions where troops count; then the trades that an elimination forces (RULES 3.2.7, 3.3.2)."""
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
        """Symbol deck: draw, fortify. Star deck: Objective first (RULES 3)."""
        if self.rules.deck == "symbol" and self.captured:
            self.draw_card(self.turn)
        if self.objectives_met():
            self.phase = "OBJECTIVE"
        else:
            self.begin_fortify()

    def objectives_met(self) -> list[int]:
        """Face-up Objectives that the position meets when the attacks end (RULES 9.5, 9.6)."""
        face_up = [o for o, holder in enumerate(self.objective_holder) if holder == FACE_UP]
        return [o for o in face_up if self.is_met(self.board.objectives[o])]

    def is_met(self, objective: Any) -> bool:
        """Whether the seat at turn meets an Objective (RULES 9.6)."""
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
        """Exactly one, with its Reward (RULES 9.5)."""
        if objective is None:
            self.begin_fortify()
            return
        self.objective_holder[objective] = self.turn
        self.objective_taken = True
        self.take_reward(self.objective_reward[objective])

    def take_reward(self, reward: int) -> None:
        """An airfield is placed at once, where none of one's own stands (RULES 9.8)."""
        if reward != NOBODY:
            self.reward_owner[reward] = self.turn
        if reward in AIRFIELDS and self.may_airfield():
            self.airfield_in_hand = AIRFIELDS.index(reward)
            self.phase = "AIRFIELD"
            return
        if reward in AIRFIELDS:  # no place for it
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
        """Other own territories with room, adjacent or joined (RULES 3.4)."""
        within_reach = self.neighbours[source] if self.rules.fortify == "adjacent" else self.joined(source)
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
        """Missions are judged after every move (RULES 8.2)."""
        self.moves_left -= 1
        if self.judge_missions():
            return
        if self.moves_left > 0:
            self.phase = "FORTIFY_FROM"
        else:
            self.end_fortify()

    def end_fortify(self) -> None:
        """After a Starting Maneuver the attacks begin, otherwise the turn ends."""
        self.moves_left = 0
        if self.starting_maneuver:
            self.starting_maneuver = False
            self.phase = "ATTACK"
        else:
            self.end_turn()

    def end_turn(self) -> None:
        """Star deck: the card, then the three-objectives win; then the next living seat (RULES 3, 3.5, 9.7)."""
        if self.rules.deck == "star" and self.star_card_due():
            self.draw_card(self.turn)
        if self.rules.victory == "objectives" and self.wins_by_objectives():
            self.win(self.turn)
        else:
            self.pass_turn()

    def star_card_due(self) -> bool:
        """For a capture, if no Objective was taken; with a Guaranteed Card always; never two (RULES 9.5, 9.8)."""
        return self.has_reward(self.turn, GUARANTEED_CARD) or (self.captured and not self.objective_taken)

    def wins_by_objectives(self) -> bool:
        """At least three Objectives and the own capital controlled (RULES 9.7)."""
        return self.objective_holder.count(self.turn) >= 3 and self.capital_of(self.turn) in self.own(self.turn)

    def pass_turn(self) -> None:
        """A round ends when the turn passes the starter's place, lives the starter or not (RULES 11.2)."""
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
        """After a capture: all territories, the last one living, or headquarters enough (RULES 11.1, 6.3, 7.3)."""
        if self.alive.count(True) == 1 or len(self.own(self.turn)) == self.num_territories or self.holds_headquarters():
            self.win(self.turn)
        return self.phase == "OVER"

    def holds_headquarters(self) -> bool:
        """One's own headquarters and as many opposing ones as the game asks for (RULES 7.3)."""
        if self.rules.victory != "headquarters":
            return False
        own = self.own(self.turn)
        opposing = sum(1 for s in self.seats if s != self.turn and self.headquarters[s] in own)
        needed = self.rules.headquarters_to_win or len(self.seats) - 1
        return self.headquarters[self.turn] in own and opposing >= needed

    def judge_missions(self) -> bool:
        """The first living seat whose mission is fulfilled wins, the one at turn first (RULES 8.2)."""
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
        """The continents named, and any third one where the mission says so."""
        held, named = set(self.continents_held(seat)), set(mission.continents)
        return named <= held and (not mission.any_third or held > named)

    def has_territories(self, seat: int, number: int, min_troops: int) -> bool:
        return len([t for t in self.own(seat) if self.troops[t] >= min_troops]) >= number

    def standings(self) -> list[int]:
        """The place of every seat, 1 the best; equal ones share the better place (RULES 11.2)."""
        merits = [self.merit(seat) for seat in self.seats]
        return [1 + sum(1 for other in merits if other > merit) for merit in merits]

    def merit(self, seat: int) -> tuple[int, int, int]:
        """The winner; the living by territories, then troops; the dead, the last to fall first."""
        if not self.alive[seat]:
            return (0, self.fallen.index(seat), 0)
        own = self.own(seat)
        return (2 if seat == self.winner else 1, len(own), sum(self.troops[t] for t in own))

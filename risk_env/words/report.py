"""A seat's report: the situation, the decision and the legal actions in words, for a text reader.

`write_report` reads public facts and the facts that only the seat knows. `read_report` returns public facts
from a report. Seats are called P0, P1, ..., and `you`. docs/llm.md describes the lines.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from risk_env.board.action_space import WILD
from risk_env.board.maps import Board, Mission
from risk_env.board.names import in_text, split_outside_quotes
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables
from risk_env.core.cards import (
    MAX_STARS,
    MIN_STARS,
    ONE_OF_EACH,
    THREE_ARTILLERY,
    THREE_CAVALRY,
    THREE_INFANTRY,
    star_troops,
)
from risk_env.core.draft import MIN_DRAFT, TERRITORIES_A_TROOP
from risk_env.core.odds import win_probability
from risk_env.core.types import DRAFT_PHASES, FREE, NOBODY, NOWHERE, SETUP_PHASES, Held, Phase, Reward
from risk_env.messages import shortened
from risk_env.public import PublicState
from risk_env.text.amounts import most_troops
from risk_env.text.notation import DECISIONS, reward_name

# Troops for fixed sets, in words (RULES 5.2)
FIXED_SETS = (
    f"{THREE_INFANTRY} troops for three infantry, {THREE_CAVALRY} for three cavalry, "
    f"{THREE_ARTILLERY} for three artillery, {ONE_OF_EACH} for one of each"
)
VERSION = 1  # version of the form that `read_report` reads
NEUTRAL, UNCLAIMED, NO_ONE = "neutral", "free", "nobody"
SHOWS_ATTACKS = (*DRAFT_PHASES, Phase.ATTACK, Phase.OCCUPY)
LEAST_THREAT = 0.3  # minimum probability at which a neighbour's attack is reported
# the kernel of the rules as a plain Python function
_star_troops = getattr(star_troops, "py_func", star_troops)


class Style(NamedTuple):
    """Length and content of a report."""

    attacks: int  # maximum number of attacks with odds, the likeliest first
    threats: int  # maximum number of the reader's territories under threat
    names: int  # maximum number of territories in a list of conquests, losses or choices
    has_borders: bool  # True if the report lists the borders of the whole map
    has_help: bool  # True if the report explains how to answer


STYLES = {"brief": Style(20, 5, 12, False, False), "full": Style(60, 15, 60, True, True)}


class Armies(NamedTuple):
    """Armies at one moment: owner (-1: free) and troops of each territory, and the living seats."""

    owner: list[int]  # (T,)
    troops: list[int]  # (T,)
    alive: list[bool]  # (P,)


class Reader(NamedTuple):
    """The seat for which a report is made, with the facts that only this seat knows."""

    seat: int
    hand: tuple[str, ...] = ()  # cards by name, `wild` for a wild card
    mission: Mission | None = None
    headquarters: str | None = None


def write_report(
    state: PublicState,
    legal: Sequence[int],
    tables: Tables,
    rules: Rules,
    reader: Reader,
    style: str = "brief",
    before: Armies | None = None,
) -> str:
    """Return the report of a position. Equal facts always give equal reports.

    `legal` are the legal actions (empty unless the reader is to act). `before` are the armies at the end of
    the reader's last turn, or None if there was no turn. Raises ValueError unless `style` is "brief" or
    "full".
    """
    if style not in STYLES:
        raise ValueError(f"style={style!r}: choose {' or '.join(map(repr, STYLES))}")
    return "\n".join(_Report(state, legal, tables, rules, reader, STYLES[style], before).lines())


class _Report:
    """The lines of a report, with a method for each part."""

    def __init__(
        self,
        state: PublicState,
        legal: Sequence[int],
        tables: Tables,
        rules: Rules,
        reader: Reader,
        style: Style,
        before: Armies | None,
    ) -> None:
        self.state, self.legal, self.space, self.rules = state, legal, tables.space, rules
        self.board, self.reader, self.style, self.before = tables.space.board, reader, style, before
        self.owner, self.troops = state.owner.tolist(), state.troops.tolist()

    def lines(self) -> list[str]:
        """Return all lines."""
        is_over = self.state.phase == Phase.OVER
        parts = [self.head(), self.players(), self.continents(), self.stock(), self.own_facts(), self.goals()]
        if not is_over:
            parts += [self.news(), self.attacks(), self.threats(), self.question()]
        parts.append(list(_border_lines(self.board)) if self.style.has_borders else [])
        parts.append(list(HELP) if self.style.has_help and self.legal else [])
        return [line for part in parts for line in part]

    # -------------------------------------------------------------------------------- names

    def who(self, seat: int) -> str:
        """Return the name of a seat."""
        if seat == self.reader.seat:
            return "you"
        special = {NOBODY: NO_ONE, self.rules.num_players: NEUTRAL}
        return special.get(seat) or f"P{seat}"

    def army(self, territory: int) -> str:
        """Return the name of a territory, with owner and troops."""
        return (
            f"{self.board.names_in_text[territory]} "
            f"({self.who(self.owner[territory])}, {self.troops[territory]})"
        )

    def some(self, names: Sequence[str]) -> str:
        """Return as many names as the style allows, and the number of further names."""
        shown, more = names[: self.style.names], len(names) - self.style.names
        return ", ".join(shown) + (f" and {more} more" if more > 0 else "")

    @cached_property
    def seats_of(self) -> dict[int, list[int]]:
        """Territories of each owner."""
        held: dict[int, list[int]] = {}
        for territory, seat in enumerate(self.owner):
            held.setdefault(seat, []).append(territory)
        return held

    # -------------------------------------------------------------------------------- the position

    def head(self) -> list[str]:
        """Return the lines about the game, the reader, the round, the turn and the decision."""
        state, you = self.state, self.reader.seat
        turn, actor = (f"P{seat}" if seat != NOBODY else NO_ONE for seat in (state.turn, state.seat))
        ending = f". Winner: {self.who(state.winner)}" if state.phase == Phase.OVER else ""
        return [
            f"Risk report {VERSION}: map {self.board.name}, {state.num_players} players, "
            f"{self.rules.victory}. You are P{you}.",
            f"Round {state.round}, turn of {turn}, question to {actor}: {state.phase.name}{ending}",
        ]

    def players(self) -> list[str]:
        """Return the line about the territories, troops, cards and income of each seat."""
        told = "; ".join(f"{self.who(seat)} {self._player(seat)}" for seat in range(self.state.num_players))
        return [f"Players (territories/troops/cards/income): {told}"]

    def _player(self, seat: int) -> str:
        if not self.state.alive[seat]:
            return "out"
        held = self.seats_of.get(seat, [])
        troops = sum(self.troops[territory] for territory in held)
        due = income(self.state, seat, held, self.board, self.rules)
        return f"{len(held)}/{troops}/{self.state.hand_sizes[seat]}/{due}"

    def continents(self) -> list[str]:
        """Return a line for each continent: the bonus, any majority owner, and all territories by owner."""
        return [self._continent(number, members) for number, members in enumerate(self.board.members_of)]

    def _continent(self, number: int, members: Sequence[int]) -> str:
        groups: dict[int, list[int]] = {}
        for territory in members:
            groups.setdefault(self.owner[territory], []).append(territory)
        ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
        told = "; ".join(f"{self._label(seat)} {self._garrisons(held)}" for seat, held in ordered)
        seat, most = ordered[0]
        is_worth = seat != FREE and 2 * len(most) > len(members)
        share = f" ({self._label(seat)} {len(most)} of {len(members)})" if is_worth else ""
        return f"{in_text(self.board.continents[number])} +{self.board.bonuses[number]}{share}: {told}"

    def _label(self, owner: int) -> str:
        return UNCLAIMED if owner == FREE else self.who(owner)

    def _garrisons(self, territories: Iterable[int]) -> str:
        return ", ".join(f"{self.board.names_in_text[t]} {self.troops[t]}" for t in territories)

    def stock(self) -> list[str]:
        """Return the lines about troops to be placed, and about cards."""
        state, lines = self.state, []
        if state.phase in SETUP_PHASES:
            left = [f"{self.who(seat)} {number}" for seat, number in enumerate(state.to_place) if number]
            lines.append(f"Set-up troops left: {'; '.join(left) or 'none'}")
        if state.draft_left:
            lines.append(f"New troops to place: {state.draft_left}")
        if self.rules.deck == "symbol":
            by_cards = (
                f" (by its cards: {THREE_INFANTRY}, {THREE_CAVALRY}, {THREE_ARTILLERY} or {ONE_OF_EACH})"
            )
            worth = f"{state.next_set} troops{by_cards if self.rules.set_values == 'fixed' else ''}"
            lines.append(f"Cards: {state.sets_traded} sets traded, the next set is worth {worth}")
        return lines

    # -------------------------------------------------------------------------------- facts of the reader

    def own_facts(self) -> list[str]:
        """Return the lines about hand, mission and headquarters."""
        reader = self.reader
        cards = f"Your cards: {', '.join(map(self._card, reader.hand)) or 'none'}"
        lines = [] if self.rules.deck == "none" else [cards]
        if self.state.picked or self.state.picked_wilds:
            picked = [self.board.names_in_text[t] for t in self.state.picked] + [
                WILD
            ] * self.state.picked_wilds
            lines.append(f"Laid out for a trade: {', '.join(picked)}")
        if reader.mission is not None:
            names = [self.who(seat) for seat in range(self.state.num_players)]
            lines.append(f"Your mission: {mission_in_words(reader.mission, self.board, names, reader.seat)}")
        if reader.headquarters is not None:
            lines.append(f"Your headquarters: {reader.headquarters}")
        return lines

    def _card(self, name: str) -> str:
        if name == WILD:
            return name
        territory = self.board.territory(name)
        if self.rules.deck == "symbol":
            return f"{name} ({self.board.symbols[territory]})" if self.board.symbols else name
        return f"{name} ({self.board.stars[territory]} stars)" if self.board.stars else name

    def goals(self) -> list[str]:
        """Return the lines about capitals, headquarters, cities, airfields and Objectives."""
        state, lines = self.state, []
        places = self.board.territories
        for what, seats in (("Capitals", state.capitals), ("Headquarters", state.headquarters)):
            known = [f"{self.who(seat)} {places[t]}" for seat, t in enumerate(seats.tolist()) if t != NOWHERE]
            lines += [f"{what}: {', '.join(known)}"] if known else []
        for what, territories in (("Cities", state.cities), ("Airfields", state.airfields)):
            lines += [f"{what}: {', '.join(places[t] for t in territories)}"] if territories else []
        held = [self._objective(number, holder) for number, holder in enumerate(state.objectives.tolist())]
        return lines + [f"Objectives: {'; '.join(filter(None, held))}"] * any(held)

    def _objective(self, number: int, holder: int) -> str:
        """Return the words for an Objective in play: name, holder and Reward. Return "" for any other."""
        if holder == Held.NOT_IN_PLAY:
            return ""
        reward = reward_name(self.state.objective_rewards[number])
        whose = "face up" if holder == Held.FACE_UP else self.who(holder)
        return f"{self.board.objectives[number].name} ({whose}{', ' + reward if reward else ''})"

    # -------------------------------------------------------------------------------- what happened

    def news(self) -> list[str]:
        """Return the line about the changes since the reader's last turn, if the reader has had a turn."""
        if self.before is None:
            return []
        told = [
            self._deeds(seat, self.before)
            for seat in range(self.state.num_players)
            if seat != self.reader.seat
        ]
        told.append(self._losses(self.before))
        return [f"Since your last turn: {'; '.join(filter(None, told)) or 'nothing changed'}"]

    def _deeds(self, seat: int, before: Armies) -> str:
        """Return the words about a seat's captures and change in troops, or about its elimination."""
        taken = [t for t, owner in enumerate(self.owner) if owner == seat != before.owner[t]]
        if not self.state.alive[seat]:
            return f"{self.who(seat)} was eliminated" if before.alive[seat] else ""
        was = sum(troops for owner, troops in zip(before.owner, before.troops, strict=True) if owner == seat)
        change = sum(self.troops[t] for t in self.seats_of.get(seat, ())) - was
        took = self.some([f"{self.board.names_in_text[t]} ({self._label(before.owner[t])})" for t in taken])
        if not taken and not change:
            return ""
        return f"{self.who(seat)} {change:+d} troops" + (f", took {took}" if taken else "")

    def _losses(self, before: Armies) -> str:
        """Return the words about the reader's territories that lost troops, or "" if there are none."""
        mine = self.seats_of.get(self.reader.seat, ())
        weaker = [
            t for t in mine if before.owner[t] == self.reader.seat and self.troops[t] < before.troops[t]
        ]
        told = [f"{self.board.names_in_text[t]} {before.troops[t]} to {self.troops[t]}" for t in weaker]
        return f"you lost troops in {self.some(told)}" if told else ""

    # -------------------------------------------------------------------------------- battles

    def attacks(self) -> list[str]:
        """Return the lines about attacks, with the probability that a blitz takes the target.

        The attacks are legal now, or can become legal later in this turn.
        """
        phase = self.state.phase
        if not self.legal or self.state.turn != self.reader.seat or phase not in SHOWS_ATTACKS:
            return []
        new = self.state.draft_left if phase in DRAFT_PHASES else 0
        odds = self._odds(new)
        if not odds:
            return ["Attacks: none"]
        kept = sorted(odds, reverse=True)[: self.style.attacks]
        rows: dict[int, list[str]] = {}
        for chance, source, target in sorted(kept, key=lambda row: (row[1], -row[0], row[2])):
            rows.setdefault(source, []).append(f"{self.army(target)} {100 * chance:.0f}%")
        told = [f"  {self._garrisons([source])} > {', '.join(targets)}" for source, targets in rows.items()]
        note = f" with all {new} new troops on the attacker" if new else ""
        more = f"; {len(odds) - len(kept)} less likely ones are left out" if len(odds) > len(kept) else ""
        return [f"Attacks (chance of a blitz{note}{more}):", *told]

    def _odds(self, new: int) -> list[tuple[float, int, int]]:
        """Return (win probability, source, target) for each possible attack of the reader."""
        you, owner, troops = self.reader.seat, self.owner, self.troops
        return [
            (win_probability(troops[source] + new, troops[target]), source, target)
            for source, target in self.board.borders
            if owner[source] == you != owner[target] != FREE and troops[source] + new > 1
        ]

    def threats(self) -> list[str]:
        """Return the line about the reader's territories under threat (LEAST_THREAT), if there are any."""
        you, owner, troops = self.reader.seat, self.owner, self.troops
        worst: dict[int, tuple[float, int]] = {}
        for source, target in self.board.borders:
            if owner[target] == you and 0 <= owner[source] < self.rules.num_players and owner[source] != you:
                odds = win_probability(troops[source], troops[target]), source
                worst[target] = max(worst.get(target, odds), odds)
        serious = [
            (chance, target, source) for target, (chance, source) in worst.items() if chance >= LEAST_THREAT
        ]
        shown = sorted(serious, key=lambda row: (-row[0], row[1]))[: self.style.threats]
        told = [
            f"{self._garrisons([t])} by {self.army(source)} {100 * chance:.0f}%"
            for chance, t, source in shown
        ]
        return [f"Under threat: {'; '.join(told)}"] if told else []

    # -------------------------------------------------------------------------------- the decision

    def question(self) -> list[str]:
        """Return the lines about the decision and the legal actions."""
        if not self.legal:
            return [
                f"{self.who(self.state.seat)} decides now."
                if self.state.seat != NOBODY
                else "Nobody decides."
            ]
        decision = DECISIONS[self.state.phase]
        meaning = _ASKED[self.state.phase]
        words = meaning if isinstance(meaning, str) else meaning(self)
        may_stop = self.space.done in self.legal
        return [f"Question: {words}", f"Legal: {self._legal(decision.word)}{' or `done`' * may_stop}"]

    def _legal(self, word: str) -> str:
        actions = [self.space.decode(action) for action in self.legal if action != self.space.done]
        if not actions:
            return ""
        block = DECISIONS[self.state.phase].block
        if block == "border":
            return (
                "`attack SOURCE > TARGET`: from any of your territories with 2 troops or more "
                "to any neighbour that is not yours"
            )
        if block == "amount":
            return (
                f"`{word} N`, N from 1 to {most_troops(self.state, self.rules.max_troops)}, or `{word} all`"
            )
        if block == "territory":
            return f"`{word} TERRITORY`: {self._places([action.arguments[0] for action in actions])}"
        if block == "objective":
            names = [in_text(self.board.objectives[action.arguments[0]].name) for action in actions]
        elif block == "card":
            cards = [action.arguments[0] for action in actions]
            names = [card if card == WILD else self.board.names_in_text[card] for card in cards]
        else:
            return ", ".join(
                f"`{word} {action.arguments[0]}`" if action.arguments else "`blitz`" for action in actions
            )
        return f"`{word} NAME`: {', '.join(names)}"

    def _places(self, territories: list[int]) -> str:
        """Return the territories to choose from, or a few words for all territories of one kind."""
        for owner, words in ((self.reader.seat, "any of your territories"), (FREE, "any free territory")):
            if territories == self.seats_of.get(owner):
                return words
        return self.some([self.board.names_in_text[t] for t in territories])

    def place(self, territory: int) -> str:
        """Return a territory's name and troops."""
        return f"{self.board.names_in_text[territory]} ({self.troops[territory]})"

    def battle(self) -> str:
        """Return the current attack in words."""
        return f"{self.army(self.state.source)} attacks {self.army(self.state.target)}"

    def rolled(self) -> str:
        """Return the current attack and the last roll in words."""
        attack, defence = (" ".join(map(str, side)) for side in self.state.dice)
        return f"{self.battle()}; dice {attack} against {defence}"


_ASKED: dict[Phase, str | Callable[[_Report], str]] = {
    Phase.CAPITAL: "where do you put your capital?",
    Phase.CLAIM: "which free territory do you claim?",
    Phase.DEPLOY: lambda report: (
        f"where do you put a troop? {report.state.to_place[report.reader.seat]} left"
    ),
    Phase.DEPLOY_NEUTRAL: "which neutral territory gets a troop?",
    Phase.HEADQUARTERS: "which territory is your secret headquarters?",
    Phase.TRADE: "which cards do you trade? Name them one by one, or `trade` for any set",
    Phase.BONUS: "which territory of your set gets 2 troops?",
    Phase.DRAFT: lambda report: f"where do you place new troops? {report.state.draft_left} left",
    Phase.DRAFT_AMOUNT: lambda report: f"how many troops go to {report.place(report.state.target)}?",
    Phase.ATTACK: "which attack? `done` ends the attacks",
    Phase.ATTACK_DICE: lambda report: f"{report.battle()}: how many dice, or blitz?",
    Phase.DEFEND: lambda report: (
        f"{report.battle()} with {report.state.chosen_dice} dice: how many do you roll?"
    ),
    Phase.REROLL: lambda report: f"{report.rolled()}. Show the card and roll a die again?",
    Phase.COMMANDER: lambda report: f"{report.rolled()}. Turn a die to 6, once a turn?",
    Phase.OCCUPY: lambda report: (
        f"{report.place(report.state.target)} is yours; the required minimum of troops has moved in. "
        f"How many more from {report.place(report.state.source)}?"
    ),
    Phase.OBJECTIVE: "which Objective do you take? Without Guaranteed Card, it costs the card of this turn",
    Phase.AIRFIELD: "where do you build the airfield?",
    Phase.FORTIFY_FROM: "where do you move troops from? `done` moves none",
    Phase.FORTIFY_TO: lambda report: f"where do troops of {report.place(report.state.source)} go?",
    Phase.FORTIFY_AMOUNT: lambda report: (
        f"how many troops go from {report.place(report.state.source)} to {report.place(report.state.target)}?"
    ),
}

HELP = (
    "How to answer: write actions in order, separated by `;`. "
    "The actions are played in this and later questions. A whole turn can be one answer:",
    "  trade; draft Ural 5; draft Siam all; attack Ural > Ukraine; occupy 3; attack Ural > Siberia; "
    "fortify Japan > Mongolia all; end",
    "  `trade` trades any set, and `trade A, B, C` trades these cards. `draft T N` places N troops. "
    "`attack A > B` is a blitz unless `dice 1|2|3` follows. `occupy N|all` moves more troops in. "
    "`fortify A > B N|all` moves troops. `done` declines a question, and `end` ends the turn. "
    "`try attack A > B` is skipped if the attack is not legal.",
    "  In set-up: `claim T`, `deploy T N`. "
    "When attacked: `defend 1|2`, or `always defend 2` for the rest of the game.",
    "The answer stops at an action that is not legal. "
    "It also stops before a second or later attack whose troops do not outnumber the target. "
    "You are then told which actions were played, and asked again.",
)


@lru_cache(maxsize=8)
def _border_lines(board: Board) -> tuple[str, ...]:
    """Return the line about all borders of the map.

    A two-way border is listed under the first of the two territories, a one-way border under the source.
    """
    names, one_way, told = board.names_in_text, set(board.one_way_borders), []
    for territory, name in enumerate(names):
        targets = board.targets(territory)
        later = [names[t] for t in targets if t > territory and (territory, t) not in one_way]
        told += [f"{name}-{'/'.join(later)}"] if later else []
        ahead = [names[t] for t in targets if (territory, t) in one_way]
        told += [f"{name}>{'/'.join(ahead)}"] if ahead else []
    legend = " (A>B is one-way, from A to B)" if one_way else ""
    return (f"Borders{legend}: {'; '.join(told)}",)


def income(state: PublicState, seat: int, territories: Iterable[int], board: Board, rules: Rules) -> int:
    """Return the number of troops due to a seat for a turn, before cards (RULES 3.1, 9.2, 9.8).

    `territories` are the territories of the seat.
    """
    held = set(territories)
    due = sum(board.bonuses[c] for c, members in enumerate(board.members_of) if held.issuperset(members))
    if rules.deck != "star":
        return due + max(MIN_DRAFT, len(held) // TERRITORIES_A_TROOP)
    due += max(MIN_DRAFT, (len(held) + len(held.intersection(state.cities))) // TERRITORIES_A_TROOP)
    due += len(held.intersection(state.capitals.tolist()))
    return due + 2 * (bool(state.rewards) and state.rewards[Reward.TWO_TROOPS] == seat)


def mission_in_words(mission: Mission, board: Board, names: Sequence[str], holder: int) -> str:
    """Return the mission card of a seat in words (RULES 8)."""
    if mission.kind == "continents":
        third = " and any third continent" * mission.any_third
        return f"hold {' and '.join(in_text(board.continents[c]) for c in mission.continents)}{third}"
    if mission.kind == "territories":
        each = f" with at least {mission.min_troops} troops on each" * (mission.min_troops > 1)
        return f"hold {mission.territories} territories{each}"
    if mission.target == holder:
        return f"hold {mission.fallback_territories} territories (the card says to destroy its own holder)"
    return f"{names[mission.target]} is eliminated, no matter by whom"


def star_sets_in_words() -> str:
    """Return a sentence with the troops for each number of stars (RULES 9.4)."""
    troops = ", ".join(str(int(_star_troops(stars))) for stars in range(MIN_STARS, MAX_STARS + 1))
    return f"{MIN_STARS} to {MAX_STARS} stars pay {troops} troops."


# ------------------------------------------------------------------------------------ reading a report

_HEAD = re.compile(r"Risk report (\d+): .*, (\d+) players, .* You are P(\d)\.")
_ROUND = re.compile(r"Round (\d+), turn of (\w+), question to (\w+): (\w+)")


def read_report(text: str, board: Board) -> dict[str, Any]:
    """Return public facts from a report, under their names in `PublicState`.

    The facts are `num_players`, `round`, `turn`, `seat`, `phase`, `winner`, `draft_left`, lists per seat
    (`alive`, `hand_sizes`) and lists per territory (`owner`, `troops`). With the symbol deck, the facts
    include `sets_traded` and `next_set`. An eliminated seat has the hand size 0. Raises ValueError if the
    text is not a report of a game on this map.
    """
    try:
        return _facts_of(text, board)
    except (LookupError, ValueError) as error:  # a word, a name or a number that no report of this map has
        told = f"unknown word {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"not a report of version {VERSION} on the map {board.name!r}: {told}") from error


def _facts_of(text: str, board: Board) -> dict[str, Any]:
    """Return the facts of `read_report`. Raises LookupError or ValueError for any other text."""
    head, at_round, *lines = [*text.splitlines(), "", ""]
    heading, moment = _HEAD.match(head), _ROUND.match(at_round)
    if not heading or int(heading[1]) != VERSION:
        form = f"Risk report {VERSION}: ..., N players, ... You are PX."
        raise ValueError(f"line 1 is {shortened(head)}, but must have the form {form!r}")
    if not moment:
        form = "Round N, turn of SEAT, question to SEAT: PHASE"
        raise ValueError(f"line 2 is {shortened(at_round)}, but must begin with {form!r}")
    num_players, you = int(heading[2]), int(heading[3])
    seats = {f"P{seat}": seat for seat in range(num_players)} | {"you": you, NEUTRAL: num_players}
    seats |= {UNCLAIMED: FREE, NO_ONE: NOBODY}
    facts: dict[str, Any] = {"num_players": num_players, "round": int(moment[1]), "phase": Phase[moment[4]]}
    facts |= {"turn": seats[moment[2]], "seat": seats[moment[3]], "draft_left": 0}
    facts["winner"] = seats[at_round.rpartition("Winner: ")[2]] if "Winner: " in at_round else NOBODY
    return facts | _read_lines(lines, seats, board)


def _read_lines(lines: Sequence[str], seats: dict[str, int], board: Board) -> dict[str, Any]:
    """Return the facts in the lines of a report after the heading."""
    facts: dict[str, Any] = {"owner": [FREE] * board.num_territories, "troops": [0] * board.num_territories}
    titles = zip(map(in_text, board.continents), board.bonuses, strict=True)
    continents = {f"{name} +{bonus}" for name, bonus in titles}
    for line in lines:
        title, *after = split_outside_quotes(line, ": ", 1)
        rest = "".join(after)
        if title.partition(" (")[0] in continents or title.rpartition(" (")[0] in continents:
            _read_continent(rest, seats, board, facts)
        elif title.startswith("Players "):
            players = [player.split(" ")[1] for player in rest.split("; ")]
            facts["alive"] = [player != "out" for player in players]
            facts["hand_sizes"] = [0 if player == "out" else int(player.split("/")[2]) for player in players]
        elif title == "New troops to place":
            facts["draft_left"] = int(rest)
        elif title == "Cards":
            numbers = re.findall(r"\d+", rest)
            facts |= {"sets_traded": int(numbers[0]), "next_set": int(numbers[1])}
    return facts


def _read_continent(groups: str, seats: dict[str, int], board: Board, facts: dict[str, Any]) -> None:
    for group in split_outside_quotes(groups, "; "):
        who, _, garrisons = group.partition(" ")
        for garrison in split_outside_quotes(garrisons, ", "):
            name, _, troops = garrison.rpartition(" ")
            territory = board.territory(name)
            facts["owner"][territory], facts["troops"][territory] = seats[who], int(troops)

"""Rules: the options of RULES 13, the presets of RULES 12 and the profiles of RULES 12.1.

A preset is a set of options. A profile adapts these options to people ("book") or to learning ("fast").
Options passed with a preset take precedence over the preset and the profile. A value or a combination that
is not allowed raises ValueError with a one-line message. `check_rules` checks the options that depend on the
map.
"""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from risk_env.core.types import MOST_TROOPS, OPTION_FLAGS, OPTION_VALUES, Placement
from risk_env.messages import shortened, suggestion

_TROOPS = {2: 40, 3: 35, 4: 30, 5: 25, 6: 20}
STARTING_TROOPS = {  # RULES 4.2, by deck and number of players
    "symbol": _TROOPS,
    "star": {3: 30, 4: 25, 5: 20},
    "none": _TROOPS,
}
BOOK_TERRITORIES = 42  # RULES 1.1
# With `objectives="random"`, this many minor and this many major Objectives are laid out (RULES 9.3).
LAID_OUT_OBJECTIVES = 4
OBJECTIVES_TO_WIN = 3  # RULES 9.7
MOST_STARTING_TROOPS = 2**15  # per army, so that all armies together stay below MOST_TROOPS
MOST = 2**31 - 1  # largest value of the counters in a game record; not a rule of the game


# Allowed values of each option.

CHOICES: dict[str, tuple[Any, ...]] = {  # ordered by the numbers that the kernels use
    option: tuple(None if value is Placement.NONE else value.name.lower() for value in values)
    for option, values in OPTION_VALUES.items()
} | dict.fromkeys(OPTION_FLAGS, (False, True))


class Numbers(NamedTuple):
    """Allowed values of an option: whole numbers from `least` to `most`, and None if `or_none` is True."""

    least: int
    most: int
    or_none: bool

    def __str__(self) -> str:
        return f"{'None or ' if self.or_none else ''}a whole number from {self.least} to {self.most}"

    def allow(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        is_number = (
            isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most
        )
        return is_number or (value is None and self.or_none)


NUMBERS: dict[str, Numbers] = {
    "num_players": Numbers(2, 6, or_none=False),
    "initial_troops": Numbers(1, MOST_STARTING_TROOPS, or_none=True),
    "headquarters_to_win": Numbers(1, 5, or_none=True),
    "max_troops": Numbers(2, MOST_TROOPS, or_none=True),  # with 1, no attack would be possible
    "max_rounds": Numbers(1, MOST, or_none=True),
    "max_battles_per_turn": Numbers(1, MOST, or_none=True),
}


# Options that need other options.


class Need(NamedTuple):
    """A requirement: if `option` has one of `values`, `other` must have one of the values `allowed`."""

    option: str
    values: tuple[Any, ...]
    other: str
    allowed: tuple[Any, ...]
    section: str


LAID = ("fixed", "random")
NEEDS: tuple[Need, ...] = (
    Need("deck", ("star",), "num_players", (3, 4, 5), "4.2"),
    Need("neutral", (True,), "num_players", (2,), "6.1"),
    Need("neutral", (True,), "setup", ("deal", "random"), "6.1"),
    Need("num_players", (2,), "victory", ("domination",), "6.3"),
    Need("num_players", (2,), "setup", ("deal", "random"), "6.4"),
    Need("victory", ("headquarters",), "deck", ("symbol",), "7"),
    Need("victory", ("mission",), "deck", ("symbol",), "8"),
    Need("victory", ("objectives",), "deck", ("star",), "9.7"),
    Need("victory", ("objectives",), "objectives", LAID, "9.7"),
    Need("victory", ("objectives",), "capitals", (True,), "9.7"),
    Need("headquarters_to_win", (1, 2, 3, 4, 5), "victory", ("headquarters",), "7.3"),
    *(Need("headquarters_to_win", (k,), "num_players", tuple(range(k + 1, 7)), "7.3") for k in (3, 4, 5)),
    Need("missions", ("extended",), "victory", ("mission",), "8"),
    Need("setup", ("capitals", "chart"), "deck", ("star",), "9"),
    Need("setup", ("capitals", "chart"), "capitals", (True,), "9.11"),
    Need("setup", ("chart",), "cities", ("fixed",), "9.1"),
    Need("setup", ("chart",), "objectives", ("fixed",), "9.1"),
    Need("setup", ("chart",), "rewards", (False,), "9.1"),
    Need("setup", ("chart",), "initial_troops", (None,), "9.1"),
    Need("capitals", (True,), "deck", ("star",), "13"),
    Need("capitals", (True,), "setup", ("capitals", "random", "chart"), "13"),
    Need("cities", LAID, "deck", ("star",), "13"),
    Need("objectives", LAID, "deck", ("star",), "13"),
    Need("rewards", (True,), "deck", ("star",), "13"),
    Need("rewards", (True,), "objectives", ("random",), "9.3"),
    Need("set_values", ("by_one", "fixed"), "deck", ("symbol",), "5.2"),
    Need("occupied_bonus", ("once_a_turn",), "deck", ("symbol",), "5.4"),
    Need("card_reroll", (True,), "deck", ("symbol",), "10.4"),
    Need("card_reroll", (True,), "attack", ("choice", "max"), "10.6"),
    Need("commander", (True,), "attack", ("choice", "max"), "10.6"),
)


# Presets (RULES 12): the options that differ from the defaults of `Rules`.

EXPERT: dict[str, Any] = {  # RULES 10.1-10.5
    "set_values": "by_one",
    "fortify": "free",
    "max_troops": 12,
    "card_reroll": True,
    "commander": True,
}
DUEL: dict[str, Any] = {"setup": "deal"}  # RULES 6.4: `classic` with two players


class Preset(NamedTuple):
    """A preset of RULES 12: the allowed numbers of players, and the options."""

    players: tuple[int, ...]
    options: dict[str, Any]


STAR_GAME = {"deck": "star", "capitals": True}
COMMAND_ROOM = {**STAR_GAME, "setup": "capitals", "cities": "random", "objectives": "random", "rewards": True}
PRESETS: dict[str, Preset] = {
    "world_domination": Preset((3, 4, 5, 6), {"fortify": "adjacent", "occupied_bonus": "once_a_turn"}),
    "classic": Preset((2, 3, 4, 5, 6), {}),
    "two_player": Preset((2,), {"setup": "deal", "neutral": True}),
    "capital": Preset((3, 4, 5, 6), {"victory": "headquarters"}),
    "secret_mission": Preset(
        (3, 4, 5, 6),
        {"setup": "deal", "victory": "mission", "fortify": "adjacent", "occupied_bonus": "once_a_turn"},
    ),
    "basic_training": Preset(
        (3, 4, 5),
        {**STAR_GAME, "setup": "chart", "victory": "objectives", "cities": "fixed", "objectives": "fixed"},
    ),
    "command_room": Preset((3, 4, 5), {**COMMAND_ROOM, "victory": "objectives"}),
    "world_conquest": Preset((3, 4, 5), COMMAND_ROOM),
}


# Profiles (RULES 12.1): changes that adapt a preset to people or to learning.

BOOK, FAST = "book", "fast"


class Change(NamedTuple):
    """Change of one option by a profile.

    If a preset gives `option` the value `usual`, the profile replaces `usual` with the first of `values` that
    the other options allow. Options that the caller sets are not changed.
    """

    option: str
    usual: Any
    values: tuple[Any, ...]


PROFILES: dict[str, tuple[Change, ...]] = {
    BOOK: (),
    FAST: (
        Change("setup", "claim", ("deal",)),
        Change("attack", "choice", ("blitz", "max")),
        Change("defender_dice", "choice", ("max",)),
        Change("max_rounds", None, (100,)),
    ),
}


def presets() -> tuple[str, ...]:
    """Return the names of the presets, in the order of RULES 12."""
    return tuple(PRESETS)


def preset_players(name: str) -> tuple[int, ...]:
    """Return the numbers of players that a preset allows (RULES 12)."""
    return _preset(name).players


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of one game: every option of RULES 13. The defaults are `classic` for three players.

    Rules are immutable and hashable, and are compared by value. A wrong value or combination raises
    ValueError.
    """

    num_players: int = 3  # 2-6
    deck: str = "symbol"  # RULES 2.1, 2.2, 2.5
    setup: str = "claim"  # RULES 4.3
    initial_troops: int | None = None  # None: RULES 4.2
    neutral: bool = False  # RULES 6
    victory: str = "domination"  # RULES 6.3, 7.3, 8.2, 9.7, 11.1
    headquarters_to_win: int | None = None  # None: all opposing Headquarters (RULES 7.3)
    missions: str = "standard"  # RULES 2.3
    set_values: str = "escalating"  # RULES 5.2
    occupied_bonus: str = "once_a_set"  # RULES 5.4
    fortify: str = "connected"  # RULES 3.4
    defender_dice: str = "choice"  # RULES 3.2.2
    attack: str = "choice"  # RULES 3.2.4
    max_troops: int | None = None  # RULES 10.3
    card_reroll: bool = False  # RULES 10.4
    commander: bool = False  # RULES 10.5
    cities: str | None = None  # RULES 9.1, 9.3
    objectives: str | None = None  # RULES 9.1, 9.3
    rewards: bool = False  # RULES 9.8
    capitals: bool = False  # RULES 9.3
    max_rounds: int | None = None  # RULES 11.2
    max_battles_per_turn: int | None = None  # RULES 11.3

    def __new__(cls, /, *_: Any, **options: Any) -> "Rules":
        """Return a new object. Raises ValueError for an unknown option; the error lists the options."""
        _known(options)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Raise ValueError for values that are not allowed, alone or together (RULES 13).

        NumPy scalars become Python values.
        """
        for option in OPTIONS:
            object.__setattr__(self, option, value := _plain(getattr(self, option)))
            _check_value(option, value)
        for need in NEEDS:
            value, other = getattr(self, need.option), getattr(self, need.other)
            if value in need.values and other not in need.allowed:
                problem = f"needs {need.other}={_listed(need.allowed, ' or ')}, not {need.other}={other!r}"
                raise ValueError(f"{need.option}={value!r} {problem} (RULES {need.section})")

    def __repr__(self) -> str:
        """Return the call that makes these rules, with the options that differ from their defaults."""
        told = [
            f"{field.name}={value!r}"
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        ]
        return f"Rules({', '.join(told)})"

    @classmethod
    def preset(
        cls,
        name: str,
        /,
        num_players: int | None = None,
        expert: bool = False,
        profile: str = BOOK,
        **options: Any,
    ) -> "Rules":
        """Return the rules of a preset (RULES 12), changed by `options` (named as in RULES 13).

        `num_players=None` means 3 players, or 2 for `two_player`. With two players, `classic` is the duel of
        RULES 6.4. `expert=True` turns on RULES 10.1-10.5, and needs the symbol deck (RULES 10.7).

        `profile` is "book" or "fast" (RULES 12.1). "book" keeps the rules of the rule books. "fast" makes
        games short; most games then have no decisions about dice. Raises ValueError for an unknown preset,
        profile or option, and for values that are not allowed, alone or together.
        """
        players, expert = _players_of(name, _plain(num_players)), _plain(expert)
        if not isinstance(expert, bool):
            raise ValueError(f"expert={shortened(expert)}: must be False or True")
        chosen = {
            **PRESETS[name].options,
            **(DUEL if name == "classic" and players == 2 else {}),
            **(EXPERT if expert else {}),
            **_known(options),
        }
        deck = chosen.get("deck", "symbol")
        if expert and deck != "symbol":
            whose = "" if "deck" in options else f" of preset {name!r}"
            raise ValueError(f"expert=True needs deck='symbol', not deck={deck!r}{whose} (RULES 10.7)")
        rules = cls(num_players=players, **chosen)
        changes = _changes(profile, rules, options)
        return rules.replace(**changes) if changes else rules

    def replace(self, /, **options: Any) -> "Rules":
        """Return a copy with new values for `options`. Raises ValueError as the constructor does."""
        return dataclasses.replace(self, **_known(options))

    def to_dict(self) -> dict[str, Any]:
        """Return a dict with every option. The values are numbers, strings, booleans and None."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> "Rules":
        """Return the rules from a dict that `to_dict` returned. A missing option has its default value."""
        if not isinstance(options, Mapping):
            raise ValueError(f"options={shortened(options)}: must be a mapping of option names to values")
        known = _known(options)
        try:
            return _rules_with(**known)
        except TypeError:  # a value that cannot be hashed, such as a list
            return cls(**known)

    def troops_to_start(self, num_territories: int) -> int:
        """Return the number of troops that each army starts with on a map (RULES 4.2).

        The number is `initial_troops`, or the number in the rule books if `initial_troops` is None. On a map
        with too many territories for the number in the rule books, the number grows in proportion to
        `num_territories`.
        """
        if self.initial_troops is not None:
            return self.initial_troops
        troops, armies = STARTING_TROOPS[self.deck][self.num_players], self.num_players + self.neutral
        if armies * troops >= num_territories:
            return troops
        return -(-troops * num_territories // BOOK_TERRITORIES)


@lru_cache(maxsize=128, typed=True)  # typed: 1 and True are different values
def _rules_with(**options: Any) -> Rules:
    return Rules(**options)


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def rules_from(
    rules: Rules | str, options: Mapping[str, Any], profile: str, *functions: Callable[..., Any]
) -> Rules:
    """Return `rules`, or the rules of the preset that `rules` names, with `options`.

    `profile` is used unless `options` contains a profile. Raises ValueError for options together with a
    `Rules` object, for an unknown option, and as `Rules.preset` does. `functions` are the public functions
    that took the options. The error for an unknown option also lists the arguments of `functions`.
    """
    _known(options, beside=("expert", "profile", *_arguments_of(*functions)))
    if isinstance(rules, Rules):
        for name, value in options.items():
            way = "" if name not in OPTIONS else f"rules.replace({name}=...), or "
            raise ValueError(
                f"{name}={shortened(value)} cannot be given with a Rules object: use {way}the name of a "
                "preset"
            )
        return rules
    return Rules.preset(rules, **{"profile": profile, **options})


@cache
def _arguments_of(*functions: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the keyword arguments of functions, without `self`."""
    parameters = [each for function in functions for each in inspect.signature(function).parameters.values()]
    return tuple(each.name for each in parameters if each.kind in _NAMED and each.name != "self")


def read_option(text: str) -> tuple[str, Any]:
    """Return the name and the value of an option in the form `name=value`.

    Hyphens in the name become underscores. The value is None, True, False, a whole number of at most ten
    digits, or a string. Raises ValueError for a text without `=`.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ValueError(f"option {shortened(text)} is not of the form NAME=VALUE")
    number = int(value) if re.fullmatch("[0-9]{1,10}", value) else value
    return name.replace("-", "_"), {"True": True, "False": False, "None": None}.get(value, number)


OPTIONS: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Rules))


# Checks of `Rules`.


def _preset(name: str) -> Preset:
    if not isinstance(name, str) or name not in PRESETS:
        told = f"preset={shortened(name)} is unknown{suggestion(name, PRESETS)}"
        raise ValueError(f"{told}; allowed: {_listed(PRESETS, ', ')}")
    return PRESETS[name]


def _players_of(name: str, num_players: int | None) -> int:
    """Return `num_players`, or the default for a preset: 3 players, or 2 for `two_player`.

    Raises ValueError for an unknown preset, and for a number that the preset does not allow.
    """
    allowed = _preset(name).players
    if num_players is None:
        return 3 if 3 in allowed else allowed[0]
    _check_value("num_players", num_players)
    if num_players not in allowed:
        players = _listed(allowed, " or ")
        raise ValueError(
            f"preset={name!r} needs num_players={players}, not num_players={num_players} (RULES 12)"
        )
    return num_players


def _known(options: Mapping[str, Any], beside: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the options as a dict. Raises ValueError for an option in neither RULES 13 nor `beside`."""
    for option in options:
        if option not in OPTIONS and option not in beside:
            known = dict.fromkeys((*beside, *OPTIONS))
            hint, allowed = suggestion(option, known), ", ".join(known)
            raise ValueError(f"option {shortened(option)} is unknown{hint}; allowed: {allowed}")
    return dict(options)


def _changes(profile: str, rules: Rules, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of the options that a profile changes, except the options in `given`.

    `rules` are the rules of a preset with the options in `given`.
    """
    if not isinstance(profile, str) or profile not in PROFILES:
        names = _listed(PROFILES, ", ")
        raise ValueError(
            f"profile={shortened(profile)} is unknown{suggestion(profile, PROFILES)}; allowed: {names}"
        )
    return {
        option: next((value for value in values if _is_allowed(rules, option, value)), usual)
        for option, usual, values in PROFILES[profile]
        if option not in given and getattr(rules, option) == usual
    }


def _is_allowed(rules: Rules, option: str, value: Any) -> bool:
    """Return True if the other options of the rules allow this value of an option (RULES 13)."""
    needs = [need for need in NEEDS if need.other == option and getattr(rules, need.option) in need.values]
    return all(value in need.allowed for need in needs)


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python value, and any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def _check_value(option: str, value: Any) -> None:
    """Raise ValueError for a value that the option can never have (RULES 13)."""
    if option in NUMBERS:
        right, allowed = NUMBERS[option].allow(value), str(NUMBERS[option])
    else:
        right = any(isinstance(value, type(choice)) and value == choice for choice in CHOICES[option])
        allowed = _listed(CHOICES[option], " or ")
    if not right:
        raise ValueError(f"{option}={shortened(value)}: must be {allowed}")


def _listed(values: Iterable[Any], between: str) -> str:
    return between.join(repr(value) for value in values)


# Checks that depend on the map.


def check_rules(rules: Rules, board: Any) -> None:
    """Raise ValueError unless the rules can be played on this map.

    `board` is a `Board`. The map must have the deck, missions, Objectives, cities and start chart that the
    game needs. The map must also have room for all starting troops: at least one on every territory (RULES
    4.3, 13), and at most `max_troops` (RULES 10.3). The error names the option, the value of the option, and
    the requirement that is not met.
    """
    _check_deck(rules, board)
    _check_missions(rules, board)
    _check_objectives(rules, board)
    _check_cities(rules, board)
    if rules.setup == "chart":
        _check_chart(rules, board)
    else:
        _check_room(rules, board)


def _refuse(rules: Rules, option: str, problem: str) -> None:
    raise ValueError(f"{option}={getattr(rules, option)!r}: {problem}")


def _check_deck(rules: Rules, board: Any) -> None:
    """Raise ValueError unless the map has the cards for the deck (RULES 2) and for Headquarters (RULES 7)."""
    given = "stars" if rules.deck == "star" else "symbols"
    if rules.deck != "none" and getattr(board, given) is None:
        has = f"but this map has {given} for 0 of {board.num_territories} territories"
        _refuse(rules, "deck", f"needs cards with {given}, {has}")
    if rules.victory == "headquarters" and None in board.symbols:
        lacking = board.symbols.count(None)
        without = f"but this map has none for {lacking} of {board.num_territories} territories"
        _refuse(rules, "victory", f"needs a card for every territory, {without}")


def _check_missions(rules: Rules, board: Any) -> None:
    """Raise ValueError unless the map has a mission for every player (RULES 8.1).

    Only missions that the rules use are counted (`is_dealt`).
    """
    if rules.victory != "mission":
        return
    dealt = sum(is_dealt(mission, rules) for mission in board.missions)
    if dealt < rules.num_players:
        needs = f"needs at least {rules.num_players} missions for {rules.num_players} players"
        has = f"but only {dealt} missions of this map can be dealt with missions={rules.missions!r}"
        _refuse(rules, "victory", f"{needs}, {has}")


def is_dealt(mission: Any, rules: Rules) -> bool:
    """Return True if the rules use this mission of the map (RULES 8.1)."""
    if mission.extended and rules.missions != "extended":
        return False
    return mission.kind != "destroy" or mission.target < rules.num_players


def _check_objectives(rules: Rules, board: Any) -> None:
    """Raise ValueError unless the map has enough Objectives for the layout and for a victory.

    RULES 9.1 and 9.3 give the number of Objectives to lay out. RULES 9.7 gives the number needed to win.
    """
    if rules.objectives is None:
        return
    usable = [o for o in board.objectives if rules.objectives == "random" or o.basic_training]
    majors = sum(bool(o.major) for o in usable)
    minors = len(usable) - majors
    has = f"but this map has {minors} minor and {majors} major Objectives"
    if rules.objectives == "random" and min(minors, majors) < LAID_OUT_OBJECTIVES:
        _refuse(rules, "objectives", f"needs at least 4 minor and 4 major Objectives, {has}")
    if rules.objectives == "fixed" and len(usable) < OBJECTIVES_TO_WIN:
        has = f"but this map has {len(usable)}"
        _refuse(rules, "objectives", f"needs at least {OBJECTIVES_TO_WIN} fixed Objectives, {has}")


def _check_cities(rules: Rules, board: Any) -> None:
    """Raise ValueError unless the map has the fixed (RULES 9.1) or random (RULES 9.3) cities of the game."""
    if rules.cities == "fixed" and not board.basic_training_cities:
        _refuse(rules, "cities", "needs fixed cities, but this map has none")
    if rules.cities == "random" and not 1 <= board.random_cities <= board.num_territories:
        has = f"but this map has {board.random_cities}"
        _refuse(rules, "cities", f"needs 1 to {board.num_territories} random cities, {has}")


def _check_chart(rules: Rules, board: Any) -> None:
    """Raise ValueError unless the map has a start chart for the players (RULES 9.1).

    The chart may have at most `max_troops` troops on a territory (RULES 10.3).
    """
    chart = board.chart(rules.num_players)
    if chart is None:
        players = _listed((chart.num_players for chart in board.charts), ", ")
        has = f"has charts for {players} players" if players else "has no charts"
        needs = f"needs a start chart for num_players={rules.num_players}"
        _refuse(rules, "setup", f"{needs}, but the map {board.name!r} {has}")
    if rules.max_troops is not None and rules.max_troops < max(chart.troops):
        most = max(chart.troops)
        _refuse(rules, "max_troops", f"the start chart of this map needs max_troops={most} or more")


def _check_room(rules: Rules, board: Any) -> None:
    """Raise ValueError unless each army gets a territory and room for its troops (RULES 4.3, 10.3, 13).

    Each territory must get at least one troop and at most `max_troops` troops.
    """
    armies = rules.num_players + rules.neutral
    fewest, most = board.num_territories // armies, -(-board.num_territories // armies)
    troops = rules.troops_to_start(board.num_territories)
    shares = f"{board.num_territories} territories of this map for {armies} armies"
    if fewest == 0:
        _refuse(rules, "num_players", f"each army needs a territory, but there are only {shares}")
    if troops < most:
        needs = f"num_players={rules.num_players} needs at least {most}"
        _refuse(rules, "initial_troops", f"{troops} troops are too few: {needs} ({shares})")
    if rules.max_troops is not None and rules.max_troops * fewest < troops:
        needed = -(-troops // fewest)
        started = f"{troops} starting troops (initial_troops={rules.initial_troops})"
        _refuse(rules, "max_troops", f"{started} need max_troops={needed} or more ({shares})")

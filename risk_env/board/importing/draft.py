"""Draft of a map during the import, and the report of problems and decisions."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from risk_env.board.map_pictures import MapPicture
from risk_env.board.maps import MAX_TERRITORIES
from risk_env.board.names import MAX_NAME, QUOTE, RESERVED_NAMES, key_of
from risk_env.board.toml_table import MapError, similar_names
from risk_env.bounded_io import composed
from risk_env.messages import shortened

MOST_SHOWN = 100  # maximum number of problems, and of decisions, that a report lists
MOST_HINTS = 20  # only the first MOST_HINTS problems can get a hint about names
MOST_DIGITS = 9  # maximum number of digits before the decimal point
_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,18}})?")


@dataclass
class DraftContinent:
    """A continent of a draft."""

    name: str
    bonus: int
    colour: str | None = None


@dataclass
class DraftTerritory:
    """A territory of a draft."""

    name: str
    continent: int = -1  # number of the continent; -1: outside all continents
    centre: tuple[float, float] | None = None
    symbol: str | None = None


@dataclass
class DraftMission:
    """A mission of a draft. The map file contains `values` unchanged."""

    kind: str
    values: dict[str, int | bool] = field(default_factory=dict)
    continents: list[int] = field(default_factory=list)


@dataclass
class MapDraft:
    """A map before its checks. Territories and continents are numbered in the order of the file."""

    name: str
    continents: list[DraftContinent] = field(default_factory=list)
    territories: list[DraftTerritory] = field(default_factory=list)
    borders: dict[tuple[int, int], None] = field(default_factory=dict)  # directed, an ordered set
    missions: list[DraftMission] = field(default_factory=list)
    wilds: int = 2
    picture: MapPicture | None = None  # picture under the drawing; `finish` scales its pixels to the drawing
    picture_name: str = ""  # file name of the picture
    size: tuple[int, int] = (0, 0)  # width and height of the drawing, in pixels; unused without centres

    def add_borders(self, source: int, targets: Iterable[int]) -> None:
        """Add borders from `source` to each of `targets`. Negative numbers (unknown names) are left out."""
        self.borders |= {(source, target): None for target in targets if min(source, target) >= 0}


@dataclass
class Report:
    """The problems of a file, and the decisions of the importer.

    `mirror` makes one-way borders two-way. `simplify` leaves out features that the rules do not have.
    """

    file: str
    mirror: bool = False
    simplify: bool = False
    problems: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    hints: dict[str, None] = field(default_factory=dict)  # advice for the problems, an ordered set
    num_problems: int = 0
    num_decisions: int = 0

    def problem(self, problem: str, name: str = "", names: Sequence[str] = (), hint: str = "") -> None:
        """Add a problem. If `names` are given, the problem usually ends with a hint for the wrong `name`.

        `hint` is advice. The error lists each hint once, after the problems.
        """
        self.hints |= {hint: None} if hint else {}
        names = [each for each in names if each]
        few = len(names) <= MAX_TERRITORIES and all(len(each) <= MAX_NAME for each in (name, *names))
        if names and few and self.num_problems < MOST_HINTS:  # many or long names would take long to compare
            problem += similar_names(name, names)
        self.num_problems += 1
        if len(self.problems) < MOST_SHOWN:
            self.problems.append(problem)

    def decision(self, decision: str) -> None:
        """Add a decision."""
        self.num_decisions += 1
        if len(self.decisions) < MOST_SHOWN:
            self.decisions.append(decision)

    def left_out(self, what: str, instead: str) -> None:
        """Report a feature that the rules do not have.

        Without `simplify` the feature is a problem. With `simplify` the feature is left out, and the report
        contains a decision.
        """
        if self.simplify:
            self.decision(f"{what}: {instead}")
        else:
            hint = "Use --simplify to leave out features that the rules do not have, as described above."
            self.problem(f"{what} (--simplify: {instead})", hint=hint)

    def raise_problems(self) -> None:
        """Raise MapError if there are problems. The error lists the first MOST_SHOWN problems.

        The notes of the error (`__notes__`) are the decisions.
        """
        if self.problems:
            more = self.num_problems - len(self.problems)
            lines = [*self.problems, *([f"... and {more} more"] if more else [])]
            count = f"{self.num_problems} problem{'s' if self.num_problems > 1 else ''}"
            error = MapError("\n  ".join([f"{self.file}: {count}:", *lines, *self.hints]))
            for decision in self.decisions:
                error.add_note(decision)
            raise error


def clean_name(text: str, what: str, report: Report) -> str:
    """Return a text as a name: in NFC, with single spaces, without double quotes, not reserved.

    Replaced double quotes and a change of a reserved name are reported as a decision.
    """
    name = " ".join(composed(text).split())
    allowed = _allowed(name)
    if allowed != name:
        report.decision(f"{what} {shortened(name)} is renamed to {shortened(allowed)}")
    return allowed


def _allowed(name: str) -> str:
    """Return a name without double quotes; append " 2" to a reserved name."""
    name = name.replace(QUOTE, "'")
    return f"{name} 2" if key_of(name) in RESERVED_NAMES else name


def whole_number(text: str, what: str, report: Report) -> int:
    """Return the whole number in a text. If there is no such number, report a problem and return 0.

    Numbers with more than MOST_DIGITS digits are not allowed.
    """
    if re.fullmatch(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}", text.strip(), re.ASCII):
        return int(text)
    report.problem(f"{what}: {shortened(text)} is not a whole number of at most {MOST_DIGITS} digits")
    return 0


def point(x: str, y: str, what: str, report: Report) -> tuple[float, float] | None:
    """Return the coordinates of a point. If there are no such coordinates, report a problem and return None.

    `x` and `y` must match `_NUMBER`.
    """
    if _NUMBER.fullmatch(x.strip()) and _NUMBER.fullmatch(y.strip()):
        return float(x), float(y)
    form = f"decimal numbers with at most {MOST_DIGITS} digits before the decimal point"
    report.problem(f"{what}: {shortened(x)}, {shortened(y)} are not the coordinates of a point ({form})")
    return None


class NameIndex:
    """Index that maps names, in any spelling, to numbers. Duplicate names are reported."""

    def __init__(self, what: str, report: Report) -> None:
        self.what, self.report = what, report
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def add(self, name: str, place: str = "") -> int:
        """Add a name and return the number of the name. `place` is the place of the name in the file."""
        if key_of(name) in self._numbers and name:  # `finish` reports names that are missing
            where = f"{place}: " if place else ""
            self.report.problem(f"{where}{self.what} {shortened(name)} is given twice")
        number = self._numbers.setdefault(key_of(name), len(self.names))
        self.names.append(name)
        return number

    def find(self, name: str, place: str) -> int:
        """Return the number of a name. For an unknown name, report a problem at `place` and return -1."""
        name = _allowed(" ".join(composed(name).split()))
        number = self._numbers.get(key_of(name), -1)
        if number < 0:
            self.report.problem(f"{place}: no {self.what} {shortened(name)}", name, self.names)
        return number

"""Names of random maps, such as `random:SEED:territories=60,continents=8`, and a random generator."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from risk_env.board.toml_table import MapError, similar_names
from risk_env.core.types import SIZE_CLASSES
from risk_env.messages import shortened
from risk_env.splitmix64 import INCREMENT, WORD, scrambled

PREFIX = "random:"
LEAST_TERRITORIES = 6
MOST_TERRITORIES, _, MOST_CONTINENTS = SIZE_CLASSES[-1]
CLASSIC_TERRITORIES = 42  # number of territories of the classic map
TERRITORIES_OF_A_CONTINENT = 7
FORM = "random:SEED:territories=N,continents=N"
_NUMBER = re.compile("[0-9]{1,20}")


class RandomMap(NamedTuple):
    """The seed and the size of a random map."""

    seed: int
    territories: int
    continents: int

    @property
    def name(self) -> str:
        """Name of the map, with all options."""
        return f"{PREFIX}{self.seed}:territories={self.territories},continents={self.continents}"


def is_random(name: Any) -> bool:
    """Return True if a name begins with `random:`."""
    return isinstance(name, str) and name.startswith(PREFIX)


def read_spec(name: str) -> RandomMap:
    """Return the seed and the size in the name of a random map.

    The options `territories` and `continents` may be left out. Raises MapError for a name that does not have
    the form FORM, and for a number outside its range.
    """
    written, _, options = name.removeprefix(PREFIX).partition(":")
    values: dict[str, int] = {}
    for option in filter(None, options.split(",")):
        key, _, number = map(str.strip, option.partition("="))
        if key not in ("territories", "continents"):
            hint = similar_names(key[:100], ("territories", "continents"))
            raise MapError(f"{shortened(name)}: unknown option {shortened(key)}{hint}")
        if key in values:
            raise MapError(f"{shortened(name)}: {key} is given twice")
        values[key] = _whole(name, key, number)
    territories = values.get("territories", CLASSIC_TERRITORIES)
    _check(name, "territories", territories, LEAST_TERRITORIES, MOST_TERRITORIES)
    continents = values.get("continents", max(2, territories // TERRITORIES_OF_A_CONTINENT))
    _check(name, "continents", continents, 1, min(MOST_CONTINENTS, territories // 2))
    seed = _whole(name, "seed", written)
    _check(name, "seed", seed, 0, WORD - 1)
    return RandomMap(seed, territories, continents)


def _whole(name: str, key: str, number: str) -> int:
    if not _NUMBER.fullmatch(number):
        problem = f"{shortened(number)} is not a whole number of at most 20 digits: the form is {FORM}"
        raise MapError(f"{shortened(name)}: {key}: {problem}")
    return int(number)


def _check(name: str, key: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise MapError(f"{shortened(name)}: {key}={number}: must be {least} to {most}")


class RandomNumbers:
    """Random generator (SplitMix64) with the same numbers on every machine and in every version of Python."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        """Return a random number from 0 to `bound - 1`. The relative bias is below `bound / WORD`."""
        self._state = (self._state + INCREMENT) % WORD
        return scrambled(self._state) * bound // WORD

    def shuffled(self, values: Sequence[Any]) -> list[Any]:
        """Return the values in random order."""
        mixed = list(values)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

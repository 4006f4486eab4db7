"""Cases of parametrised tests: `make test` runs some of them, and `make long` runs the others."""

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from risk_env.board.rules import preset_players, presets


def others_long(cases: Sequence[tuple[Any, ...]], kept: Collection[int]) -> list[Any]:
    """Return all cases as parameters; the cases whose number is not in `kept` are marked `long`."""
    return [
        pytest.param(*case, marks=() if number in kept else pytest.mark.long)
        for number, case in enumerate(cases)
    ]


def one_of_each_preset(cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return all cases (preset, players, ...); `make test` runs one case of each preset.

    It is the first and the last case of a preset in turn, so that few and many players both occur.
    """
    numbers: dict[str, list[int]] = {}
    for number, (preset, *_) in enumerate(cases):
        numbers.setdefault(preset, []).append(number)
    return others_long(cases, [found[-(turn % 2)] for turn, found in enumerate(numbers.values())])


TABLES = one_of_each_preset(
    [(preset, players) for preset in presets() for players in preset_players(preset)]
)  # every number of players of every preset

"""Golden games: one readable file per preset.

A change of play shows as a difference to review (`make golden`).
"""

import pytest

from risk_env import presets
from tests import golden

HOW = (
    "play differs after the lines shown: "
    "compare `python -m tests.golden {preset}` before and after; then: make golden"
)


@pytest.mark.parametrize("preset", presets())
def test_game_is_as_it_was(preset: str) -> None:
    found, kept = (
        golden.golden_text(preset).splitlines(),
        golden.path_of(preset).read_text(encoding="utf-8").splitlines(),
    )
    assert found[:-1] == kept[:-1], "review, then: make golden"
    assert found[-1] == kept[-1], HOW.format(preset=preset)


def test_none_is_missing() -> None:
    assert {path.stem for path in golden.FOLDER.glob("*.txt")} == set(presets())
    assert set(golden.load_digests()) == set(presets())

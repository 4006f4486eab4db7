"""Golden games: one readable file a preset; a change of play shows as a difference to review (`make golden`)."""

import pytest

from risk_env import presets
from tests import golden


@pytest.mark.parametrize("preset", presets())
def test_game_is_as_it_was(preset: str) -> None:
    assert golden.play_golden(preset) == golden.path_of(preset).read_text(encoding="utf-8"), "review, then: make golden"


def test_none_is_missing() -> None:
    assert {path.stem for path in golden.FOLDER.glob("*.txt")} == set(presets())
    assert set(golden.load_digests()) == set(presets())

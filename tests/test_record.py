"""A few parts of the record of play (`tests/record.py`). The whole record takes minutes."""

import pytest

from tests import record

COMPARED = ("classic 3 batch of blitzes", "command_room 5 game", "agent hunter")


@pytest.mark.slow
@pytest.mark.parametrize("part", COMPARED)
def test_play_is_as_recorded(part: str) -> None:
    assert record.parts()[part]() == record.load()[part], "python -m tests.record shows what else differs"


def test_no_part_is_missing() -> None:
    assert set(record.load()) == set(record.parts())

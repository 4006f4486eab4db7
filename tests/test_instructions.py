"""Counts of instructions: files of callgrind, the report of changes, and the page of all versions.

`make bench-check` counts the instructions.
"""

import json
import platform
from pathlib import Path
from typing import Any

import pytest

from benchmarks import instructions, instructions_report

DUMP = "version: 1\npid: 1\n\ndesc: Trigger: Client Request: {name}\n\nsummary: 0\n\ntotals: {count}\n"
COUNTS = {name: 1_000_000 * (number + 1) for number, name in enumerate(instructions.WORKS)}


def record(version: str, **changed: int) -> dict[str, Any]:
    return {
        "version": version,
        "date": "2026-12-01",
        "versions": {"numpy": "2"},
        "counts": {**COUNTS, **changed},
    }


def test_counts_are_read_by_the_names_of_the_work() -> None:
    dumps = [DUMP.format(name=name, count=count) for name, count in reversed(COUNTS.items())]
    other = "desc: Trigger: Program termination\n\ntotals: 5\n"
    assert instructions.counts_in([other, *dumps]) == COUNTS
    with pytest.raises(SystemExit, match="no count for"):
        instructions.counts_in(dumps[1:])


@pytest.mark.parametrize(("count", "status"), [(1_029_999, 0), (1_030_001, 1), (500_000, 0)])
def test_growth_over_the_limit_fails(count: int, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    first = next(iter(COUNTS))
    assert instructions.check(record("1.0.0"), record("1.1.0", **{first: count})) == status
    assert (f"instructions: {first}" in capsys.readouterr().out) == bool(status)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a request is machine code of x86-64")
def test_without_valgrind_a_request_does_nothing() -> None:
    instructions.Requester()(instructions.ZERO, b"text")


def test_the_page_shows_every_version() -> None:
    records = [record("1.0.0"), record("1.1.0", **{next(iter(COUNTS)): 2_000_000})]
    page, picture = instructions_report.page(records), instructions_report.picture(records)
    assert "| 1.0.0 | 1.00 | 2.00 |" in page and "| 1.1.0 | 2.00 |" in page
    assert "200%" in picture and all(name in picture for name in COUNTS)


def test_the_records_are_complete() -> None:
    records = json.loads(Path(instructions.FILE).read_text(encoding="utf-8"))
    assert records[-1]["counts"].keys() == instructions.WORKS.keys()
    assert len({each["version"] for each in records}) == len(records)

"""The page and the picture of recorded instruction counts (docs/speed.md, docs/pictures/speed.svg)."""

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.instructions import LIMIT, PROCESSOR, WORKS

WIDTH, HEIGHT, LEFT, TOP, KEY = 760, 320, 60, 20, 250  # pixels; KEY: width of the legend
COLOURS = ("#2f7fc1", "#dd6633", "#3b8f5a", "#9b59b6", "#b8860b", "#c0392b", "#555555")
SPAN = 0.05  # the picture shows at least this change in both directions

PAGE = """# Speed over versions

`make docs` generates this page from `benchmarks/instructions.json`.

A *workload* is a fixed piece of work, such as ten games of a compiled bot. The table shows the number of
processor instructions of each workload, in millions, as counted by Valgrind. Other processes do not affect
these counts. A count is not a measure of time, because time also depends on memory accesses and branches.
[Benchmarks](benchmarks.md) shows speeds.

The workload *batch, mask* plays steps of a batch with random actions, and writes only the masks. The workload
*batch, mask and observation* also writes the observations.

![Instructions of each workload, relative to the first version with this workload](pictures/speed.svg)
"""

METHOD = f"""
* `make bench-check` counts again, and fails if a workload needs over {100 * LIMIT:.0f} % more
  instructions than in the last record. The check needs Valgrind on x86-64.
* `python -m benchmarks.instructions --record` counts again, and stores the counts for the present version.
* Every workload runs twice, and only the second run is counted. The kernels are compiled for the processor
  `{PROCESSOR}`.
* Two counts of the same code differed by 0.8 % for games of a compiled bot, and by at most 0.1 % for the
  other workloads.
* The counts depend on the versions of Python, NumPy and Numba.
"""


def page(records: Sequence[dict[str, Any]]) -> str:
    """Return the text of docs/speed.md."""
    head = ("version", *WORKS)
    rows = [
        (record["version"], *(_millions(record["counts"].get(name)) for name in WORKS)) for record in records
    ]
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---", *["---:"] * len(WORKS)], *rows)]
    made = [
        f"{record['version']}: {record['date']}, "
        + ", ".join(f"{name} {number}" for name, number in record["versions"].items())
        for record in records
    ]
    return "\n".join([PAGE, *lines, "", "; ".join(made) + ".", METHOD])


def _millions(count: int | None) -> str:
    return "" if count is None else f"{count / 1e6:.2f}"


def picture(records: Sequence[dict[str, Any]]) -> str:
    """Return the curves as an SVG document: counts relative to the first record of each workload."""
    curves = {name: _relative(records, name) for name in WORKS}
    values = [value for curve in curves.values() for _, value in curve]
    low, high = min(1 - SPAN, *values), max(1 + SPAN, *values)
    right, bottom = WIDTH - KEY, HEIGHT - 40

    def place(number: int, value: float) -> tuple[float, float]:
        x = LEFT + (right - LEFT) * (number + 0.5) / len(records)
        return round(x, 1), round(bottom - (bottom - TOP) * (value - low) / (high - low), 1)

    shapes = [f"<rect width='{WIDTH}' height='{HEIGHT}' fill='#fff'/>"]
    for value in (low, 1.0, high):
        y = place(0, value)[1]
        shapes += [
            f"<path d='M{LEFT} {y}H{right}' stroke='#ccc'/>",
            f"<text x='{LEFT - 6}' y='{y + 4}' text-anchor='end'>{value:.0%}</text>",
        ]
    for number, record in enumerate(records):
        x = place(number, 1.0)[0]
        shapes.append(
            f"<text x='{x}' y='{bottom + 20}' text-anchor='middle'>{escape(record['version'])}</text>"
        )
    for line, (name, curve) in enumerate(curves.items()):
        shapes += _curve(name, [place(*point) for point in curve], line, right)
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}'"
    return "\n".join([f"{head} font-family='sans-serif' font-size='12'>", *shapes, "</svg>", ""])


def _relative(records: Sequence[dict[str, Any]], name: str) -> list[tuple[int, float]]:
    counts = [
        (number, record["counts"][name]) for number, record in enumerate(records) if name in record["counts"]
    ]
    return [(number, count / counts[0][1]) for number, count in counts]


def _curve(name: str, points: list[tuple[float, float]], line: int, right: int) -> list[str]:
    colour, y = COLOURS[line % len(COLOURS)], TOP + 20 * line + 10
    path = "L".join(f"{x} {y}" for x, y in points)
    return [
        f"<path d='M{path}' fill='none' stroke='{colour}' stroke-width='2'/>",
        *(f"<circle cx='{x}' cy='{y}' r='4' fill='{colour}'/>" for x, y in points),
        f"<circle cx='{right + 20}' cy='{y}' r='4' fill='{colour}'/>",
        f"<text x='{right + 32}' y='{y + 4}'>{escape(name)}</text>",
    ]

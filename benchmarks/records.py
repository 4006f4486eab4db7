"""Records of results: headings (machine, command, date, versions), Markdown tables and files."""

import json
import os
import platform
import shlex
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SCHEMA = 1


def heading(command: Sequence[str], packages: Iterable[str]) -> dict[str, Any]:
    """Return the heading of a record: schema, command, date (UTC), machine and versions."""
    return {
        "schema": SCHEMA,
        "command": shlex.join(command),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **versions(packages)},
    }


def machine() -> dict[str, Any]:
    """Return a dict with the processor, the number of usable cores, the operating system and the load."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def processor() -> str:
    """Return the model of the processor according to the operating system."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    return {name: version for name in packages if (version := version_of(name)) is not None}


def version_of(package: str) -> str | None:
    """Return the version of a package, or None if the package is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def heading_lines(record: dict[str, Any]) -> list[str]:
    """Return the heading as lines of a Markdown list."""
    where = record["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    busy = "" if where["load"] is None else f", load {where['load']} at the start"
    return [
        f"* command: `{record['command']}`",
        f"* date: {record['date']}",
        f"* machine: {where['processor']}, {where['cores']} cores, {where['system']}{busy}",
        f"* versions: {versions}",
    ]


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Return the lines of a Markdown table.

    All columns but the first are right-aligned.
    """
    cells = [[str(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(3, *(len(row[c]) for row in cells)) for c in range(len(columns))]
    rule = [("-" * (width - 1)) + ("-" if c == 0 else ":") for c, width in enumerate(widths)]
    return [_line(row, widths) for row in (cells[0], rule, *cells[1:])]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first = row[0].ljust(widths[0])
    others = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return f"| {' | '.join([first, *others])} |"


def keep(name: str, record: dict[str, Any], report: str, folder: Path = RESULTS) -> Path:
    """Write `NAME-DATE.json` and `NAME-DATE.md` into a folder, replacing results of the same day."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{record['date'].split()[0]}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(report + "\n", encoding="utf-8")
    return path

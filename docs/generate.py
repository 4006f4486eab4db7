"""Write the pages of PAGES from the code and the recorded results: `make docs`.

A test compares the pages in the repository with this output.
"""

from __future__ import annotations

import argparse
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import instructions_report
from benchmarks import leaderboard as shipped_agents
from benchmarks.baselines import cells
from benchmarks.instructions import recorded
from risk_agents.benchmark.leaderboard import page_of
from risk_env import __version__, cli, load_map, map_names
from risk_env.core.observe import (
    CONTINENT_COLUMNS,
    GLOBAL_BLOCKS,
    GLOBAL_WIDTH,
    MOST_CODE,
    TERRITORY_COLUMNS,
    TERRITORY_WIDTH,
    encode_count,
    num_globals,
)
from risk_env.core.types import Phase
from risk_env.observations import COUNT_DIVISOR
from risk_env.text.escape import for_html

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent / "benchmarks" / "results"
REPLAYS = "leaderboard-replays"  # folder beside the leaderboard
BEGIN, END = "<!-- table of baselines -->", "<!-- end of the table -->"  # in baselines.md
Row = Sequence[object]

# ------------------------------------------------------------------------------------------------ observation

OBSERVATION = f"""# Observation

An observation contains public facts, and the cards, the mission and the headquarters of the observing seat.
Hidden facts about other seats are left out. `make docs` generates this page from `risk_env/core/observe.py`.

Players are numbered from the observing seat: player 0 is the seat itself, player 1 is the next seat
clockwise, and so on. One policy can therefore play every seat.

`GameBatch` and `Game.observe_codes` return int8 codes from 0 to {MOST_CODE}, and [datasets](datasets.md)
contain such codes. Columns marked "(count)" or "(counts)" contain [codes of counts](#codes-of-counts).
Environments and policies get float32 numbers. The codes of counts are divided by {COUNT_DIVISOR:g}, except in
the columns of continents. These columns and all other codes are unchanged.

`risk_env.observations` converts codes: `as_floats(codes, board)` returns the floats, and
`observation_scales(board)` returns the factor of each column, float32 (D,). [Features for
networks](features.md) are computed from the codes.

An observation on a map of T territories, with G global columns, has one of two forms:

* `"flat"` is one vector of D = {TERRITORY_WIDTH} T + G numbers: all territories, one after another, then
  the globals.
* `"structured"` is a dict of `territories` (T, {TERRITORY_WIDTH}) and `globals` (G,).
"""


def observation() -> str:
    """Return the page about the columns of observations."""
    parts = [OBSERVATION, _sizes(), _territories(), _globals(), _continents(), _phases(), _codes()]
    return "\n".join(parts)


def _sizes() -> str:
    rows = []
    for name in map_names():
        board = load_map(name)
        T, G = board.num_territories, num_globals(len(board.continents))
        rows.append((name, T, G, TERRITORY_WIDTH * T + G))
    return _table("Sizes", ("map", "T", "G", "D"), rows)


def _territories() -> str:
    rows = [(column, f"`{name}`", words) for column, (name, words) in enumerate(TERRITORY_COLUMNS)]
    return _table("Columns of a territory", ("column", "name", "meaning"), rows)


def _globals() -> str:
    rows, first = [], 0
    for name, width, words in GLOBAL_BLOCKS:
        columns = str(first) if width == 1 else f"{first}–{first + width - 1}"
        rows.append((columns, f"`{name}`", words))
        first += width
    return _table("Globals", ("columns", "name", "meaning"), rows)


def _continents() -> str:
    width = len(CONTINENT_COLUMNS)
    rows = [
        (f"{GLOBAL_WIDTH} + {width} c + {k}", f"`{name}`", words)
        for k, (name, words) in enumerate(CONTINENT_COLUMNS)
    ]
    note = (
        "Each continent c, numbered from 0, has these columns at the end of the globals.\n"
        "Columns of zeros fill the globals up to a multiple of 8 columns.\n"
    )
    return f"## Columns of a continent\n\n{note}\n{_rows(('column', 'name', 'meaning'), rows)}"


def _phases() -> str:
    rows = [(int(phase), f"`{phase.name}`") for phase in Phase if phase < Phase.OVER]
    return _table("Phases", ("number in `phase`", "[phase](decisions.md#phases)"), rows)


def _codes() -> str:
    encode = getattr(encode_count, "py_func", encode_count)  # the kernel as a plain Python function
    kept = (31, 32, 33, 34, 35, 36, 40, 44, 48, 52, 56, 60, 64, MOST_CODE)
    rows = [(code, bisect_left(range(2**31 - 1), code, key=encode)) for code in kept]
    note = (
        "The code of a count up to 32 is the count itself. Above 32, four codes cover each doubling.\n"
        "For some codes, the table shows the smallest count that has the code.\n"
    )
    return f"## Codes of counts\n\n{note}\n{_rows(('code', 'smallest count'), rows)}"


# --------------------------------------------------------------------------------------------------- commands

COMMANDS = """# Command line

Run a command with `risk-env COMMAND ...` or `python -m risk_env COMMAND ...`.

| exit status | meaning |
| --- | --- |
| 0 | success; Ctrl-C in a server (`serve`, `mcp --http`) |
| 1 | any other error, such as a missing package or a closed output pipe |
| 2 | wrong input, file error or connection error |
| 3 | unexpected error during the startup of a server |
| 130 | Ctrl-C in any other command |
"""


class _Parsed(Exception):
    """An exception that carries the parser of a command."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


def commands() -> str:
    """Return the page about all commands and their arguments."""
    names = [(f"[`{name}`](#{name})", command.help) for name, command in cli.COMMANDS.items()]
    return "\n".join([COMMANDS, _rows(("command", "purpose"), names), *map(_command, cli.COMMANDS)])


def _command(name: str) -> str:
    parser = parser_of(name)
    rows = [_argument(parser, action) for action in parser._actions if action.dest != "help"]
    return f"## {name}\n\n{parser.description}\n\n{_rows(('argument', 'meaning'), rows)}"


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command, captured when the command begins to parse its arguments."""
    command = cli.COMMANDS[name]
    with _caught_parsers():
        try:
            getattr(import_module(command.module), command.function)([])
        except _Parsed as found:
            return found.parser
    raise ValueError(f"command {name!r} parses no arguments")


@contextmanager
def _caught_parsers() -> Iterator[None]:
    def stop(parser: argparse.ArgumentParser, *arguments: object) -> None:
        raise _Parsed(parser)

    parse_args = argparse.ArgumentParser.parse_args
    argparse.ArgumentParser.parse_args = stop  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        argparse.ArgumentParser.parse_args = parse_args  # type: ignore[method-assign]


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> Row:
    choices = f"{{{','.join(action.choices)}}}" if action.choices else ""
    value = str(action.metavar or choices or action.dest.upper())
    words = [option if action.nargs == 0 else f"{option} {value}" for option in action.option_strings]
    meaning = (action.help or "") % {**vars(action), "prog": parser.prog}
    return f"`{', '.join(words) or action.dest}`", meaning.replace("<", "&lt;")


# ------------------------------------------------------------------------------------------------- benchmarks

BENCHMARKS = """# Benchmarks

`make docs` writes the tables of this page from the newest [records](../benchmarks/README.md). The
[ladder](ladder.md) shows strength.

## Method

* **Decisions.** In Risk, a decision is a choice among two or more legal actions. Forced actions and dice take
  time but are not counted. In other games, every step of a player is counted.
* **Random play.** In measurements of environments, other libraries and presets, every action is drawn
  uniformly from the legal actions. Games between other bots have fewer decisions ([below](#whole-games)).
* **Best window.** The speed of a shared machine can change by a factor of two within minutes. The tables of
  environments, other libraries and presets therefore show the best of several short windows of time.
  [Whole games](#whole-games) are measured once, in CPU time.
* **Other libraries** play their own games on one core in the same run, each through its usual interface, with
  its own observations and masks. The numbers compare the cost of a step, not the quality of a library.
"""


def benchmarks() -> str:
    """Return the page about recorded speed."""
    return "\n".join([BENCHMARKS, _peers(), _presets(), _games(), _scaling()])


def latest(name: str) -> dict[str, Any]:
    """Return the newest record of a benchmark."""
    path = max(RESULTS.glob(f"{name}-*.json"))
    return {"file": path.stem, **json.loads(path.read_text(encoding="utf-8"))}


def _peers() -> str:
    record = latest("peers")
    measured = [row for measure in record["measures"].values() for row in measure.get("rows", ())]
    rows = [
        (
            row["game"],
            row["interface"],
            f"{row['games']:,}",
            _short(row["steps_per_second"]),
            _short(row["ns_per_step"]),
        )
        for row in measured
        if "steps_per_second" in row
    ]
    head = ("game", "interface", "games at once", "decisions per second", "ns per decision")
    threads = [
        f"With {row['games']:,} games, two threads of `GameBatch` play {median(row['ratios']):.2f} times as "
        f"many decisions per second as one thread (median of {len(row['ratios'])} pairs of windows).\n"
        for row in measured
        if row.get("measure") == "threads"
    ]
    return "\n".join([_recorded("Environments and other libraries", record, head, rows), *threads])


def _presets() -> str:
    record = latest("speed-all")
    rates = ("decisions", "battles", "turns", "games")
    rows = [
        (
            f"`{row['preset']}`, {row['num_players']} players",
            *(_short(row[f"{rate}_per_second"]) for rate in rates),
        )
        for row in record["presets"]
    ]
    head = ("preset (masks, no observations)", *(f"{rate} per second" for rate in rates))
    return _recorded("Every preset", record, head, rows)


def _games() -> str:
    record = latest("bots")
    measures = ("games_per_second", "rounds", "decisions")
    rows = [
        (f"`{row['bot']}`", row["players"], *(_short(row[name]) for name in measures))
        for row in record["rows"]
    ]
    head = ("bot in all seats", "players", "games per second", "rounds per game", "decisions per game")
    return _recorded("Whole games", record, head, rows)


def _scaling() -> str:
    record = latest("scaling")
    rates = {
        "games": "games_a_second",
        "decisions played": "played_a_second",
        "decisions trained": "decisions_a_second",
    }
    shown = {head: name for head, name in rates.items() if name in record["rows"][0]}
    rows = [(row["kind"], *(_with_ratio(row, name) for name in shown.values())) for row in record["rows"]]
    measured = _recorded("Workers", record, ("workers", *(f"{head} per second" for head in shown)), rows)
    names = ("games_a_second", "games_sent", "decisions_a_second", "decisions_sent")
    rows = [
        (f"{row['cores']:,}", *(_short(row[name] / (1e6 if "sent" in name else 1)) for name in names))
        for row in record["expected"]
    ]
    head = (
        "cores",
        "games per second",
        "MB per second sent for games",
        "decisions trained per second",
        "MB per second sent for decisions",
    )
    game = record["driver"]
    cores = 1e6 * game["core_seconds_a_game"] / game["us_a_game"]
    fed = SCALING.format(us=game["us_a_game"], cores=cores, load=record["machine"]["load"])
    return f"{measured}{_ray_and_processes(record['rows'], shown)}{fed}\n{_rows(head, rows)}"


def _ray_and_processes(rows: Sequence[dict[str, Any]], shown: Mapping[str, str]) -> str:
    """Return lines that compare Ray workers with the same number of local processes."""
    compared = [
        (row["kind"], *(_with_interval(row["of_processes"][name]) for name in shown.values()))
        for row in rows
        if "of_processes" in row
    ]
    head = ("workers", *(f"ratio of {rate} per second" for rate in shown))
    return f"{RAY}\n{_rows(head, compared)}" if compared else ""


def _with_ratio(row: dict[str, Any], name: str) -> str:
    """Return a rate as text, and in brackets its ratio to the rate of one worker of the same kind."""
    ratio = row.get(f"{name}_ratio")
    return _short(row[name]) + (f" (× {ratio:.2f})" if ratio else "")


def _with_interval(row: dict[str, float]) -> str:
    return f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


RAY = """
The next table shows the speed of Ray workers divided by the speed of the same number of local processes:
medians over alternating windows of time, with 95 % confidence intervals.
"""

SCALING = """
The games are tournament games of six copies of `beam`. The decisions are from self-play with one actor for
each worker: *decisions played* without learning, *decisions trained* with a learner on one core. The rates
are medians over windows of wall time, and a factor after × is the median ratio to one worker of the same
kind. If there are as many workers as cores, the learner and the *driver* (the main process) share a core with
a worker. The load average of the machine at the start was {load:g}.

The estimates in the next table are computed from CPU time. A game takes {us:.0f} µs of CPU time in the
driver, so one driver can keep {cores:,.0f} cores busy. With two or more cores, the learner uses one of the
cores.
"""


def _short(number: float) -> str:
    """Return a number with at most three significant digits and one decimal place."""
    return f"{float(f'{number:.3g}'):,.{0 if number >= 100 else 1}f}"


def _recorded(title: str, record: dict[str, Any], head: Sequence[str], rows: Sequence[Row]) -> str:
    return f"{_table(title, head, rows)}\n{_made_by(record)}\n"


def _made_by(record: dict[str, Any]) -> str:
    """Return the command, the date, the machine and the versions of a record, and a link to the record."""
    where, versions = (
        record["machine"],
        ", ".join(f"{name} {number}" for name, number in record["versions"].items()),
    )
    facts = (
        f"`{record['command']}`, {record['date']}, {where['processor']}, {where['cores']} cores; {versions}."
    )
    return f"{facts} [Record](../benchmarks/results/{record['file']}.md)."


# -------------------------------------------------------------------------------------------------- baselines


def baselines() -> str:
    """Return the page about baselines with the newest table. The rest of the page is not generated."""
    record = latest("baselines")
    head, rows = cells(record)
    hours = f"The training of all runs took {record['cpu_hours']:.1f} hours of CPU time."
    table = f"{_rows(head, rows)}\n{hours} {_made_by(record)}\n"
    text = (FOLDER / "baselines.md").read_text(encoding="utf-8")
    return re.sub(f"(?<={BEGIN}\n).*?(?={END})", lambda _: f"\n{table}\n", text, flags=re.DOTALL)


# ------------------------------------------------------------------------------------------------ leaderboard

LEADERBOARD = """<p>The first rows are the shipped agents. In a clone, <code>python -m benchmarks.leaderboard
FOLDER --check</code> plays the games of these rows twice, and compares the results.
Date: {date}. Machine: {processor}, {cores} cores, system load average {load} at the start.</p>
<p><a href="benchmark/">About the tracks and the score</a></p>"""


def leaderboard() -> str:
    """Return the leaderboard of the shipped agents, as HTML. `docs/site.py` writes the replays."""
    record = latest(shipped_agents.NAME)
    facts = {"date": record["date"], **record["machine"]}
    introduction = LEADERBOARD.format(**{name: for_html(str(fact)) for name, fact in facts.items()})
    return page_of(shipped_agents.entries(record, REPLAYS), introduction)


# --------------------------------------------------------------------------------------------------- citation


def citation() -> str:
    """Return CITATION.cff with the package's version. The rest of the file is not generated."""
    text = (FOLDER.parent / "CITATION.cff").read_text(encoding="utf-8")
    return re.sub("^version: .*$", f"version: {__version__}", text, flags=re.MULTILINE)


# --------------------------------------------------------------------------------------------------- Markdown


def _table(title: str, head: Sequence[str], rows: Sequence[Row]) -> str:
    return f"## {title}\n\n{_rows(head, rows)}"


def _rows(head: Sequence[str], rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([*lines, ""])


PAGES: dict[str, Callable[[], str]] = {
    "observation.md": observation,
    "commands.md": commands,
    "benchmarks.md": benchmarks,
    "speed.md": lambda: instructions_report.page(recorded()),
    "pictures/speed.svg": lambda: instructions_report.picture(recorded()),
    "baselines.md": baselines,
    "leaderboard.html": leaderboard,
    "../CITATION.cff": citation,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
        print(f"{(FOLDER / name).resolve().relative_to(FOLDER.parent.resolve())} written")

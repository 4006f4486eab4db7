"""Progress bar on standard error; in a file or a pipe, occasional lines replace the bar."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from risk_env.text.escape import for_terminal

SILENCE = 30.0  # minimum time between two lines in a file or a pipe, in seconds

Show = Callable[[int, str], None]  # takes the number of finished items, and a note; "" keeps the last note


@contextmanager
def progress_bar(what: str, total: int, console: Console) -> Iterator[Show]:
    """Show the progress of `total` items, and yield a function that updates the display (`Show`).

    `what` is the name of the items, such as "games".
    """
    columns = (
        TextColumn(what, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=console, disable=console.quiet) as bar:
        task = bar.add_task(what, total=total, note="")
        told, last = time.monotonic(), ""

        def show(done: int, note: str) -> None:
            nonlocal told, last
            last = for_terminal(note) or last
            bar.update(task, completed=done, note=last)
            if not console.is_terminal and time.monotonic() - told > SILENCE:  # a file or a pipe has no bar
                told = time.monotonic()
                console.print(f"{done:,} of {total:,} {what} {last}", markup=False, highlight=False)

        yield show


@contextmanager
def games_bar(total: int, console: Console) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of games; yield a function that takes the numbers of finished games and forfeits."""
    with progress_bar("games", total, console) as show:
        yield lambda games, forfeits: show(games, f"{forfeits} forfeited" if forfeits else "")

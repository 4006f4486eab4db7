"""A progress bar on standard error; into a file or a pipe, a line now and then."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from risk_env.text.escape import for_terminal

SILENCE = 30.0  # seconds after which a file or a pipe hears how far it is

Show = Callable[[int, str], None]  # how many are done, and a note; the last one stays where it is empty


@contextmanager
def progress_bar(what: str, total: int, console: Console) -> Iterator[Show]:
    """Show how many of `total` (games, decisions) are done; yields the function that is to be called with it."""
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
            if not console.is_terminal and time.monotonic() - told > SILENCE:  # a bar shows its end only there
                told = time.monotonic()
                console.print(f"{done:,} of {total:,} {what} {last}", markup=False, highlight=False)

        yield show

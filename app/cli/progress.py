"""Progress bars with an estimate, on stderr and only on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Show = Callable[[int, int, str], None]
"""``show(done, total, remark)``: update the bar; the remark follows the counts."""


@contextmanager
def progress(label: str, unit: str) -> Iterator[Show]:
    """Show a bar labelled *label*, counted in *unit*, until the work is done."""
    console = Console(stderr=True)
    remark_column = TextColumn(f"{unit}{{task.fields[remark]}}")
    columns = TextColumn(label), BarColumn(), MofNCompleteColumn(), remark_column, TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=None, remark="")

        def show(done: int, total: int, remark: str = "") -> None:
            bar.update(task, completed=done, total=total, remark=remark)

        yield show

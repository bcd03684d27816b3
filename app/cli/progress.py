"""Bars with an estimate for what takes longer than a moment: on stderr, and on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Show = Callable[[int, int, str], None]
"""``show(done, total, remark)``: how many of how many, and what else there is to say."""


@contextmanager
def progress(doing: str, unit: str) -> Iterator[Show]:
    """A bar for *doing*, counted in *unit*, with the time that is left; it goes when the work is done."""
    console = Console(stderr=True)
    columns = (
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit}{{task.fields[remark]}}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(doing, total=None, remark="")

        def show(done: int, total: int, remark: str = "") -> None:
            bar.update(task, completed=done, total=total, remark=remark)

        yield show

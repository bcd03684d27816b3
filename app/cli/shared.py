"""What several commands need: the open service, JSON output, progress bars, and errors with advice."""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import orjson
import typer
from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from app.ops.advice import ADVICE
from app.settings import Settings, load_settings
from graph.errors import InvalidInput

if TYPE_CHECKING:
    from app.bootstrap.storage import Storage

S = TypeVar("S", bound="Storage")
T = TypeVar("T")
OK, FAILED, USAGE = 0, 1, 2
"""Exit statuses: done; a part failed or nothing was found; a wrong argument, setting or input."""
CollectionOption = Annotated[str | None, typer.Option(help="collection to use [VECTOR_STORE_COLLECTION]")]
NamedCollection = Annotated[str | None, typer.Option("--collection", help="search this one [VECTOR_STORE_COLLECTION]")]
SourceOption = Annotated[
    list[str] | None, typer.Option("--source", help="search this document alone: an id or name, or a beginning and *")
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option("--filter", help="search only what has this metadata: FIELD=VALUE, or FIELD>=DAY and FIELD<=DAY"),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="print JSON")]
Show = Callable[..., None]
"""``show(done, total, remark)``: update the bar; the total may be known from the start, the remark follows it."""


def run_opened(open_parts: Callable[[Settings], S], work: Callable[[S], Awaitable[T]], **overrides: Any) -> T:
    """Run *work* on what *open_parts* opens with the settings and those *overrides* that are not None.

    ``open_storage`` opens the collections alone: no graph, reader or chat model is loaded.
    """

    async def opened() -> T:
        async with aclosing(open_parts(load_settings(**overrides))) as parts:
            return await work(parts)

    return asyncio.run(opened())


def filters_of(options: Sequence[str] | None) -> dict[str, Any] | None:
    """Parse ``--filter`` options; values of one field given several times are alternatives, bounds are joined.

    A value that reads as a number, ``true`` or ``false`` stands for that and for the text. Raises ``InvalidInput``.
    """
    filters: dict[str, Any] = {}
    for option in options or ():
        parsed = re.fullmatch(r"([^=<>]+)(=|>=|<=)(.*)", option)
        if not parsed:
            raise InvalidInput(f"--filter {option!r} is not FIELD=VALUE, FIELD>=DAY or FIELD<=DAY.", "filters")
        field, sign, value = parsed.groups()
        known = filters.setdefault(field, [] if sign == "=" else {})
        if isinstance(known, list) != (sign == "="):
            raise InvalidInput(f"--filter names {field} with a value and with a range.", "filters")
        if sign == "=":
            known.append(value)
            with suppress(orjson.JSONDecodeError):
                if isinstance(other := orjson.loads(value), int | float):
                    known.append(other)
        else:
            known["gte" if sign == ">=" else "lte"] = value
    return filters or None


@contextmanager
def progress(label: str, unit: str, total: int | None = None) -> Iterator[Show]:
    """Show a bar on stderr, only on a terminal, labelled *label* and counted in *unit*."""
    console = Console(stderr=True)
    remark_column = TextColumn(f"{unit}{{task.fields[remark]}}")
    columns = TextColumn(label), BarColumn(), MofNCompleteColumn(), remark_column, TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=total, remark="")
        yield lambda done, total=total, remark="": bar.update(task, completed=done, total=total, remark=remark)


def print_json(content: dict[str, Any] | BaseModel) -> None:
    """Print *content* on stdout as indented JSON."""
    fields = content.model_dump(mode="json") if isinstance(content, BaseModel) else content
    sys.stdout.buffer.write(orjson.dumps(fields, option=orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()


def print_note(text: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


def print_error(message: str, error_type: str, cause_text: str | None = None) -> None:
    """Print one line on stderr, with what a provider said and advice; red on a terminal unless ``NO_COLOR`` is set."""
    said = f"{message} [{cause_text}]" if cause_text else message
    Console(stderr=True, soft_wrap=True).print(Text(f"garden: {advised(said, error_type)}", style="red"))


def advised(message: str, error_type: str) -> str:
    """Return *message* followed by what to do about an error of that class of ``graph.errors``."""
    if error_type in ("ConfigurationError", "InvalidInput"):  # their messages say what is allowed
        return message
    advice = ADVICE.get(error_type, "see which part is down: garden health")
    return f"{message} {advice[:1].upper()}{advice[1:]}."

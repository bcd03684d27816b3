"""``garden ingest``: store documents, with a progress bar and a summary."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from app.bootstrap.storage import Storage, open_storage
from app.cli.shared import FAILED, OK, CollectionOption, JsonFlag, print_json, print_note, progress, run_opened
from app.ingest.documents import IngestReport, Progress
from app.ingest.find import SAMPLE_FOLDER, other_types, sample_paths
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import Item, ingest_into, ingest_items
from app.ingest.tasks import read_tasks, task_document
from app.ingest.web import WebLimits, ingest_web
from graph.errors import InvalidInput

SAMPLE_TASKS = "tasks.jsonl"
MAX_ROWS, FILE_COLUMNS = 100, 200
"""Longest table of a summary, and its width in a file."""


def run_ingest(
    paths: Annotated[list[str], typer.Argument(help="files and folders, or web addresses: a page, a sitemap (.xml)")],
    collection: CollectionOption = None,
    prune: Annotated[
        bool, typer.Option(help="remove documents that came from these paths and are no longer there")
    ] = False,
    restore: Annotated[
        bool, typer.Option("--restore", help="bring back documents of these paths that were deleted by hand")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="go on: ingest what changes, remove what is gone")] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="the paths are JSON Lines files of tasks")] = False,
    max_pages: Annotated[int, typer.Option(help="most pages of a web address", min=1)] = 1000,
    max_seconds: Annotated[float, typer.Option(help="most seconds spent on fetching a web address", min=1)] = 600,
    allow_private: Annotated[bool, typer.Option("--allow-private", help="fetch from private addresses too")] = False,
    as_json: JsonFlag = False,
) -> int:
    """Store documents: Markdown, text, HTML, PDF, Office, OpenDocument, RTF, CSV, JSON, XML, EPUB, e-mail, code.

    A web address stands for its page, a sitemap for its pages: HTML, text, Markdown and PDF of one host.
    """
    addresses = [path for path in paths if "://" in path]
    if others := [address for address in addresses if not address.lower().startswith(("http://", "https://"))]:
        raise InvalidInput(f"{others[0]} cannot be ingested: only http:// and https:// addresses can.", field="paths")
    if addresses and (tasks or len(addresses) < len(paths)):
        raise InvalidInput("Ingest web addresses alone, without paths and --tasks.", field="paths")
    files = [Path(path) for path in paths]
    if watch and (addresses or tasks):
        raise InvalidInput("Only files and folders can be watched.", field="paths")
    if watch:
        show = (lambda report: typer.echo(report.model_dump_json())) if as_json else _print_summary
        return run_opened(open_storage, partial(_watch, files, show), vector_store_collection=collection)
    if tasks:
        report = run_opened(open_storage, partial(_ingest_tasks, files, prune), tasks_collection=collection)
    else:
        limits = WebLimits(max_pages, max_seconds, allow_private) if addresses else None
        work = partial(_ingest_paths, addresses or files, prune, limits=limits, restore=restore)
        report = run_opened(open_storage, work, vector_store_collection=collection)
    (print_json if as_json else _print_summary)(report)
    done = report.added or report.changed or report.unchanged or report.deleted or not report.skipped
    return OK if done else FAILED


async def _ingest_paths(
    paths: Sequence[Any], prune: bool, storage: Storage, *, limits: WebLimits | None = None, restore: bool = False
) -> IngestReport:
    """Ingest files and folders, or with *limits* web addresses."""
    manifest = IngestManifest(storage.collections.default.folder, paths, prune=prune, restore=restore)
    with file_progress() as on_progress:
        if limits:
            return await ingest_web(storage.writer, paths, limits, manifest, on_progress)
        report = await ingest_into(storage.writer, paths, manifest=manifest, on_progress=on_progress)
        await asyncio.to_thread(manifest.synced)
    return report.model_copy(update={"unread": await asyncio.to_thread(other_types, paths)})


async def _watch(paths: Sequence[Path], show: Callable[[IngestReport], None], storage: Storage) -> int:
    """Keep the collection in step with *paths* until SIGINT or SIGTERM."""
    from app.ingest.watch import Watcher

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    print_note(f"watching {', '.join(map(str, paths))}; Ctrl+C ends it")
    await Watcher(storage.writer, storage.collections.default.folder, paths, show).run(stop)
    return OK


async def _ingest_tasks(paths: Sequence[Path], prune: bool, storage: Storage) -> IngestReport:
    """Read every file before any task is stored, so that a wrong line stores nothing."""
    tasks: list[Item] = [(path, task_document(task)) for path in paths for task in read_tasks(path)]
    settings = storage.settings
    manifest = IngestManifest(settings.data_dir / settings.tasks_collection, paths, prune=prune)
    with progress("ingesting", "tasks", len(tasks)) as show:
        return await ingest_items(
            storage.task_writer, tasks, len(tasks), manifest=manifest, on_progress=lambda done: show(done.documents)
        )


async def ingest_samples_if_empty(storage: Storage) -> None:
    """Ingest the sample documents and tasks, each only into a collection that is empty."""
    if not await storage.task_writer.store.acount():
        await _ingest_tasks([SAMPLE_FOLDER / SAMPLE_TASKS], False, storage)
    if not await storage.store.acount():
        _print_summary(await _ingest_paths(await asyncio.to_thread(sample_paths), False, storage))


@contextmanager
def file_progress(label: str = "ingesting") -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar of files, with the chunks written so far."""
    with progress(label, "files") as show:
        yield lambda done: show(done.files_read, done.files, f", {done.chunks} chunks")


def _print_summary(report: IngestReport) -> None:
    """Print the counts, then a table of what was skipped, what was left out, and which files no loader reads."""
    width = None if sys.stderr.isatty() else FILE_COLUMNS
    console = Console(stderr=True, highlight=False, soft_wrap=True, width=width)
    console.print(
        f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged, {report.removed} removed; "
        f"{report.chunks} {'chunk' if report.chunks == 1 else 'chunks'} written in {report.seconds:.1f} s"
    )
    rows = [("skipped", file.path, file.reason) for file in report.skipped]
    rows += [("left out", file.path, file.note) for file in report.notes]
    rows += [("not read", f"{kind.example} ({kind.files} {kind.suffix})", kind.reason) for kind in report.unread]
    table = Table("", "file", "why", box=None, pad_edge=False, header_style="dim")
    for what, path, why in rows[:MAX_ROWS]:
        table.add_row(what, Text(path, "bold", overflow="fold"), Text(why, overflow="fold"))
    if rows:
        console.print(table)
    if len(rows) > MAX_ROWS:
        console.print(f"{len(rows) - MAX_ROWS} more; --json lists all")
    if report.note:
        console.print(escape(report.note))

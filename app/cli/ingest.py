"""``garden ingest``: store documents, with a progress bar and a summary."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from app.cli.shared import FAILED, OK, CollectionOption, JsonFlag, open_container, print_json, progress
from app.ingest.documents import IngestReport
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import Found, Progress, ingest_found, ingest_into
from app.ingest.samples import sample_folder, sample_paths
from app.ingest.tasks import read_tasks, task_document
from app.ingest.web import WebLimits, ingest_web
from app.settings import Settings, load_settings
from graph.errors import InvalidInput

if TYPE_CHECKING:
    from app.bootstrap.compose import AppContainer

SAMPLE_TASKS = "tasks.jsonl"
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""How a web address begins, whatever its scheme (RFC 3986)."""


def run_ingest(
    paths: Annotated[list[str], typer.Argument(help="files and folders, or web addresses: a page, a sitemap (.xml)")],
    collection: CollectionOption = None,
    prune: Annotated[
        bool, typer.Option(help="remove documents that came from these paths and are no longer there")
    ] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="the paths are JSON Lines files of tasks")] = False,
    max_pages: Annotated[int, typer.Option(help="most pages of a web address", min=1)] = 1000,
    max_seconds: Annotated[float, typer.Option(help="most seconds spent on fetching a web address", min=1)] = 600,
    allow_private: Annotated[bool, typer.Option("--allow-private", help="fetch from private addresses too")] = False,
    as_json: JsonFlag = False,
) -> int:
    """Store documents: Markdown, text, reStructuredText, HTML, PDF, Office files, CSV, EPUB, e-mail, JSON Lines.

    A web address stands for its page, a sitemap for its pages: HTML, text, Markdown and PDF of one host.
    """
    addresses = [one for one in paths if ADDRESS.match(one)]
    if others := [one for one in addresses if not one.lower().startswith(("http://", "https://"))]:
        raise InvalidInput(f"{others[0]} cannot be ingested: only http:// and https:// addresses can.", field="paths")
    if addresses and (tasks or len(addresses) < len(paths)):
        raise InvalidInput("Ingest web addresses alone, without paths and --tasks.", field="paths")
    name = "tasks_collection" if tasks else "vector_store_collection"
    settings = load_settings(**({name: collection} if collection else {}))
    files = [Path(one) for one in paths]
    manifest = IngestManifest(_folder(settings, tasks=tasks), addresses or files, prune=prune)
    if tasks:
        report = asyncio.run(_ingest_tasks(settings, files, manifest))
    else:
        limits = WebLimits(max_pages, max_seconds, allow_private)
        report = asyncio.run(_ingest(settings, addresses, files, manifest, limits))
    (print_json if as_json else _print_summary)(report)
    return OK if report.added or report.changed or report.unchanged or not report.skipped else FAILED


async def _ingest(
    settings: Settings, addresses: Sequence[str], paths: Sequence[Path], manifest: IngestManifest, limits: WebLimits
) -> IngestReport:
    """Ingest *addresses*, or else *paths*."""
    with file_progress() as on_progress:
        async with open_container(settings) as container:
            sink = container.sink
            if addresses:
                return await ingest_web(sink, addresses, limits, manifest=manifest, on_progress=on_progress)
            return await ingest_into(sink, paths, manifest=manifest, on_progress=on_progress)


async def _ingest_tasks(settings: Settings, paths: Sequence[Path], manifest: IngestManifest) -> IngestReport:
    """Read every file before any task is stored, so that a wrong line stores nothing."""
    found: list[Found] = [(path, task_document(task)) for path in paths for task in read_tasks(path)]
    with progress("ingesting", "tasks", len(found)) as show:
        async with open_container(settings) as container:
            sink = container.tasks.sink
            return await ingest_found(
                sink, found, len(found), manifest=manifest, on_progress=lambda done: show(done.documents)
            )


async def ingest_samples_if_empty(container: AppContainer, folder: Path | None = None) -> None:
    """Ingest the sample documents and tasks, each only into a collection that is empty."""
    folder = folder or sample_folder()
    if not await container.tasks.store.acount():
        path = folder / SAMPLE_TASKS
        manifest = IngestManifest(_folder(container.settings, tasks=True), [path])
        found = [(path, task_document(task)) for task in read_tasks(path)]
        await ingest_found(container.tasks.sink, found, len(found), manifest=manifest)
    if not await container.store.acount():
        paths = await asyncio.to_thread(sample_paths, folder)
        manifest = IngestManifest(_folder(container.settings, tasks=False), paths)
        with file_progress() as on_progress:
            _print_summary(await ingest_into(container.sink, paths, manifest=manifest, on_progress=on_progress))


def _folder(settings: Settings, *, tasks: bool) -> Path:
    """Return the folder with the records about a collection."""
    return settings.data_dir / (settings.tasks_collection if tasks else settings.vector_store_collection)


@contextmanager
def file_progress(label: str = "ingesting") -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar of files, with the chunks written so far."""
    with progress(label, "files") as show:
        yield lambda done: show(done.files_read, done.files, f", {done.chunks} chunks")


def _print_summary(report: IngestReport) -> None:
    out = Console(stderr=True, highlight=False, soft_wrap=True)
    out.print(
        f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged, {report.removed} removed; "
        f"{report.chunks} {'chunk' if report.chunks == 1 else 'chunks'} written in {report.seconds:.1f} s"
    )
    for skipped in report.skipped:
        out.print(f"  skipped [bold]{escape(skipped.path)}[/bold]: {escape(skipped.reason)}")
    if report.note:
        out.print(escape(report.note))

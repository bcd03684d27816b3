"""``garden ingest``: store documents, with a progress bar and a summary."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from rich.console import Console
from rich.markup import escape

from app.cli.progress import progress
from app.ingest.documents import IngestReport
from app.ingest.manifest import IngestManifest, note_sources
from app.ingest.pipeline import check_paths, ingest_documents, ingest_into
from app.ingest.run import Progress as Done
from app.ingest.samples import sample_paths
from app.ingest.sink import Sink
from app.ingest.tasks import read_tasks, task_documents
from app.settings import Settings, load_settings

if TYPE_CHECKING:
    from app.bootstrap.compose import AppContainer

OK, FAILED = 0, 1
SAMPLE_TASKS = "tasks.jsonl"


def run_ingest(paths: Sequence[Path], *, collection: str | None, prune: bool, tasks: bool, as_json: bool) -> int:
    """Ingest *paths*; returns 0 when at least one document is stored now or nothing had to be done."""
    name = "tasks_collection" if tasks else "vector_store_collection"
    settings = load_settings(**({name: collection} if collection else {}))
    report = asyncio.run(_plant_tasks(settings, paths, prune) if tasks else _plant(settings, paths, prune))
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(report.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        _summarise(report)
    kept = report.added + report.changed + report.unchanged
    return FAILED if report.skipped and not kept else OK


async def plant_if_empty(container: AppContainer, folder: Path) -> None:
    """Plant the sample documents of *folder*, and its tasks, each unless its collection already holds anything."""
    if not await container.tasks.store.acount():
        _note(container.settings, [folder / SAMPLE_TASKS], tasks=True)
        await ingest_documents(container.tasks.sink, task_documents(read_tasks(folder / SAMPLE_TASKS)))
    if await container.store.acount():
        return
    paths = await asyncio.to_thread(sample_paths, folder)
    _note(container.settings, paths)
    with planting() as on_progress:
        report = await ingest_into(container.sink, paths, on_progress=on_progress)
    _summarise(report)


async def _plant(settings: Settings, paths: Sequence[Path], prune: bool) -> IngestReport:
    await asyncio.to_thread(check_paths, paths)  # before they are noted
    with planting() as on_progress:
        async with _open_sink(settings, tasks=False) as sink:
            _note(settings, paths)
            manifest = IngestManifest(_folder(settings), paths, prune=prune)
            return await ingest_into(sink, paths, manifest=manifest, on_progress=on_progress)


async def _plant_tasks(settings: Settings, paths: Sequence[Path], prune: bool) -> IngestReport:
    """All files are read before any task is stored: a line that is wrong stops the whole."""
    manifest = IngestManifest(_folder(settings, tasks=True), paths, prune=prune)
    documents = []
    for path in paths:
        for document in task_documents(read_tasks(path)):
            manifest.brings(document.document_id, path)
            documents.append(document)
    with progress("planting", "tasks") as show:
        async with _open_sink(settings, tasks=True) as sink:
            _note(settings, paths, tasks=True)
            return await ingest_documents(
                sink, documents, manifest=manifest, on_progress=lambda done: show(done.documents, len(documents), "")
            )


def _note(settings: Settings, paths: Sequence[Path], *, tasks: bool = False) -> None:
    """Keep where the documents of an embedded collection came from; a server keeps its own backups."""
    if settings.vector_store == "embedded":
        note_sources(_folder(settings, tasks=tasks), paths)


def _folder(settings: Settings, *, tasks: bool = False) -> Path:
    """Where notes about a collection are kept."""
    return settings.data_dir / (settings.tasks_collection if tasks else settings.vector_store_collection)


@asynccontextmanager
async def _open_sink(settings: Settings, *, tasks: bool) -> AsyncIterator[Sink]:
    """The collection of documents, or of tasks; closed at the end."""
    from app.bootstrap.compose import build_container

    container = build_container(settings)
    try:
        yield container.tasks.sink if tasks else container.sink
    finally:
        await container.aclose()


@contextmanager
def planting(doing: str = "planting") -> Iterator[Callable[[Done], None]]:
    """A bar of the files, with the chunks written so far."""
    with progress(doing, "files") as show:
        yield lambda done: show(done.files_read, done.files, f", {done.chunks} chunks")


def _summarise(report: IngestReport) -> None:
    out = Console(stderr=True, highlight=False, soft_wrap=True)
    out.print(
        f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged, {report.removed} removed; "
        f"{report.chunks} {'chunk' if report.chunks == 1 else 'chunks'} written in {report.seconds:.1f} s"
    )
    for skipped in report.skipped:
        out.print(f"  skipped [bold]{escape(skipped.path)}[/bold]: {escape(skipped.reason)}")
    if report.note:
        out.print(escape(report.note))

"""``garden rebuild``: set a damaged embedded collection aside, and make it anew from its documents."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import orjson
from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape

from app.bootstrap import Garden, build_garden
from app.ingest.documents import SkippedFile
from app.ingest.pipeline import ingest_documents, ingest_into
from app.ingest.salvage import salvage
from app.ingest.sink import LocalSink
from app.ingest.sources import read_sources
from app.ingest.tasks import read_tasks, task_documents
from app.plant import planting
from app.providers.edge_folder import EdgeFolder
from app.providers.embeddings import EmbeddingModel
from app.providers.holder import CollectionLock
from app.settings import load_settings
from graph.errors import ConfigurationError

DONE_FILE = "rebuilt"
"""In a folder set aside: what was in it is in the collection again, or has been told of."""


class RebuildReport(BaseModel):
    """What a rebuild did: where the old files are now, and how each document came back, or did not."""

    collection: str
    set_aside: str | None
    documents: int = 0
    chunks: int = 0
    recovered: list[str] = []
    not_recovered: list[str] = []
    missing_paths: list[str] = []
    skipped: list[SkippedFile] = []


def run_rebuild(*, collection: str | None, as_json: bool, embedding: EmbeddingModel | None = None) -> int:
    """Rebuild *collection* (default: the documents'). Returns 1 when something is known not to have come back."""
    settings = load_settings()
    if settings.vector_store != "embedded":
        raise ConfigurationError("garden rebuild mends embedded collections; a server has snapshots of its own")
    name = collection or settings.vector_store_collection
    tasks = name == settings.tasks_collection
    if not tasks:
        settings = load_settings(vector_store_collection=name)
    folder = EdgeFolder(settings.data_dir / name)
    if not folder.path.is_dir():
        raise ConfigurationError(f'There is no collection "{name}" in {settings.data_dir}')
    lock = CollectionLock(folder.path)
    lock.acquire()
    try:
        aside = folder.set_aside()
    finally:
        lock.release()
    report = RebuildReport(collection=name, set_aside=str(aside) if aside else None)
    asyncio.run(_refill(build_garden(settings, embedding=embedding), folder, report, tasks=tasks))
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(report.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        _summarise(report)
    return 1 if report.missing_paths or report.not_recovered or report.skipped else 0


async def _refill(garden: Garden, folder: EdgeFolder, report: RebuildReport, *, tasks: bool) -> None:
    """From the noted sources first; then what only the old files hold, as far as they can be read."""
    try:
        store = garden.tasks.store if tasks else garden.store
        sink = garden.tasks.sink if tasks else LocalSink(store, garden.embedding.embeddings, garden.embedding.name)
        noted = read_sources(folder.path)
        there = _there(noted.tasks if tasks else noted.paths, report)
        if tasks:
            # of a task that stands in several files the last one counts, as when they were planted one after the other
            last = {task.id: task for path in there for task in read_tasks(path)}
            done = await ingest_documents(sink, task_documents(last.values()))
        else:
            with planting("rebuilding") as on_progress:
                done = await ingest_into(sink, there, on_progress=on_progress)
        report.skipped = list(done.skipped)
        old = [path for path in folder.set_asides() if not (path / DONE_FILE).exists()]
        shards = [shard for path in old for shard in sorted(path.glob("shard-*"))]
        known = await store.adocuments()
        whole, report.not_recovered = await asyncio.to_thread(salvage, shards, garden.embedding.name, known)
        await ingest_documents(sink, whole)
        report.recovered = [document.document_id for document in whole]
        report.documents, report.chunks = len(await store.adocuments()), await store.acount()
        for path in old:
            (path / DONE_FILE).touch()
    finally:
        await garden.aclose()


def _there(paths: tuple[Path, ...], report: RebuildReport) -> list[Path]:
    report.missing_paths = [str(path) for path in paths if not path.exists()]
    return [path for path in paths if path.exists()]


def _summarise(report: RebuildReport) -> None:
    out = Console(stderr=True, highlight=False, soft_wrap=True)
    out.print(f'"{escape(report.collection)}" rebuilt: {report.documents} documents, {report.chunks} chunks')
    if report.set_aside:
        out.print(f"  the old files are kept in {escape(report.set_aside)}")
    if report.recovered:
        out.print(f"  {len(report.recovered)} of the documents were read from the old files: they have no path")
    for path in report.missing_paths:
        out.print(f"  [bold]{escape(path)}[/bold] was planted once and is not there now")
    for document_id in report.not_recovered:
        out.print(f"  not recovered: [bold]{escape(document_id)}[/bold], of which the old files hold no whole copy")
    for skipped in report.skipped:
        out.print(f"  skipped [bold]{escape(skipped.path)}[/bold]: {escape(skipped.reason)}")

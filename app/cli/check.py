"""``garden check``: is an embedded collection as it was written? With ``--repair`` it is made so again."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import numpy as np
import orjson
from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape

from app.bootstrap.compose import AppContainer, build_container
from app.cli.ingest import planting
from app.ingest.documents import SkippedFile
from app.ingest.manifest import read_sources
from app.ingest.pipeline import ingest_documents, ingest_into
from app.ingest.salvage import salvage
from app.ingest.tasks import read_tasks, task_documents
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.database import Database
from app.providers.stores.rows import COLUMNS, checksum
from app.providers.stores.segments import Segment
from app.settings import load_settings
from graph.errors import ConfigurationError, StoreDamaged


class CheckReport(BaseModel):
    """What was found, and what a repair did: how each document came back, or did not."""

    collection: str
    documents: int = 0
    chunks: int = 0
    database: str = "ok"
    damaged_documents: list[str] = []
    damaged_segments: list[str] = []
    repaired: bool = False
    set_aside: str | None = None
    recovered: list[str] = []
    not_recovered: list[str] = []
    missing_paths: list[str] = []
    skipped: list[SkippedFile] = []

    @property
    def well(self) -> bool:
        """Nothing is damaged, or everything came back."""
        left = self.not_recovered or self.missing_paths or self.skipped
        found = self.database != "ok" or self.damaged_documents or self.damaged_segments
        return not left if self.repaired else not found


def run_check(*, collection: str | None, repair: bool, as_json: bool, embedding: EmbeddingModel | None = None) -> int:
    """Check *collection* (default: the documents'). Returns 1 when something is damaged, or has not come back."""
    settings = load_settings()
    if settings.vector_store != "embedded":
        raise ConfigurationError("garden check looks at embedded collections; a server has checks of its own")
    name = collection or settings.vector_store_collection
    if not (settings.data_dir / name).is_dir():
        raise ConfigurationError(f'There is no collection "{name}" in {settings.data_dir}')
    report = CheckReport(collection=name)
    database = Database(settings.data_dir, name, settings.request_timeout_seconds)
    try:
        check(database, report)
        if repair and not report.well:
            report.repaired = True
            if report.database != "ok":
                report.set_aside = str(database.set_aside())
            for segment in report.damaged_segments:
                shutil.rmtree(database.folder / segment, ignore_errors=True)
            tasks = name == settings.tasks_collection
            if not tasks:
                settings = load_settings(vector_store_collection=name)
            asyncio.run(_refill(build_container(settings, embedding=embedding), database, report, tasks=tasks))
    finally:
        database.close()
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(report.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        _summarise(report)
    return 0 if report.well else 1


def check(database: Database, report: CheckReport) -> None:
    """Look at SQLite's own structures, at every chunk's checksum, and at every segment beside what it is made of."""
    try:
        with database.reading() as connection:
            if connection is None:
                return
            (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if said != "ok":
                report.database = said
                return
            damaged = set()
            for document, *row in connection.execute(f"SELECT document_id, {COLUMNS} FROM chunks"):
                report.chunks += 1
                if checksum(row[3:]) != row[2]:
                    damaged.add(document)
            report.damaged_documents = sorted(damaged)
            (report.documents,) = connection.execute("SELECT count(DISTINCT document_id) FROM chunks").fetchone()
            size = connection.execute("SELECT value FROM meta WHERE name = 'size'").fetchone()[0]
            for name, low, high in connection.execute("SELECT name, low, high FROM segments").fetchall():
                if not _is_of(database.folder / name, Segment.read(connection, size, low, high)):
                    report.damaged_segments.append(name)
    except StoreDamaged as error:
        report.database = error.message


def _is_of(folder: Path, stored: Segment) -> bool:
    """Whether a saved segment holds every one of these chunks with its vector."""
    try:
        saved = Segment.open(folder)
    except (OSError, ValueError, EOFError):
        return False
    at = np.flatnonzero(np.isin(saved.ids, stored.ids))
    return np.array_equal(saved.ids[at], stored.ids) and np.array_equal(saved.dense[at], stored.dense)


async def _refill(container: AppContainer, database: Database, report: CheckReport, *, tasks: bool) -> None:
    """From the noted sources first; then what only the old files hold, as far as they can be read."""
    try:
        sink, store = (container.tasks.sink, container.tasks.store) if tasks else (container.sink, container.store)
        await store.adelete_documents(report.damaged_documents)
        if report.set_aside or report.damaged_documents:
            paths = read_sources(database.folder)
            report.missing_paths = [str(path) for path in paths if not path.exists()]
            there = [path for path in paths if path.exists()]
            if tasks:
                # of a task that stands in several files the last one counts, as when they were ingested one by one
                last = {task.id: task for path in there for task in read_tasks(path)}
                done = await ingest_documents(sink, task_documents(last.values()))
            else:
                with planting("repairing") as on_progress:
                    done = await ingest_into(sink, there, on_progress=on_progress)
            report.skipped = list(done.skipped)
        known = await store.adocuments()
        report.not_recovered = [one for one in report.damaged_documents if one not in known]
        if report.set_aside:
            old = Path(report.set_aside) / database.path.name
            whole, report.not_recovered = await asyncio.to_thread(salvage, old, container.embedding.name, known)
            await ingest_documents(sink, whole)
            report.recovered = [document.document_id for document in whole]
        await store.aoptimize()
        report.documents, report.chunks = len(await store.adocuments()), await store.acount()
    finally:
        await container.aclose()


def _summarise(report: CheckReport) -> None:
    out = Console(stderr=True, highlight=False, soft_wrap=True)
    state = "repaired" if report.repaired else "ok" if report.well else "damaged: garden check --repair mends it"
    out.print(f'"{escape(report.collection)}": {report.documents} documents, {report.chunks} chunks, {state}')
    if report.database != "ok":
        out.print(f"  database: {escape(report.database)}")
    for document_id in report.damaged_documents:
        out.print(f"  not as it was written: [bold]{escape(document_id)}[/bold]")
    for segment in report.damaged_segments:
        out.print(f"  index not of what is stored: {escape(segment)}")
    if report.set_aside:
        out.print(f"  the old files are kept in {escape(report.set_aside)}")
    if report.recovered:
        out.print(f"  {len(report.recovered)} of the documents were read from the old files: they have no path")
    for path in report.missing_paths:
        out.print(f"  [bold]{escape(path)}[/bold] was ingested once and is not there now")
    for document_id in report.not_recovered:
        out.print(f"  not recovered: [bold]{escape(document_id)}[/bold], of which there is no whole copy")
    for skipped in report.skipped:
        out.print(f"  skipped [bold]{escape(skipped.path)}[/bold]: {escape(skipped.reason)}")

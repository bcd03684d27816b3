"""``garden check``: find damage in an embedded collection; ``--repair`` ingests what is damaged again."""

import shutil
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from pydantic import BaseModel

from app.bootstrap.storage import Storage, open_storage
from app.cli.ingest import file_progress
from app.cli.shared import FAILED, OK, CollectionOption, JsonFlag, print_json, print_note, run_opened
from app.ingest.manifest import IngestManifest, read_sources, recorded_documents
from app.ingest.pipeline import ingest_into, ingest_items
from app.ingest.tasks import read_tasks, task_document
from app.providers.stores.database import COLUMNS, FILE, Database, checksum
from app.providers.stores.segments import Segment
from app.settings import load_settings
from graph.errors import ConfigurationError, StoreDamaged


class CheckReport(BaseModel):
    """What was found, and which documents a repair brought back."""

    collection: str
    documents: int = 0
    chunks: int = 0
    repaired: bool = False
    database: str | None = None
    """What SQLite finds wrong."""
    damaged_documents: list[str] = []
    damaged_segments: list[str] = []
    set_aside: str | None = None
    """Where the old files are kept; what had no recorded path is only there."""
    not_recovered: list[str] = []
    """Documents of which no complete copy is left."""
    missing_paths: list[str] = []
    """What was ingested earlier and no longer exists."""
    skipped: list[str] = []

    @property
    def undamaged(self) -> bool:
        """Whether nothing is damaged, or everything was recovered; False for files that were set aside."""
        if self.repaired:
            return not (self.set_aside or self.not_recovered or self.missing_paths or self.skipped)
        return not (self.database or self.damaged_documents or self.damaged_segments)


def run_check(
    collection: CollectionOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="ingest damaged documents again")] = False,
    as_json: JsonFlag = False,
) -> int:
    """Check an embedded collection for damage."""
    settings = load_settings()
    if settings.vector_store != "embedded":
        raise ConfigurationError("garden check needs VECTOR_STORE=embedded; a server has checks of its own")
    name = collection or settings.vector_store_collection
    if not (settings.data_dir / name).is_dir():
        raise ConfigurationError(f'There is no collection "{name}" in {settings.data_dir}')
    report = CheckReport(collection=name)
    with closing(Database(settings.data_dir, name, settings.request_timeout_seconds)) as database:
        _inspect(database, report)
        if repair and not report.undamaged:
            report.repaired = True
            if report.database:
                report.set_aside = str(_set_aside(database.folder))
            for segment in report.damaged_segments:
                shutil.rmtree(database.folder / segment, ignore_errors=True)
            documents = None if name == settings.tasks_collection else name
            run_opened(open_storage, partial(_repair, database, report), vector_store_collection=documents)
    (print_json if as_json else _print_summary)(report)
    return OK if report.undamaged else FAILED


def _inspect(database: Database, report: CheckReport) -> None:
    """Check SQLite's structures, the checksum of every chunk, and every index segment against its rows."""
    try:
        with database.reading() as connection:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                report.database = verdict
                return
            damaged = set()
            for document, *row in connection.execute(f"SELECT document_id, {COLUMNS} FROM chunks"):
                report.chunks += 1
                if checksum(row[3:]) != row[2]:
                    damaged.add(document)
            report.damaged_documents = sorted(damaged)
            (report.documents,) = connection.execute("SELECT count(DISTINCT document_id) FROM chunks").fetchone()
            for name, low, high, saved in connection.execute("SELECT name, low, high, checksum FROM segments"):
                if not _matches(database.folder / name, saved, Segment.read(connection, low, high)):
                    report.damaged_segments.append(name)
    except StoreDamaged as error:
        report.database = error.message


def _matches(folder: Path, saved_checksum: int, stored: Segment) -> bool:
    """Whether a saved segment holds every one of the stored chunks with its vector."""
    try:
        saved = Segment.open(folder, saved_checksum)
    except (OSError, ValueError):
        return False
    rows = np.flatnonzero(np.isin(saved.ids, stored.ids))
    return np.array_equal(saved.ids[rows], stored.ids) and np.array_equal(saved.dense[rows], stored.dense)


async def _repair(database: Database, report: CheckReport, storage: Storage) -> None:
    """Ingest damaged documents again from their recorded paths."""
    tasks = report.collection == storage.settings.tasks_collection
    writer, store = (storage.task_writer, storage.task_writer.store) if tasks else (storage.writer, storage.store)
    await store.adelete_documents(report.damaged_documents)
    if report.set_aside or report.damaged_documents:
        recorded = read_sources(database.folder)
        report.missing_paths = [str(path) for path in recorded if not path.exists()]
        paths = [path for path in recorded if path.exists()]
        if tasks:
            last = {task.id: (path, task_document(task)) for path in paths for task in read_tasks(path)}
            done = await ingest_items(writer, last.values(), len(last))  # the last file wins
        else:
            with file_progress("repairing") as on_progress:
                manifest = IngestManifest(database.folder, paths)  # what was deleted by hand stays deleted
                done = await ingest_into(writer, paths, manifest=manifest, on_progress=on_progress)
        report.skipped = [f"{file.path}: {file.reason}" for file in done.skipped]
    stored = await store.adocuments()
    lost = recorded_documents(database.folder) if report.set_aside else report.damaged_documents
    report.not_recovered = [document for document in lost if document not in stored]
    await store.aoptimize()
    report.documents, report.chunks = len(await store.adocuments()), await store.acount()


def _set_aside(folder: Path) -> Path:
    """Move a damaged database into a folder of its own; return that. The next write starts a new one."""
    aside = folder / f"damaged-{1 + len(list(folder.glob('damaged-*')))}"
    aside.mkdir()
    for path in folder.glob(f"{FILE}*"):
        path.rename(aside / path.name)
    return aside


def _print_summary(report: CheckReport) -> None:
    state = "repaired" if report.repaired else "ok" if report.undamaged else "damaged; repair it: garden check --repair"
    lines = [f'"{report.collection}": {report.documents} documents, {report.chunks} chunks, {state}']
    for name, value in report.model_dump(exclude={"collection", "documents", "chunks", "repaired"}).items():
        value = value if isinstance(value, list) else [value] if value else []
        lines += [f"{name.replace('_', ' ')}: {entry}" for entry in value]
    print_note("\n  ".join(lines))

"""Save an embedded collection's chunks as segments, the search index that processes share."""

import fcntl
import logging
import shutil
import sqlite3
import time
from contextlib import suppress

from app.providers.stores.database import Database
from app.providers.stores.segments import Segment, ids_of
from graph.errors import RAGError

SEGMENT_CHUNKS = 65_536  # most of one segment, which bounds the memory and the time that saving one takes
log = logging.getLogger("garden.store")


def build_segments(database: Database, least: int) -> None:
    """Save segments until fewer than *least* chunks are in none, one process at a time; failures are logged."""
    try:
        with suppress(BlockingIOError, FileNotFoundError), (database.folder / "building.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released however the process ends
            while planned := _plan(database, least):
                _save(database, *planned)
    except (OSError, RuntimeError, RAGError) as error:
        log.warning("segments_not_built", extra={"collection": database.collection, "reason": str(error)})


def _save(database: Database, low: int, high: int) -> None:
    """Save the chunks with ids in (*low*, *high*] as one segment, replacing those within."""
    with database.reading() as connection:
        segment = Segment.read(connection, low, high)
        gone = connection.execute("SELECT id FROM removed WHERE id > ? AND id <= ?", (low, high)).fetchall()
    name = f"segment-{time.time_ns()}"
    row = (name, low, high, len(segment.ids), segment.save(database.folder / name))

    def job(connection: sqlite3.Connection) -> None:
        connection.executemany("DELETE FROM removed WHERE id = ?", gone)
        connection.execute("DELETE FROM segments WHERE low >= ? AND high <= ?", (low, high))
        connection.executemany("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", [row] if len(segment.ids) else [])

    database.write(job)


def _plan(database: Database, least: int) -> tuple[int, int] | None:
    """Delete unused folders; return the next segment's ids (low, high]: a lost one's, or new chunks.

    With new chunks it takes over the preceding segments that are at most twice as large, those deleted not counted.
    """
    dead = "(SELECT count(*) FROM removed WHERE removed.id > low AND removed.id <= high)"
    newest = "SELECT id FROM chunks WHERE id > ? ORDER BY id LIMIT ?"
    with database.reading() as connection:
        saved = connection.execute(f"SELECT name, low, high, rows - {dead} FROM segments ORDER BY low").fetchall()
        low = saved[-1][2] if saved else 0
        new = ids_of(connection.execute(newest, (low, SEGMENT_CHUNKS)))
    for unused in {path.name for path in database.folder.glob("segment-[0-9]*")} - {name for name, *_ in saved}:
        shutil.rmtree(database.folder / unused, ignore_errors=True)
    for name, start, end, _ in saved:
        if not (database.folder / name).is_dir():
            return start, end
    count = len(new)
    for _, start, _, size in reversed(saved):
        if size > 2 * count or count + size > SEGMENT_CHUNKS:
            break
        low, count = start, count + size
    return (low, int(new[-1])) if len(new) >= least else None

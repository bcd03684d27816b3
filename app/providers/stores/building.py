"""Saves new chunks of an embedded collection as memory-mapped segments that all its processes share."""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from app.providers.stores.database import Database
from app.providers.stores.segments import Segment

SEGMENT_CHUNKS = 65_536
"""Most chunks of a segment, which bounds the memory and the time that saving one takes."""


def build(database: Database, least: int) -> None:
    """Save segments until fewer than *least* chunks are in none; a no-op where another process does so.

    Raises ``StoreUnavailable``, and ``OSError`` or ``RuntimeError`` when the disk is full; existing segments then stay.
    """
    with suppress(BlockingIOError, FileNotFoundError), (database.folder / "building.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released however the process ends
        while _save_next(database, least):
            pass


def _save_next(database: Database, least: int) -> bool:
    """Save one segment in place of those in its range; return whether there was any to save."""
    with database.reading() as connection:
        if (planned := _plan(connection, database.folder, least)) is None:
            return False
        made = Segment.read(connection, *planned)
        removed = "SELECT json_group_array(id) FROM removed WHERE id > ? AND id <= ?"
        (gone,) = connection.execute(removed, planned).fetchone()
    name = f"segment-{time.time_ns()}"
    row = (name, *planned, len(made.ids), made.save(database.folder / name))
    with database.writing() as connection:
        connection.execute("DELETE FROM removed WHERE id IN (SELECT value FROM json_each(?))", (gone,))
        connection.execute("DELETE FROM segments WHERE low >= ? AND high <= ?", planned)
        if len(made.ids):
            connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)
    return True


def _plan(connection: sqlite3.Connection, folder: Path, least: int) -> tuple[int, int] | None:
    """Delete unused folders; return the ids (low, high] of the next segment: a lost one's, or the new chunks'.

    With new chunks it takes over the preceding segments that are at most twice as large, those deleted not counted.
    """
    saved = connection.execute(
        "SELECT name, low, high, rows - (SELECT count(*) FROM removed WHERE removed.id > low AND removed.id <= high)"
        " FROM segments ORDER BY low"
    ).fetchall()
    for unused in {path.name for path in folder.glob("segment-[0-9]*")} - {name for name, *_ in saved}:
        shutil.rmtree(folder / unused, ignore_errors=True)
    for name, low, high, _ in saved:
        if not (folder / name).is_dir():
            return low, high
    low = saved[-1][2] if saved else 0
    newest = "SELECT id FROM chunks WHERE id > ? ORDER BY id LIMIT ?"
    new = [own for (own,) in connection.execute(newest, (low, SEGMENT_CHUNKS))]
    count = len(new)
    for _, start, _, rows in reversed(saved):
        if rows > 2 * count or count + rows > SEGMENT_CHUNKS:
            break
        low, count = start, count + rows
    return (low, new[-1]) if len(new) >= least else None

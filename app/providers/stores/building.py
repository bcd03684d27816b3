"""Saves new chunks of an embedded collection as memory-mapped segments that all its processes share."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from app.providers.stores.database import Database
from app.providers.stores.rows import stored_size
from app.providers.stores.segments import Segment

SEGMENT_CHUNKS = 65_536
"""Most chunks of a segment, which bounds the memory and the time that saving one takes."""


def build(database: Database, least: int) -> None:
    """Save segments until fewer than *least* chunks are in none; a no-op while another process does so.

    Raises ``StoreUnavailable``, and ``OSError`` when the disk is full; existing segments then stay as they were.
    """
    if database.path.exists():
        lock = sqlite3.connect(database.folder / "building.lock", timeout=0, isolation_level=None)
        with closing(lock), suppress(sqlite3.OperationalError):  # of the lock: the database's errors are mapped
            lock.execute("BEGIN EXCLUSIVE")  # released however the process ends
            while _save_next(database, least):
                pass


def _save_next(database: Database, least: int) -> bool:
    """Save one segment in place of those in its range; return whether there was any to save."""
    with database.reading() as connection:
        planned = None if connection is None else _plan(connection, database.folder, least)
        if connection is None or planned is None:
            return False
        made = Segment.read(connection, stored_size(connection) or 0, *planned)
        removed = "SELECT json_group_array(id) FROM removed WHERE id > ? AND id <= ?"
        (gone,) = connection.execute(removed, planned).fetchone()
    name = f"segment-{time.time_ns()}"
    try:
        row = (name, *planned, len(made.ids), made.save(database.folder / name))
        with database.writing() as connection:
            connection.execute("DELETE FROM removed WHERE id IN (SELECT value FROM json_each(?))", (gone,))
            connection.execute("DELETE FROM segments WHERE low >= ? AND high <= ?", planned)
            if len(made.ids):
                connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)
    finally:
        with database.reading() as connection:
            used = {one for (one,) in connection.execute("SELECT name FROM segments")} if connection else set()
        for folder in database.folder.glob("segment-[0-9]*"):
            if folder.name not in used:
                shutil.rmtree(folder, ignore_errors=True)
    return True


def _plan(connection: sqlite3.Connection, folder: Path, least: int) -> tuple[int, int] | None:
    """The ids (low, high] of the next segment: of one that is lost or a quarter deleted, or of the new chunks.

    With these it takes over the preceding segments that are at most twice as large.
    """
    saved = connection.execute(
        "SELECT name, low, high, rows, (SELECT count(*) FROM removed WHERE removed.id > low AND removed.id <= high)"
        " FROM segments ORDER BY low"
    ).fetchall()
    for name, low, high, rows, gone in saved:
        if gone > rows / 4 or not (folder / name).is_dir():
            return low, high
    low = saved[-1][2] if saved else 0
    newest = "SELECT id FROM chunks WHERE id > ? ORDER BY id LIMIT ?"
    new = [own for (own,) in connection.execute(newest, (low, SEGMENT_CHUNKS))]
    count = len(new)
    for _, start, _, rows, gone in reversed(saved):
        if rows > 2 * count or count + rows - gone > SEGMENT_CHUNKS:
            break
        low, count = start, count + rows - gone
    return (low, new[-1]) if len(new) >= least else None

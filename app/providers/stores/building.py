"""Saves new chunks of an embedded collection as memory-mapped segments that all its processes share."""

from __future__ import annotations

import shutil
import sqlite3
import time

from app.providers.stores.database import Database
from app.providers.stores.segments import Segment

BUILD_FROM = 2_048
"""New chunks that are worth a saved segment; fewer are held in memory by each process."""
SEGMENT_CHUNKS = 65_536
"""Most chunks of a segment, which bounds the memory and the time that saving one takes."""
GRACE_SECONDS = 60.0
"""How long an unused segment stays, for readers that just read its name."""


def build(database: Database, least: int = BUILD_FROM) -> None:
    """Save segments until fewer than *least* chunks are in none; a no-op while another process does so.

    Raises ``StoreUnavailable``, and ``OSError`` when the disk is full; existing segments then stay as they were.
    """
    if not database.path.exists():
        return
    lock = sqlite3.connect(database.folder / "building.lock", timeout=0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")  # released however the process ends
        while (planned := _plan(database, least)) is not None:
            _save(database, *planned)
    except sqlite3.OperationalError:  # of the lock: the database's errors are mapped
        return
    finally:
        lock.close()


def _plan(database: Database, least: int) -> tuple[int, int, list[str]] | None:
    """The ids (low, high] of the next segment, and the names of those it replaces.

    It replaces a segment that is lost or a quarter deleted; else it holds the new chunks and the preceding segments
    that are at most twice as large.
    """
    with database.reading() as connection:
        if connection is None:
            return None
        saved = connection.execute(
            "SELECT name, low, high, rows, (SELECT count(*) FROM removed WHERE removed.id > low AND removed.id <= high"
            " AND removed.at > segments.at) FROM segments ORDER BY low"
        ).fetchall()
        for name, low, high, rows, gone in saved:
            if gone > rows / 4 or not (database.folder / name).is_dir():
                return low, high, [name]
        low, replaces = saved[-1][2] if saved else 0, []
        newest = "SELECT id FROM chunks WHERE id > ? ORDER BY id LIMIT ?"
        new = [own for (own,) in connection.execute(newest, (low, SEGMENT_CHUNKS))]
        if len(new) < least:
            return None
        count = len(new)
        for name, start, _, rows, gone in reversed(saved):
            if rows > 2 * count or count + rows - gone > SEGMENT_CHUNKS:
                break
            low, count = start, count + rows - gone
            replaces.append(name)
        return low, new[-1], replaces


def _save(database: Database, low: int, high: int, replaces: list[str]) -> None:
    """Save the chunks (low, high] as one segment and register it in place of those it replaces."""
    with database.reading() as connection:
        if connection is None:
            return
        meta = dict(connection.execute("SELECT name, value FROM meta"))
        made = Segment.read(connection, meta["size"], low, high)
        used = {name for (name,) in connection.execute("SELECT name FROM segments")}
    for folder in database.folder.glob("segment-*"):
        if folder.name not in used and folder.stat().st_mtime < time.time() - GRACE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    name = f"segment-{meta['writes']}-{low}-{time.time_ns()}"
    draft = database.folder / f"{name}.new"
    try:
        made.save(draft)
        draft.rename(database.folder / name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    with database.writing() as connection:
        connection.executemany("DELETE FROM segments WHERE name = ?", [(old,) for old in replaces])
        if len(made):
            row = (name, low, high, len(made), meta["writes"])
            connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)
        connection.execute(
            "DELETE FROM removed WHERE at <= ? AND NOT EXISTS (SELECT 1 FROM segments"
            " WHERE removed.id > low AND removed.id <= high AND removed.at > segments.at)",
            (meta["writes"],),
        )

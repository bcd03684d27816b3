"""The threads, the view and the rows of one embedded collection; what is asked of them is in ``embedded.py``."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from app.providers.embeddings.memory_cache import MemoryCache
from app.providers.stores.building import build
from app.providers.stores.database import Database
from app.providers.stores.filters import Condition
from app.providers.stores.hybrid import Candidate
from app.providers.stores.layout import Point
from app.providers.stores.rows import COLUMNS, allowed, among, as_json, candidate_of, checksum, row_of
from app.providers.stores.view import Ids, View, current
from graph.errors import RAGError, StoreUnavailable

READERS = 4
"""Threads that search; SQLite and numpy let others run meanwhile."""
REMEMBERED_BYTES = 48 << 20
"""Some 6,000 candidates of 384 dimensions and six sentences."""
ALLOWED_BYTES = 16 << 20
"""Some filters, of which each takes 8 bytes for every chunk that passes."""

T = TypeVar("T")
log = logging.getLogger("garden.store")


class Collection:
    """Jobs on the database, off the event loop: searches at once, writes one after the other."""

    def __init__(self, database: Database, build_from: int) -> None:
        """*build_from*: new chunks for which segments are saved."""
        self.database = database
        self._build_from = build_from
        self._unbuilt = 0
        self._view: View | None = None
        self._viewing = Lock()
        self._known: MemoryCache[Candidate] = MemoryCache(REMEMBERED_BYTES, _bytes)
        self._allowed: MemoryCache[Ids] = MemoryCache(ALLOWED_BYTES, lambda ids: ids.nbytes + 64)
        self.readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self.writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._builder = ThreadPoolExecutor(1, thread_name_prefix="store-build")
        self._building: Future[None] | None = None

    async def run(self, threads: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        """What *job* returns, run on one of the threads."""
        try:
            return await asyncio.wrap_future(threads.submit(job))
        except RuntimeError as error:
            if "shutdown" in str(error):
                raise StoreUnavailable(f'The collection "{self.database.collection}" is closed.') from error
            raise

    async def read(self, job: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """What *job* finds in one state of the collection; *nothing* where nothing was ever stored."""

        def reading() -> T:
            with self.database.reading() as connection:
                return nothing if connection is None else job(connection)

        return await self.run(self.readers, reading)

    def view(self, connection: sqlite3.Connection) -> View | None:
        """What is searched of the state that the connection sees; None of an empty collection."""
        with self._viewing:
            self._view = view = current(connection, self.database.folder, self._view)
        return view

    def allowed(self, connection: sqlite3.Connection, view: View, wanted: Sequence[Condition]) -> Ids | None:
        """The ids that pass a filter, ascending; None without one. Remembered until the next write."""
        key = (view.writes, *wanted)
        if not wanted or (known := self._allowed.find([key]).get(key)) is None:
            known = allowed(connection, wanted)
            if known is not None:
                self._allowed.keep({key: known})
        return known

    def candidates(self, connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Candidate]:
        """The chunks with these ids; an id names one state of a chunk, so what was read once is remembered."""
        known: dict[Any, Candidate] = self._known.find(ids)
        made = {row[0]: candidate_of(row) for row in self.rows(connection, [own for own in ids if own not in known])}
        self._known.keep(made)
        return known | made

    def rows(self, connection: sqlite3.Connection, ids: Iterable[int]) -> list[tuple[Any, ...]]:
        """The stored rows with these ids. Raises ``StoreDamaged`` when one is not as it was written."""
        found = connection.execute(f"SELECT {COLUMNS} FROM chunks WHERE {among('id')}", (as_json(ids),))
        rows = found.fetchall()
        for row in rows:
            if checksum(row[3:]) != row[2]:
                raise self.database.damaged(f"chunk {row[1]!r} is not as it was written")
        return rows

    def upsert(self, points: Sequence[Point], fits: Callable[[int | None], None]) -> None:
        """Store points in place of those of the same chunk ids; *fits* is asked about the stored vectors' size."""
        rows = [row_of(point) for point in points]
        with self.database.writing() as connection:
            fits(size_of(connection))
            connection.execute("UPDATE meta SET value = ? WHERE name = 'size'", (len(points[0].dense),))
            _remove(connection, "chunk_id", [point.chunk_id for point in points])
            connection.executemany(f"INSERT OR REPLACE INTO chunks VALUES (NULL{', ?' * len(rows[0])})", rows)
        self._unbuilt += len(points)
        if self._unbuilt >= self._build_from and (self._building is None or self._building.done()):
            self._start_building()

    def delete(self, column: str | None, values: Sequence[str]) -> int:
        """Delete the chunks with these values in a column, all of them without one; return how many."""
        with self.database.reading() as connection:
            if connection is None:
                return 0
        with self.database.writing() as connection:
            return _remove(connection, column, values)

    async def build(self) -> None:
        """Return when what is stored now is in saved segments, but for a rest that is as fast in memory."""
        for _ in range(2):  # one that is going on is joined, but may have begun before the last points came
            if self._building is None or self._building.done():
                self._start_building()
            await asyncio.shield(asyncio.wrap_future(self._building))  # type: ignore[arg-type]  # just made

    def close(self) -> None:
        """End the threads and close the files."""
        for threads in (self.writer, self._builder, self.readers):
            threads.shutdown(cancel_futures=True)
        self.database.close()

    def _start_building(self) -> None:
        self._unbuilt = 0
        self._building = self._builder.submit(self._build)

    def _build(self) -> None:
        try:
            build(self.database, self._build_from)
        except (OSError, sqlite3.Error, RAGError) as error:
            log.warning("segments_not_built", extra={"collection": self.database.collection, "reason": str(error)})


def size_of(connection: sqlite3.Connection) -> int | None:
    """The dimension of the stored vectors; None where there are none."""
    size: int | None = connection.execute("SELECT value FROM meta WHERE name = 'size'").fetchone()[0]
    return size


def _remove(connection: sqlite3.Connection, column: str | None, values: Sequence[str]) -> int:
    where, given = ("", ()) if column is None else (f"WHERE {among(column)}", (as_json(values),))
    now = "(SELECT value + 1 FROM meta WHERE name = 'writes')"
    connection.execute(f"INSERT INTO removed SELECT id, {now} FROM chunks {where}", given)
    return connection.execute(f"DELETE FROM chunks {where}", given).rowcount


def _bytes(candidate: Candidate) -> int:
    """About what a candidate takes in memory."""
    vectors = sum(rows.nbytes for rows in (candidate.dense, candidate.sentences) if rows is not None)
    return vectors + 100 * len(candidate.sparse or ()) + 2 * len(candidate.chunk.text) + 1024

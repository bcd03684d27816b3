"""The embedded collection: SQLite holds it, memory-mapped segments are searched, any number of processes share both.

Scores are cosines as measured, in [-1, 1]. What one process writes every other one finds with its next call.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import orjson
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.hybrid import Candidate, HybridHits, HybridQuery, came_along
from app.providers.layout import CONTENT, METADATA, Point
from app.providers.memory_cache import MemoryCache
from app.providers.stores.building import BUILD_FROM, build
from app.providers.stores.database import Database
from app.providers.stores.langchain_store import LangChainStore, Near, Where
from app.providers.stores.rows import allowed, among, as_json, candidate_of, checksum, payload, point_of, row_of
from app.providers.stores.rows import COLUMNS
from app.providers.stores.start_check import in_start_time, made_size, may_block, run_apart
from app.providers.stores.view import View, current
from app.providers.where import conditions
from graph.errors import ConfigurationError, GardenError, StoreUnavailable

READERS = 4
"""Threads that search; SQLite and numpy let others run meanwhile."""
WAIT_SECONDS = 30.0
"""How long a writer waits for another one; each write takes milliseconds."""
BATCH = 256
"""Chunks of one write."""
PAGE = 256
"""Chunks read at once when the whole collection is walked."""
REMEMBERED_BYTES = 48 << 20
"""Some 6,000 candidates of 384 dimensions and six sentences."""

T = TypeVar("T")
log = logging.getLogger("garden.store")


class EmbeddedStore(LangChainStore):
    """One collection under ``data_dir``: ``VectorStore``, ``ChunkStore`` and ``HybridStore``.

    Nothing is opened before the first call. Methods raise ``StoreUnavailable`` when SQLite fails or another process
    keeps writing, ``StoreDamaged`` for files that are not as they were written. For vectors of another size opening and
    writing raise ``ConfigurationError``; a question has met a store that does not serve it: ``StoreUnavailable``.
    """

    def __init__(
        self,
        embedding: Embeddings,
        data_dir: Path,
        collection: str,
        size: int | None = None,
        *,
        wait: float = WAIT_SECONDS,
        build_from: int = BUILD_FROM,
    ) -> None:
        super().__init__(embedding, collection, size)
        self.database = Database(data_dir, collection, wait)
        self._build_from = build_from
        self._unbuilt = 0
        self._view: View | None = None
        self._viewing = Lock()
        self._known: MemoryCache[Candidate] = MemoryCache(REMEMBERED_BYTES, _bytes)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._builder = ThreadPoolExecutor(1, thread_name_prefix="store-build")
        self._building: Future[None] | None = None

    def open(self) -> None:
        """Learn at the start what the first call would say, and whether the collection fits the model.

        A model over a wire that does not answer is only logged. Inside a running loop, which must not be held up, it is
        not asked; the first probe or question says the same. Raises ``ConfigurationError``, ``StoreUnavailable``.
        """
        self.database.make()
        with self.database.reading() as connection:
            stored = _size(connection)
        if stored and self._known_size() is None and may_block():
            run_apart(in_start_time(made_size(self._embedding), self.collection))
        self._fits(stored, self._known_size(), ConfigurationError)

    async def aprobe(self) -> None:
        """Return if a search would work now; an empty collection counts as one that does."""
        await self._aread(lambda connection: self._current(connection, self._known_size()), None)

    async def aupsert(self, points: Sequence[Point]) -> None:
        """Store the points, replacing those of the same chunk id; when it returns they are on disk."""
        for at in range(0, len(points), BATCH):
            await self._awrite(lambda batch=points[at : at + BATCH]: self._upsert(batch))
            self._unbuilt += len(points[at : at + BATCH])
        if self._unbuilt >= self._build_from and (self._building is None or self._building.done()):
            self._start_building()

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        """Delete every chunk of these documents; return how many chunks went."""
        return await self._awrite(lambda: self._delete("document_id", document_ids))

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        """Delete these chunks; return how many were there."""
        return await self._awrite(lambda: self._delete("chunk_id", chunk_ids))

    async def adocuments(self) -> dict[str, str]:
        """Document id -> ``content_hash`` of its first chunk."""
        rows = await self._arows("SELECT document_id, content_hash, min(position) FROM chunks GROUP BY document_id")
        return {document: content_hash for document, content_hash, _ in rows}

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        """Chunk id -> ``content_hash`` of the chunks of these documents."""
        return dict(await self._arows(f"SELECT chunk_id, content_hash FROM chunks WHERE {among('document_id')}", document_ids))

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Chunk id -> document id of those of these chunks that are stored."""
        return dict(await self._arows(f"SELECT chunk_id, document_id FROM chunks WHERE {among('chunk_id')}", chunk_ids))

    async def acount(self) -> int:
        """The number of stored chunks."""
        rows = await self._arows("SELECT count(*) FROM chunks")
        return int(rows[0][0]) if rows else 0

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """Search both channels; see ``HybridStore``."""
        wanted = conditions(where)

        def job(connection: sqlite3.Connection) -> HybridHits:
            view = self._current(connection, len(queries[0].dense))
            if view is None:
                return nothing
            found, idf = view.hybrid(queries, limit, allowed(connection, wanted))
            known = self._candidates(connection, {own for row in found for own in row})
            return HybridHits([[known[own] for own in row if own in known] for row in found], idf)

        nothing = HybridHits([[] for _ in queries])
        return await self._aread(job, nothing)

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """The sentence vectors of candidates that have them."""
        return came_along(candidates)

    async def apoints(self) -> AsyncIterator[list[Point]]:
        """Every stored chunk with its vectors, page by page, as they all were at the first page."""
        with ExitStack() as held:
            connection = held.enter_context(self.database.reading())
            last = ""
            while connection is not None:
                points, last = await self._run(self._readers, lambda: self._page(connection, last))  # noqa: B023
                if not points:
                    return
                yield points

    async def aflush(self) -> None:
        """Nothing to do: what a write acknowledges is on disk."""

    async def aoptimize(self) -> None:
        """Return when what is stored now is in memory-mapped segments, but for a rest that is as fast in memory."""
        for _ in range(2):  # one that is going on is joined, but may have begun before the last points came
            if self._building is None or self._building.done():
                self._start_building()
            await asyncio.wrap_future(self._building)

    async def aclose(self) -> None:
        """Close the files; a second call does nothing."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """The same, for callers without an event loop."""
        for threads in (self._writer, self._builder, self._readers):
            threads.shutdown(cancel_futures=True)
        self.database.close()

    async def _near(self, vector: NDArray[Any], k: int, where: Where) -> list[Near]:
        wanted = conditions(where)

        def job(connection: sqlite3.Connection) -> list[Near]:
            view = self._current(connection, len(vector))
            found = dict(view.near(vector, k, allowed(connection, wanted))) if view else {}
            rows = {row[0]: row for row in self._rows(connection, found)}
            return [Near(rows[own][1], payload(rows[own]), cosine) for own, cosine in found.items() if own in rows]

        return await self._aread(job, [])

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        found = f"SELECT chunk_id, text, metadata FROM chunks WHERE {among('chunk_id')}"
        return {own: {CONTENT: text, METADATA: orjson.loads(its)} for own, text, its in await self._arows(found, chunk_ids)}

    async def _remove_all(self) -> None:
        await self._awrite(lambda: self._delete(None, ()))

    def _current(self, connection: sqlite3.Connection, size: int | None) -> View | None:
        """The view of what is stored now. Raises ``StoreUnavailable`` when its vectors are not of *size*."""
        self._fits(_size(connection), size, StoreUnavailable)
        with self._viewing:
            self._view = view = current(connection, self.database.folder, self._view)
        return view

    def _candidates(self, connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Candidate]:
        known: dict[Any, Candidate] = self._known.find(ids)
        made = {row[0]: candidate_of(row) for row in self._rows(connection, [own for own in ids if own not in known])}
        self._known.keep(made)
        return known | made

    def _rows(self, connection: sqlite3.Connection, ids: Iterable[int]) -> list[tuple[Any, ...]]:
        """The stored rows with these ids. Raises ``StoreDamaged`` when one is not as it was written."""
        found = connection.execute(f"SELECT {COLUMNS} FROM chunks WHERE {among('id')}", (as_json(ids),))
        rows = found.fetchall()
        for row in rows:
            if checksum(row[3:]) != row[2]:
                raise self.database.damaged(f"chunk {row[1]!r} is not as it was written")
        return rows

    def _page(self, connection: sqlite3.Connection, last: str) -> tuple[list[Point], str]:
        after = "SELECT id FROM chunks WHERE chunk_id > ? ORDER BY chunk_id LIMIT ?"
        points = [point_of(row) for row in self._rows(connection, [own for (own,) in connection.execute(after, (last, PAGE))])]
        points.sort(key=lambda one: one.chunk_id)
        return points, points[-1].chunk_id if points else last

    def _upsert(self, points: Sequence[Point]) -> None:
        rows, size = [row_of(point) for point in points], len(points[0].dense)
        with self.database.writing() as connection:
            for point in points:
                self._fits(len(point.dense), self._known_size(), ConfigurationError)
                self._fits(_size(connection) or size, len(point.dense), ConfigurationError)
            connection.execute("UPDATE meta SET value = ? WHERE name = 'size'", (size,))
            _remove(connection, "chunk_id", [point.chunk_id for point in points])
            connection.executemany(f"INSERT INTO chunks VALUES (NULL{', ?' * len(rows[0])})", rows)

    def _delete(self, column: str | None, values: Sequence[str]) -> int:
        with self.database.reading() as connection:
            if connection is None:
                return 0
        with self.database.writing() as connection:
            return _remove(connection, column, values)

    def _start_building(self) -> None:
        self._unbuilt = 0
        self._building = self._builder.submit(self._build)

    def _build(self) -> None:
        try:
            build(self.database, self._build_from)
        except (OSError, GardenError) as error:
            log.warning("segments_not_built", extra={"collection": self.collection, "reason": str(error)})

    async def _arows(self, query: str, values: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
        given = () if values is None else (as_json(values),)
        return await self._aread(lambda connection: connection.execute(query, given).fetchall(), [])

    async def _aread(self, job: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        def reading() -> T:
            with self.database.reading() as connection:
                return nothing if connection is None else job(connection)

        return await self._run(self._readers, reading)

    async def _awrite(self, job: Callable[[], T]) -> T:
        return await self._run(self._writer, job)

    async def _run(self, threads: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        try:
            return await asyncio.wrap_future(threads.submit(job))
        except RuntimeError as error:
            if "shutdown" in str(error):
                raise StoreUnavailable(f'The collection "{self.collection}" is closed.') from error
            raise


def _bytes(candidate: Candidate) -> int:
    """About what a candidate takes in memory."""
    vectors = sum(rows.nbytes for rows in (candidate.dense, candidate.sentences) if rows is not None)
    return vectors + 100 * len(candidate.sparse or ()) + 2 * len(candidate.chunk.text) + 1024


def _size(connection: sqlite3.Connection | None) -> int | None:
    """The dimension of the stored vectors; None where there are none."""
    if connection is None:
        return None
    size: int | None = connection.execute("SELECT value FROM meta WHERE name = 'size'").fetchone()[0]
    return size


def _remove(connection: sqlite3.Connection, column: str | None, values: Sequence[str]) -> int:
    """Delete the chunks with these values, all of them without a column; return how many."""
    where, given = ("", ()) if column is None else (f"WHERE {among(column)}", (as_json(values),))
    connection.execute(
        f"INSERT INTO removed SELECT id, (SELECT value + 1 FROM meta WHERE name = 'writes') FROM chunks {where}", given
    )
    return connection.execute(f"DELETE FROM chunks {where}", given).rowcount

"""The embedded collection: SQLite holds it, memory-mapped segments are searched, any number of processes share both.

Scores are cosines as measured, in [-1, 1]. What one process writes, every other one finds with its next call.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import orjson
from langchain_core.embeddings import Embeddings

from app.providers.stores import rows
from app.providers.stores.building import build
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.database import Database
from app.providers.stores.hybrid import DocumentSummary, HybridHits, HybridQuery, Where, conditions, summary
from app.providers.stores.layout import CONTENT, METADATA, Point
from app.providers.stores.segments import View, current
from graph.errors import ConfigurationError, RAGError, StoreUnavailable

BATCH = 256  # chunks of one write, and of one page when the whole collection is read
READERS = 4
T = TypeVar("T")
log = logging.getLogger("garden.store")


class EmbeddedStore(ChunkStore):
    """One collection under ``data_dir``; nothing is opened before the first call.

    Methods raise ``StoreUnavailable`` when SQLite fails or another process keeps writing, ``StoreDamaged`` for damaged
    files. Vectors of another size raise ``ConfigurationError`` on opening and writing, ``StoreUnavailable`` on search.
    """

    build_from = 2_048  # new chunks that are worth a saved segment; fewer are held in memory by each process

    def __init__(
        self, embedding: Embeddings, data_dir: Path, collection: str, size: int | None = None, *, wait: float = 30.0
    ) -> None:
        """*wait*: seconds that a write waits for another process's, which takes milliseconds."""
        super().__init__(embedding, collection, size)
        self.database = Database(data_dir, collection, wait)
        self._view: View | None = None
        self._view_lock = Lock()
        self._closed = False
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._builder = ThreadPoolExecutor(1, thread_name_prefix="store-build")

    def open(self) -> None:
        """Create the collection, or raise ``ConfigurationError`` when its vectors do not fit the model's."""
        self.database.create()
        with self.database.reading() as connection:
            self._fits(rows.stored_size(connection), self._known_size(), ConfigurationError)
        super().open()

    async def aupsert(self, points: Sequence[Point]) -> None:
        for at in range(0, len(points), BATCH):
            await self._run(self._writer, lambda at=at: self._upsert(points[at : at + BATCH]))  # type: ignore[misc]

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        return await self._run(self._writer, lambda: self._delete("document_id", document_ids))

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        return await self._run(self._writer, lambda: self._delete("chunk_id", chunk_ids))

    async def asummaries(self) -> dict[str, DocumentSummary]:
        firsts = await self._select(
            "document_id, count(*), (SELECT first.metadata FROM chunks AS first"
            " WHERE first.document_id = chunks.document_id ORDER BY first.position LIMIT 1)",
            "GROUP BY document_id",
        )
        return {one: summary(one, count, orjson.loads(metadata)) for one, count, metadata in firsts}

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        return dict(await self._select("chunk_id, content_hash", f"WHERE {rows.among('document_id')}", document_ids))

    async def acount(self) -> int:
        return sum(count for (count,) in await self._select("count(*)"))

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        def job(connection: sqlite3.Connection) -> HybridHits:
            self._fits(rows.stored_size(connection), len(queries[0].dense), StoreUnavailable)
            with self._view_lock:
                self._view = view = current(connection, self.database.folder, self._view)
            found, idf = view.hybrid(queries, limit, rows.allowed(connection, conditions(where)))
            ids = rows.as_json({own for row in found for own in row})
            stored = connection.execute(f"SELECT {rows.COLUMNS} FROM chunks WHERE {rows.among('id')}", (ids,))
            known = {row[0]: rows.candidate_of(row) for row in self._checked(stored)}
            return HybridHits([[known[own] for own in row] for row in found], idf)

        return await self._read(job)

    async def apoints(self) -> AsyncIterator[list[Point]]:
        with self.database.reading() as connection:
            cursor = connection.execute(f"SELECT {rows.COLUMNS} FROM chunks ORDER BY chunk_id")
            while page := await self._run(self._readers, lambda: [*self._checked(cursor.fetchmany(BATCH))]):
                yield [rows.point_of(row) for row in page]

    async def aoptimize(self) -> None:
        """Return when what is stored now is in memory-mapped segments, except for a small rest."""
        await self._run(self._builder, self._build)  # after one that is running

    def close(self) -> None:
        self._closed = True
        for threads in (self._writer, self._builder, self._readers):
            threads.shutdown(cancel_futures=True)
        self.database.close()

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        found = await self._select("chunk_id, text, metadata", f"WHERE {rows.among('chunk_id')}", chunk_ids)
        return {own: {CONTENT: text, METADATA: orjson.loads(metadata)} for own, text, metadata in found}

    async def _size(self) -> int | None:
        return await self._read(rows.stored_size)

    async def _run(self, threads: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        if self._closed:
            raise StoreUnavailable(f'The collection "{self.collection}" is closed.')
        return await asyncio.wrap_future(threads.submit(job))

    async def _read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run *job* on one snapshot of the collection."""

        def reading() -> T:
            with self.database.reading() as connection:
                return job(connection)

        return await self._run(self._readers, reading)

    async def _select(self, columns: str, rest: str = "", values: Sequence[str] | None = None) -> list[Any]:
        query, parameters = f"SELECT {columns} FROM chunks {rest}", () if values is None else (rows.as_json(values),)
        return await self._read(lambda connection: connection.execute(query, parameters).fetchall())

    def _checked(self, found: Iterable[Any]) -> Iterable[Any]:
        """Pass on rows of ``COLUMNS``. Raises ``StoreDamaged`` when a checksum is wrong."""
        for row in found:
            if rows.checksum(row[3:]) != row[2]:
                raise self.database.damaged(f"the checksum of chunk {row[1]!r} is wrong")
            yield row

    def _upsert(self, points: Sequence[Point]) -> None:
        new = [rows.row_of(point) for point in points]
        with self.database.writing() as connection:
            size = rows.stored_size(connection) or self._known_size() or len(points[0].dense)
            for point in points:
                self._fits(size, len(point.dense), ConfigurationError)
            rows.remove(connection, "chunk_id", [point.chunk_id for point in points])
            connection.executemany(f"INSERT OR REPLACE INTO chunks VALUES (NULL{', ?' * len(new[0])})", new)
        self._builder.submit(self._build)

    def _delete(self, column: str, values: Sequence[str]) -> int:
        with self.database.writing() as connection:
            return rows.remove(connection, column, values)

    def _build(self) -> None:
        """Save segments where enough is new for one."""
        try:
            build(self.database, self.build_from)
        except (OSError, RuntimeError, sqlite3.Error, RAGError) as error:
            log.warning("segments_not_built", extra={"collection": self.collection, "reason": str(error)})

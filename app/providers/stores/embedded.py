"""The embedded collection: stored in SQLite, searched as memory-mapped segments, shared by processes.

Scores are cosines as measured, in [-1, 1]. What one process writes, every other one finds with its next call.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from langchain_core.embeddings import Embeddings

from app.providers.stores.catalog import collections_in, replace_collection
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.database import COLUMNS, WORD, Database, T, checksum, remove, select, stored_size, version_of
from app.providers.stores.filters import SOURCES, Scalar, Where
from app.providers.stores.hybrid import DocumentSummary, HybridHits, HybridQuery, check_name, check_size, summary
from app.providers.stores.layout import CONTENT, METADATA, MODEL_FIELD, Point
from app.providers.stores.payloads import as_candidate, chunk_index_of
from app.providers.stores.segment_builder import build_segments
from app.providers.stores.segments import View, ids_of
from app.providers.stores.sql import FIELD_NAMES, values_of
from graph.errors import ConfigurationError, StoreUnavailable

BATCH = 256  # chunks of one write, and of one page when the whole collection is read
READERS = 4
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
        self._view = View()
        self._closed = False
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._builder = ThreadPoolExecutor(1, thread_name_prefix="store-build")

    def open(self) -> None:
        """Create the collection, or raise ``ConfigurationError`` when its vectors do not fit the model's."""
        self.database.create()
        with self.database.reading() as connection:
            check_name(self.collection, _model_of(connection), self.model_name, ConfigurationError)
            check_size(self.collection, stored_size(connection), self._known_size(), ConfigurationError)
        super().open()

    async def amodel_name(self) -> str:
        return await self._read(_model_of)

    async def aversion(self) -> int:
        return await self._read(version_of)

    async def areplace(self, by: str, kept: str, version: int) -> Path | None:
        return await self._run(self._writer, partial(replace_collection, self.database, by, kept, version))

    async def aupsert(self, points: Sequence[Point]) -> None:
        for at in range(0, len(points), BATCH):
            await self._write(partial(self._upsert, points[at : at + BATCH]))
            self._builder.submit(build_segments, self.database, self.build_from)

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        return await self._write(partial(remove, {"document_id": list(document_ids)}))

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        return await self._write(partial(remove, {"chunk_id": list(chunk_ids)}))

    async def asummaries(self) -> dict[str, DocumentSummary]:
        # beside min(), SQLite takes the other columns from the row of the minimum
        firsts = await self._select("document_id, count(*), metadata, min(position)", rest="GROUP BY document_id")
        return {id_: summary(id_, count, orjson.loads(metadata)) for id_, count, metadata, _ in firsts}

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        return dict(await self._select("chunk_id, content_hash", {"document_id": list(document_ids)}))

    async def acount(self) -> int:
        return sum(count for (count,) in await self._select("count(*)"))

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        def job(connection: sqlite3.Connection) -> HybridHits:
            check_size(self.collection, stored_size(connection), len(queries[0].dense), StoreUnavailable)
            # another process may have moved it
            check_name(self.collection, _model_of(connection), self.model_name, StoreUnavailable)
            self._view = view = self._view.updated(connection, self.database.folder)
            allowed = ids_of(select(connection, "id", where)) if where else None
            rankings, idf = view.hybrid(queries, limit, allowed)
            chosen = ", ".join({str(row_id) for row in rankings for row_id in row})
            stored = select(connection, COLUMNS, rest=f"AND id IN ({chosen})")
            by_id = {}
            for row in stored:
                p = self.database.point(row)
                payload = {CONTENT: p.text, METADATA: p.metadata}
                by_id[row[0]] = as_candidate(row[0], p.chunk_id, payload, p.dense, p.sparse, p.sentences)
            return HybridHits([[by_id[row_id] for row_id in row] for row in rankings], idf)

        return await self._read(job)

    async def acollection_names(self) -> list[str]:
        return await asyncio.to_thread(collections_in, self.database.folder.parent)

    async def ahas(self, where: Where) -> bool:
        return bool(await self._select("1", where, "LIMIT 1"))

    async def afield_names(self) -> set[str]:
        return {name for (name,) in await self._read(lambda connection: connection.execute(FIELD_NAMES).fetchall())}

    async def avalues(self, fields: Sequence[str]) -> set[Scalar]:
        return set(await self._read(partial(values_of, fields)))

    async def apoints(self) -> AsyncIterator[list[Point]]:
        with self.database.reading() as connection:
            cursor = select(connection, COLUMNS, rest="ORDER BY chunk_id")
            while rows := await self._run(self._readers, partial(cursor.fetchmany, BATCH)):
                yield [self.database.point(row) for row in rows]

    async def aoptimize(self) -> None:
        """Return when what is stored now is in memory-mapped segments, except for a small rest."""
        # after one that is running
        await self._run(self._builder, partial(build_segments, self.database, self.build_from))

    def close(self) -> None:
        self._closed = True
        for threads in (self._writer, self._builder, self._readers):
            threads.shutdown(cancel_futures=True)
        self.database.close()

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        rows = await self._select("chunk_id, text, metadata", {"chunk_id": list(chunk_ids)})
        return {chunk_id: {CONTENT: text, METADATA: orjson.loads(metadata)} for chunk_id, text, metadata in rows}

    async def _size(self) -> int | None:
        return await self._read(stored_size)

    async def _run(self, threads: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        if self._closed:
            raise StoreUnavailable(f'The collection "{self.collection}" is closed.')
        return await asyncio.wrap_future(threads.submit(job))

    async def _read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        return await self._run(self._readers, partial(self.database.read, job))

    async def _write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        return await self._run(self._writer, partial(self.database.write, job))

    async def _select(self, columns: str, where: Where = None, rest: str = "") -> list[Any]:
        return await self._read(lambda connection: select(connection, columns, where, rest).fetchall())

    def _upsert(self, points: Sequence[Point], connection: sqlite3.Connection) -> None:
        size = stored_size(connection) or self._known_size() or len(points[0].dense)
        for point in points:
            check_size(self.collection, size, len(point.dense), ConfigurationError)
        check_name(self.collection, _model_of(connection), self.model_name, ConfigurationError)
        remove({"chunk_id": [point.chunk_id for point in points]}, connection)
        new = [_row_of(point) for point in points]
        connection.executemany(f"INSERT OR REPLACE INTO chunks VALUES (NULL{', ?' * len(new[0])})", new)


def _model_of(connection: sqlite3.Connection) -> str:
    """The model of the first chunk; "" where it says none, or there is none."""
    row = connection.execute(f"SELECT json_extract(metadata, '$.{MODEL_FIELD}') FROM chunks LIMIT 1").fetchone()
    return str(row[0] or "") if row else ""


def _row_of(point: Point) -> tuple[Any, ...]:
    """The columns of a chunk except its id."""
    metadata = orjson.dumps(point.metadata).decode()
    words = np.array(list(point.weights().items()), WORD).tobytes()
    dense, sentences = point.dense.astype("<f4").tobytes(), point.sentences.astype("<f2").tobytes()
    stored = metadata, words, dense, point.text, sentences
    source = next((str(point.metadata[name]) for name in SOURCES if point.metadata.get(name) is not None), None)
    position = chunk_index_of(point.metadata)
    return (point.chunk_id, point.document_id, position, point.content_hash, source, checksum(stored), *stored)

"""The embedded collection: SQLite holds it, memory-mapped segments are searched, any number of processes share both.

Scores are cosines as measured, in [-1, 1]. What one process writes every other one finds with its next call.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import zlib
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import orjson
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from numpy.typing import NDArray

from app.providers.bm25 import document_weights
from app.providers.documents import document_from_payload
from app.providers.hybrid import Candidate, HybridHits, HybridQuery, came_along
from app.providers.layout import CONTENT, METADATA, Point, indexed_text_of
from app.providers.memory_cache import MemoryCache
from app.providers.packed_vectors import NOT_FINITE, packed_rows, unpacked_rows
from app.providers.payloads import chunk_from_payload, chunk_index_of
from app.providers.stores.building import BUILD_FROM, build
from app.providers.stores.database import Database
from app.providers.stores.langchain_store import LangChainStore, Near, Where
from app.providers.stores.segments import WORD
from app.providers.stores.start_check import in_start_time, made_size, may_block, run_apart
from app.providers.stores.view import Ids, View, current
from app.providers.vectors import aquestion_vectors, unit
from app.providers.where import SOURCES, Condition, conditions
from graph.errors import ConfigurationError, GardenError, InvalidInput, StoreUnavailable

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

ABOUT_ONE = 1e-4
"""What rounding may have made of a length of 1: such a vector stays what it is."""

T = TypeVar("T")
log = logging.getLogger("garden.store")
COLUMNS = "id, chunk_id, checksum, metadata, words, dense, text, sentences"


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
        return dict(await self._arows(f"SELECT chunk_id, content_hash FROM chunks WHERE {_in('document_id')}", document_ids))

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Chunk id -> document id of those of these chunks that are stored."""
        return dict(await self._arows(f"SELECT chunk_id, document_id FROM chunks WHERE {_in('chunk_id')}", chunk_ids))

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
            found, idf = view.hybrid(queries, limit, _allowed(connection, wanted))
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

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """``amax_marginal_relevance_search`` for code that blocks."""
        return self._blocking(self.amax_marginal_relevance_search(query, k, fetch_k, lambda_mult, **kwargs))

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """``k`` of the ``fetch_k`` nearest documents, near to the query and unlike each other."""
        (vector,) = await aquestion_vectors(self._embedding, [query])
        found = await self._asearch(vector, fetch_k, kwargs.get("filter"))
        rows = [np.frombuffer(dense, "<f4") for _, dense in found]
        chosen = maximal_marginal_relevance(vector, rows, lambda_mult, k)
        return [document_from_payload(found[at][0].id, found[at][0].payload) for at in chosen]

    async def _near(self, vector: NDArray[Any], k: int, where: Where) -> list[Near]:
        return [near for near, _ in await self._asearch(vector, k, where)]

    async def _asearch(self, vector: NDArray[Any], k: int, where: Where) -> list[tuple[Near, bytes]]:
        """The nearest chunks, and the vectors they are stored with."""
        wanted = conditions(where)

        def job(connection: sqlite3.Connection) -> list[tuple[Near, bytes]]:
            view = self._current(connection, len(vector))
            if view is None:
                return []
            cosines = dict(view.near(vector, k, _allowed(connection, wanted)))
            rows = {row[0]: row for row in self._rows(connection, cosines)}
            return [
                (Near(rows[own][1], _payload(rows[own]), cosine), rows[own][5])
                for own, cosine in cosines.items()
                if own in rows
            ]

        return await self._aread(job, [])

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        found = f"SELECT chunk_id, text, metadata FROM chunks WHERE {_in('chunk_id')}"
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
        made = {row[0]: _candidate(row) for row in self._rows(connection, [own for own in ids if own not in known])}
        self._known.keep(made)
        return known | made

    def _rows(self, connection: sqlite3.Connection, ids: Iterable[int]) -> list[tuple[Any, ...]]:
        """The stored rows with these ids. Raises ``StoreDamaged`` when one is not as it was written."""
        found = connection.execute(f"SELECT {COLUMNS} FROM chunks WHERE {_in('id')}", (_json(ids),))
        rows = found.fetchall()
        for row in rows:
            if checksum(*row[3:]) != row[2]:
                raise self.database.damaged(f"chunk {row[1]!r} is not as it was written")
        return rows

    def _page(self, connection: sqlite3.Connection, last: str) -> tuple[list[Point], str]:
        after = "SELECT id FROM chunks WHERE chunk_id > ? ORDER BY chunk_id LIMIT ?"
        points = [_point(row) for row in self._rows(connection, [own for (own,) in connection.execute(after, (last, PAGE))])]
        points.sort(key=lambda one: one.chunk_id)
        return points, points[-1].chunk_id if points else last

    def _upsert(self, points: Sequence[Point]) -> None:
        rows, size = [_row(point) for point in points], len(points[0].dense)
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
        given = () if values is None else (_json(values),)
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


def checksum(*values: Any) -> int:
    """CRC-32 of what is stored of a chunk, so that damage is seen when it is read."""
    total = 0
    for value in values:
        total = zlib.crc32(value.encode() if isinstance(value, str) else value, total)
    return total


def _row(point: Point) -> tuple[Any, ...]:
    """The columns of a chunk but its id. Raises ``ValueError`` for a vector that is not of finite numbers."""
    weights = document_weights(indexed_text_of(point.metadata, point.text)) if point.sparse is None else point.sparse
    dense = point.dense if abs(float(np.linalg.norm(point.dense)) - 1.0) < ABOUT_ONE else unit(point.dense)
    if not np.isfinite(dense).all():
        raise ValueError(NOT_FINITE)
    stored = (
        orjson.dumps(point.metadata).decode(),
        np.array(list(weights.items()), WORD).tobytes(),
        dense.astype("<f4").tobytes(),
        point.text,
        packed_rows(point.sentences),
    )
    document, hash_ = (str(point.metadata.get(name) or "") for name in ("document_id", "content_hash"))
    source = next((str(point.metadata[name]) for name in SOURCES if point.metadata.get(name) is not None), None)
    return (point.chunk_id, document, chunk_index_of(point.metadata), hash_, source, checksum(*stored), *stored)


def _payload(row: Sequence[Any]) -> dict[str, Any]:
    return {CONTENT: row[6], METADATA: orjson.loads(row[3])}


def _point(row: Sequence[Any]) -> Point:
    words, dense = np.frombuffer(row[4], WORD), np.frombuffer(row[5], "<f4")
    sparse = dict(zip(words["term"].tolist(), words["weight"].tolist(), strict=True))
    return Point(row[1], row[6], orjson.loads(row[3]), dense, unpacked_rows(row[7], len(dense)), sparse)


def _candidate(row: Sequence[Any]) -> Candidate:
    point = _point(row)
    return Candidate(row[0], chunk_from_payload(row[1], _payload(row)), point.dense, point.sparse, point.sentences)


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
    where, given = ("", ()) if column is None else (f"WHERE {_in(column)}", (_json(values),))
    connection.execute(
        f"INSERT INTO removed SELECT id, (SELECT value + 1 FROM meta WHERE name = 'writes') FROM chunks {where}", given
    )
    return connection.execute(f"DELETE FROM chunks {where}", given).rowcount


def _json(values: Iterable[Any]) -> str:
    return orjson.dumps(list(values)).decode()


def _in(column: str) -> str:
    """A condition on a column, of a parameter that is a JSON array, so that there may be any number of values."""
    return f"{column} IN (SELECT value FROM json_each(?))"


def _allowed(connection: sqlite3.Connection, wanted: Sequence[Condition]) -> Ids | None:
    """The ids of the chunks that fulfil every condition, ascending; None where there is no condition."""
    if not wanted:
        return None
    clauses, given = [], []
    for condition in wanted:
        name, values = condition.fields[0], [value for value in condition.values if value is not None]
        if '"' in name:
            raise InvalidInput("A field with a quotation mark in its name cannot be filtered by.", field=name)
        path = "'$.{}'".format(".".join(f'"{part}"' for part in name.replace("'", "''").split(".")))
        column = "source" if name == SOURCES[0] else f"json_extract(metadata, {path})"
        clause = _in(column)
        if any(isinstance(value, int) for value in values) and column != "source":  # SQLite has 1 for true
            clause += f" AND json_type(metadata, {path}) NOT IN ('true', 'false')"
        clauses.append(f"({clause}{f' OR {column} IS NULL' if None in condition.values else ''})")
        given.append(_json(map(str, values) if column == "source" else values))
    found = connection.execute(f"SELECT id FROM chunks WHERE {' AND '.join(clauses)} ORDER BY id", given)
    return np.fromiter((own for (own,) in found), np.int64)

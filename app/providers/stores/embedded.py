"""The embedded collection: SQLite holds it, memory-mapped segments are searched, any number of processes share both.

Scores are cosines as measured, in [-1, 1]. What one process writes every other one finds with its next call.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.stores.building import BUILD_FROM
from app.providers.stores.collection import Collection, size_of
from app.providers.stores.database import Database
from app.providers.stores.filters import conditions
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery, came_along
from app.providers.stores.langchain_store import LangChainStore, Near, Where
from app.providers.stores.layout import CONTENT, METADATA, Point
from app.providers.stores.rows import among, as_json, payload, point_of
from app.providers.stores.start_check import in_start_time, made_size, may_block, run_apart
from app.providers.stores.view import View
from graph.errors import ConfigurationError, StoreUnavailable

WAIT_SECONDS = 30.0
"""How long a writer waits for another one; each write takes milliseconds."""
BATCH = 256
"""Chunks of one write, and of one page when the whole collection is walked."""


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
        self._all = Collection(self.database, build_from)

    def open(self) -> None:
        """Learn at the start what the first call would say, and whether the collection fits the model.

        A model over a wire that does not answer is only logged. Inside a running loop, which must not be held up, it is
        not asked; the first probe or question says the same. Raises ``ConfigurationError``, ``StoreUnavailable``.
        """
        self.database.make()
        with self.database.reading() as connection:
            stored = size_of(connection) if connection else None
        if stored and self._known_size() is None and may_block():
            run_apart(in_start_time(made_size(self._embedding), self.collection))
        self._fits(stored, self._known_size(), ConfigurationError)

    async def aprobe(self) -> None:
        """Return if a search would work now; an empty collection counts as one that does."""
        await self._all.read(lambda connection: self._view(connection, self._known_size()), None)

    async def aupsert(self, points: Sequence[Point]) -> None:
        """Store the points, replacing those of the same chunk id; when it returns they are on disk."""
        for point in points:
            self._fits(len(point.dense), self._known_size(), ConfigurationError)
            self._fits(len(points[0].dense), len(point.dense), ConfigurationError)
        for at in range(0, len(points), BATCH):
            fits = partial(self._fits, made=len(points[0].dense), error=ConfigurationError)
            await self._all.run(self._all.writer, partial(self._all.upsert, points[at : at + BATCH], fits))

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        """Delete every chunk of these documents; return how many chunks went."""
        return await self._delete("document_id", document_ids)

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        """Delete these chunks; return how many were there."""
        return await self._delete("chunk_id", chunk_ids)

    async def adocuments(self) -> dict[str, str]:
        """Document id -> ``content_hash`` of its first chunk."""
        rows = await self._select("document_id, content_hash, min(position)", "GROUP BY document_id")
        return {document: content_hash for document, content_hash, _ in rows}

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        """Chunk id -> ``content_hash`` of the chunks of these documents."""
        return dict(await self._select("chunk_id, content_hash", f"WHERE {among('document_id')}", document_ids))

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Chunk id -> document id of those of these chunks that are stored."""
        return dict(await self._select("chunk_id, document_id", f"WHERE {among('chunk_id')}", chunk_ids))

    async def acount(self) -> int:
        """The number of stored chunks."""
        rows = await self._select("count(*)")
        return int(rows[0][0]) if rows else 0

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """Search both channels; see ``HybridStore``."""
        wanted = conditions(where)
        nothing = HybridHits([[] for _ in queries])

        def job(connection: sqlite3.Connection) -> HybridHits:
            view = self._view(connection, len(queries[0].dense))
            if view is None:
                return nothing
            found, idf = view.hybrid(queries, limit, self._all.allowed(connection, view, wanted))
            known = self._all.candidates(connection, {own for row in found for own in row})
            return HybridHits([[known[own] for own in row if own in known] for row in found], idf)

        return await self._all.read(job, nothing)

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """The sentence vectors of candidates that have them."""
        return came_along(candidates)

    async def apoints(self) -> AsyncIterator[list[Point]]:
        """Every stored chunk with its vectors, page by page, by chunk id, as they all were at the first page."""
        with ExitStack() as held:
            connection, last = held.enter_context(self.database.reading()), ""
            while connection is not None:
                points = await self._all.run(self._all.readers, partial(self._page, connection, last))
                if not points:
                    return
                yield points
                last = points[-1].chunk_id

    async def aflush(self) -> None:
        """Nothing to do: what a write acknowledges is on disk."""

    async def aoptimize(self) -> None:
        """Return when what is stored now is in memory-mapped segments, but for a rest that is as fast in memory."""
        await self._all.build()

    async def aclose(self) -> None:
        """Close the files; a second call does nothing."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """The same, for callers without an event loop."""
        self._all.close()

    async def _near(self, vector: NDArray[Any], k: int, where: Where) -> list[Near]:
        wanted = conditions(where)

        def job(connection: sqlite3.Connection) -> list[Near]:
            view = self._view(connection, len(vector))
            found = dict(view.near(vector, k, self._all.allowed(connection, view, wanted))) if view else {}
            rows = {row[0]: row for row in self._all.rows(connection, found)}
            return [Near(rows[own][1], payload(rows[own]), cosine) for own, cosine in found.items() if own in rows]

        return await self._all.read(job, [])

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        rows = await self._select("chunk_id, text, metadata", f"WHERE {among('chunk_id')}", chunk_ids)
        return {own: {CONTENT: text, METADATA: orjson.loads(its)} for own, text, its in rows}

    async def _remove_all(self) -> None:
        await self._delete(None, ())

    async def _delete(self, column: str | None, values: Sequence[str]) -> int:
        return await self._all.run(self._all.writer, partial(self._all.delete, column, values))

    async def _select(self, columns: str, rest: str = "", values: Sequence[str] | None = None) -> list[Any]:
        query, given = f"SELECT {columns} FROM chunks {rest}", () if values is None else (as_json(values),)
        return await self._all.read(lambda connection: connection.execute(query, given).fetchall(), [])

    def _view(self, connection: sqlite3.Connection, size: int | None) -> View | None:
        """What is searched. Raises ``StoreUnavailable`` when its vectors are not of *size*."""
        self._fits(size_of(connection), size, StoreUnavailable)
        return self._all.view(connection)

    def _page(self, connection: sqlite3.Connection, last: str) -> list[Point]:
        after = "SELECT id FROM chunks WHERE chunk_id > ? ORDER BY chunk_id LIMIT ?"
        ids = [own for (own,) in connection.execute(after, (last, BATCH))]
        return sorted(map(point_of, self._all.rows(connection, ids)), key=lambda one: one.chunk_id)

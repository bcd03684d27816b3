"""The embedded collection as ingest and retrieval use it: ``ChunkStore`` and ``HybridStore`` over one engine.

Every operation is one or more jobs for the engine's threads; the ``a`` methods wait for them without holding the event
loop. After an ``aupsert`` returns, a kill of the process loses none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.providers.edge_engine import EdgeEngine
from app.providers.edge_optimizer import OPTIMIZE_AFTER, EdgeOptimizer
from app.providers.edge_queries import Where
from app.providers.edge_search import EdgeSearch
from app.providers.edge_shard import BATCH, Shard
from app.providers.hybrid import Candidate, HybridHits, HybridQuery, came_along
from app.providers.layout import METADATA, Point, point_id
from app.providers.payloads import document_hashes, metadata_of
from graph.errors import StoreUnavailable

FLUSH_AFTER = 512
"""Points between two flushes, which keep the write-ahead log, and so the next opening, short."""


class EdgeChunks:
    """One embedded collection under ``data_dir``; nothing is opened before the first call.

    ``size`` is the dimension of the vectors, None where it is not known yet. Methods raise ``StoreUnavailable`` when
    another process holds the collection or the engine fails. For vectors of another size, opening and writing raise
    ``ConfigurationError``; a question has met a store that does not serve it, and raises ``StoreUnavailable``.
    """

    def __init__(
        self, data_dir: Path, collection: str, size: int | None = None, optimize_after: int = OPTIMIZE_AFTER
    ) -> None:
        self.engine = EdgeEngine(data_dir, collection, size)
        self._optimizer = EdgeOptimizer(self.engine, optimize_after)
        self._search = EdgeSearch()
        self._unflushed = 0  # used on the writer's thread only

    def open(self) -> None:
        """Open now, to learn at the start what the first call would say."""
        self.engine.open()

    async def aupsert(self, points: Sequence[Point]) -> None:
        """Store the points, replacing those of the same chunk id."""
        for job in self._upserts(points):
            await asyncio.wrap_future(job())

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        """Delete every chunk of these documents; return how many chunks went."""
        where = {"document_id": list(document_ids)}
        return await asyncio.wrap_future(self._delete(lambda shard: [key for key, _ in shard.walk([], where)]))

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        """Delete these chunks; return how many were there."""
        return await asyncio.wrap_future(self._delete(self._present(chunk_ids)))

    async def adocuments(self) -> dict[str, str]:
        """Document id -> ``content_hash`` of its first chunk."""
        rows = await asyncio.wrap_future(self._metadata(("document_id", "content_hash", "chunk_index")))
        return document_hashes(rows)

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        """Chunk id -> ``content_hash`` of the chunks of these documents."""
        job = self._metadata(("chunk_id", "content_hash"), {"document_id": list(document_ids)})
        return {str(one.get("chunk_id")): str(one.get("content_hash") or "") for one in await asyncio.wrap_future(job)}

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Chunk id -> document id of those of these chunks that are stored."""
        by_point = {point_id(chunk_id): chunk_id for chunk_id in chunk_ids}

        def job(shard: Shard) -> dict[str, str]:
            found = shard.fetch(list(by_point), payload=[f"{METADATA}.document_id"])
            return {by_point[str(one.id)]: str(metadata_of(one.payload).get("document_id") or "") for one in found}

        return await asyncio.wrap_future(self.engine.read(job, {}))

    async def ahybrid(
        self, queries: Sequence[HybridQuery], limit: int, where: Mapping[str, Any] | None = None
    ) -> HybridHits:
        """Search both channels; see ``HybridStore``."""

        def job(shard: Shard) -> HybridHits:
            for query in queries:
                self.engine.check(shard, len(query.dense), StoreUnavailable)
            return self._search.hybrid(shard, self.engine.writes, queries, limit, where)

        return await self.engine.aread(job, HybridHits([[] for _ in queries]))

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """The sentence vectors of candidates that have them."""
        return came_along(candidates)

    async def acount(self) -> int:
        """The number of stored chunks."""
        return await asyncio.wrap_future(self.engine.read(lambda shard: shard.count(), 0))

    async def aprobe(self) -> None:
        """Return if a search would work now; a collection nothing was ever put into counts as an empty one."""
        await self.acount()

    async def apoints(self) -> AsyncIterator[list[Point]]:
        """Every stored chunk with its vectors, page by page."""
        offset: Any = None
        nothing: tuple[list[Point], Any] = [], None
        while True:
            points, offset = await asyncio.wrap_future(self.engine.read(partial(Shard.page, offset=offset), nothing))
            if points:
                yield points
            if offset is None:
                return

    async def aflush(self) -> None:
        """Return when everything acknowledged so far is in the segments' files."""
        await asyncio.wrap_future(self.engine.write(Shard.flush, None))

    async def aoptimize(self) -> None:
        """Build the indexes if enough points wait for one; return when all that are there now have it."""
        for _ in range(2):  # a run that is going on is joined, but may have begun before the last points came
            if await asyncio.wrap_future(self.engine.read(self._optimizer.due, False)):
                await asyncio.wrap_future(self._optimizer.start())

    async def aclose(self) -> None:
        """Flush, close and give the collection free."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """The same, for callers without an event loop."""
        self._optimizer.close()
        self.engine.close()

    def _upserts(self, points: Sequence[Point]) -> list[Callable[[], Future[None]]]:
        """One job per ``BATCH`` points, each to be started when the one before it is done: reads go in between."""
        batches = [points[at : at + BATCH] for at in range(0, len(points), BATCH)]
        return [partial(self._upsert, batch) for batch in batches]

    def _upsert(self, points: Sequence[Point]) -> Future[None]:
        def job(shard: Shard) -> None:
            for point in points:
                self.engine.check(shard, len(point.dense))
            self._optimizer.note([point_id(point.chunk_id) for point in points])
            shard.upsert(points)
            self._unflushed += len(points)
            if self._unflushed >= FLUSH_AFTER:
                shard.flush()
                self._unflushed = 0
                if self._optimizer.due(shard, more=True):
                    self._optimizer.start()

        return self.engine.write(job, None, size=len(points[0].dense))

    def _delete(self, choose: Callable[[Shard], list[Any]]) -> Future[int]:
        def job(shard: Shard) -> int:
            ids = choose(shard)
            self._optimizer.note(ids)
            shard.delete(ids)
            return len(ids)

        return self.engine.write(job, 0)

    @staticmethod
    def _present(chunk_ids: Sequence[str]) -> Callable[[Shard], list[Any]]:
        ids = [point_id(chunk_id) for chunk_id in chunk_ids]
        return lambda shard: [record.id for record in shard.fetch(ids, payload=False)]

    def _metadata(self, fields: Sequence[str], where: Where | None = None) -> Future[list[dict[str, Any]]]:
        paths = [f"{METADATA}.{field}" for field in fields]
        return self.engine.read(lambda shard: [metadata_of(payload) for _, payload in shard.walk(paths, where)], [])

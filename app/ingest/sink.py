"""Where ingest puts what it has read: a collection, written so that a kill at any moment does no harm."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.ingest.documents import Part, TextChunk
from app.ingest.embed import make_points
from app.ingest.identify import part_hash

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from app.providers.stores.hybrid import ChunkStore
    from app.providers.stores.layout import Point


def taken(document_id: str, chunks: Sequence[TextChunk], owners: Mapping[str, str]) -> str | None:
    """Why a document cannot be stored, if a chunk id of its belongs to another document."""
    other = next((owners[one.chunk_id] for one in chunks if owners.get(one.chunk_id, document_id) != document_id), None)
    if other is None:
        return None
    whose = f"document {other}" if other else "a stored chunk of no document"
    return f"a chunk id of document {document_id} is taken by {whose}, which is kept"


log = logging.getLogger("garden.ingest")


class Sink:
    """A collection to be written. While one batch is stored, the next is embedded.

    The order of writes makes a kill harmless at any moment. New chunks come first, marked as parts. Then the chunks of
    any other version go. Only then does the first chunk get the document's hash, without which the next run does the
    document again. It does not get it either while some of the chunks are missing, because somebody else stored
    another version in between.
    """

    def __init__(self, store: ChunkStore, embeddings: Embeddings, model_name: str) -> None:
        self._store = store
        self._embeddings = embeddings
        self._model_name = model_name
        self._storing: asyncio.Task[None] | None = None

    async def describe(self) -> tuple[str, dict[str, str]]:
        """The embedding model's name and the stored documents' hashes."""
        return self._model_name, await self._store.adocuments()

    async def owners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """The documents that hold these chunk ids."""
        return await self._store.aowners(chunk_ids)

    async def write(self, parts: Sequence[Part]) -> None:
        """Embed ``parts`` and begin to store them; what went wrong with the batch before is raised here."""
        points = await make_points(parts, self._embeddings)
        await self.settle()
        self._storing = asyncio.create_task(self._save(parts, points))

    async def settle(self) -> None:
        """Return when everything written is stored."""
        storing, self._storing = self._storing, None
        if storing is not None:
            await storing

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Delete every chunk of these documents."""
        await self.settle()
        await self._store.adelete_documents(document_ids)

    async def finish(self) -> None:
        """Return when all is on disk and the indexes are built."""
        await self.settle()
        await self._store.aflush()
        await self._store.aoptimize()

    async def _save(self, parts: Sequence[Part], points: Sequence[Point]) -> None:
        last = {part.document.document_id: part for part in parts if part.last}
        known = await self._store.achunk_hashes(*last) if last else {}
        hashes = {its for part in last.values() for its in (part.content_hash, part_hash(part.content_hash))}
        new = {point.chunk_id for point in points}
        stale = [chunk_id for chunk_id, its in known.items() if its not in hashes and chunk_id not in new]
        firsts = [
            replace(point, metadata={**point.metadata, "content_hash": part.content_hash})
            for point in points
            if point.metadata["chunk_index"] == 0 and (part := last.get(point.metadata["document_id"]))
            if _whole(part, points, known)
        ]
        if all(its in hashes for its in known.values()):  # nothing older is there, so once is enough
            marked = {point.chunk_id for point in firsts}
            await self._store.aupsert([*(point for point in points if point.chunk_id not in marked), *firsts])
            return
        await self._store.aupsert(points)
        if stale:
            await self._store.adelete_chunks(stale)
        if firsts:
            await self._store.aupsert(firsts)


def _whole(part: Part, points: Sequence[Point], known: Mapping[str, str]) -> bool:
    """Whether with *points* all chunks of a document are there; they are not when somebody else stored it meanwhile."""
    own = {point.chunk_id for point in points if point.metadata["document_id"] == part.document.document_id}
    own |= {chunk_id for chunk_id, its in known.items() if its in (part.content_hash, part_hash(part.content_hash))}
    if len(own) >= part.total:
        return True
    log.warning("document_not_whole", extra={"chunks": len(own), "of": part.total})
    return False

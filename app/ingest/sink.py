"""Embed parts of documents and write them into a collection, so that a kill at any moment does no harm."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.ingest.documents import TextChunk
from app.ingest.parts import Part, part_hash
from app.providers.embeddings.vectors import adocument_vectors
from app.providers.stores.layout import Point, indexed_text, sentence_texts
from graph.errors import EmbeddingUnavailable, RAGError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from app.providers.stores.chunk_store import ChunkStore

log = logging.getLogger("garden.ingest")


class Sink:
    """A collection to be written. While one batch is stored, the next is embedded.

    The order of writes makes a kill harmless: new chunks first, marked as parts; then the chunks of any other version
    are deleted; then the first chunk gets the document's hash. Without it the next run stores the document again. It
    does not get it while chunks are missing because another process stored another version in between.
    """

    def __init__(self, store: ChunkStore, embeddings: Embeddings, model_name: str) -> None:
        self._store = store
        self._embeddings = embeddings
        self._model_name = model_name
        self._storing: asyncio.Task[None] | None = None

    async def describe(self) -> tuple[str, dict[str, str]]:
        """Return the embedding model's name and the stored documents' hashes."""
        return self._model_name, await self._store.adocuments()

    async def owners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Return the documents that hold these chunk ids."""
        return await self._store.aowners(chunk_ids)

    async def write(self, parts: Sequence[Part]) -> None:
        """Embed ``parts`` and begin to store them; an error of the batch before is raised here."""
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
        """Return when everything written is stored and the indexes are built."""
        await self.settle()
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
            if _is_complete(part, points, known)
        ]
        if all(its in hashes for its in known.values()):  # nothing older is stored, so one write is enough
            marked = {point.chunk_id for point in firsts}
            await self._store.aupsert([*(point for point in points if point.chunk_id not in marked), *firsts])
            return
        await self._store.aupsert(points)
        if stale:
            await self._store.adelete_chunks(stale)
        if firsts:
            await self._store.aupsert(firsts)


def _is_complete(part: Part, points: Sequence[Point], known: Mapping[str, str]) -> bool:
    """Tell whether with *points* all chunks of a document are stored; another writer may have replaced some."""
    own = {point.chunk_id for point in points if point.metadata["document_id"] == part.document.document_id}
    own |= {chunk_id for chunk_id, its in known.items() if its in (part.content_hash, part_hash(part.content_hash))}
    if len(own) < part.total:
        log.warning("document_incomplete", extra={"chunks": len(own), "of": part.total})
    return len(own) >= part.total


async def make_points(parts: Sequence[Part], embeddings: Embeddings) -> list[Point]:
    """Embed the chunks of ``parts`` together and return their points in order, each marked as a part.

    Raises ``EmbeddingUnavailable`` when the model does not answer.
    """
    texts = [text for part in parts for text in texts_of(part.document.title, part.chunks)]
    try:
        vectors = await adocument_vectors(embeddings, texts)
    except RAGError:
        raise
    except Exception as error:  # each vendor has errors of its own; their words stay in the cause
        raise EmbeddingUnavailable("The embedding model did not embed the documents.") from error
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise EmbeddingUnavailable("The embedding model did not return one vector for each text.")
    points: list[Point] = []
    at = 0
    for part in parts:
        for chunk in part.chunks:
            after = at + 1 + len(chunk.spans)
            metadata = _metadata(part, chunk)
            points.append(Point(chunk.chunk_id, chunk.text, metadata, vectors[at], vectors[at + 1 : after]))
            at = after
    return points


def texts_of(title: str, chunks: Sequence[TextChunk]) -> list[str]:
    """Return all that is embedded of some chunks of a document: each chunk, followed by its sentences."""
    texts: list[str] = []
    for chunk in chunks:
        texts.append(indexed_text(title, chunk.text, chapter=chunk.chapter, section=chunk.section))
        texts += sentence_texts(chunk.text, chunk.spans)
    return texts


def _metadata(part: Part, chunk: TextChunk) -> dict[str, Any]:
    document = part.document
    return {
        **document.metadata,
        "chunk_id": chunk.chunk_id,
        "document_id": document.document_id,
        "title": document.title,
        "url": document.url,
        "chapter": chunk.chapter,
        "section": chunk.section,
        "page": chunk.page,
        "chunk_index": chunk.chunk_index,
        "source": document.source,
        "content_hash": part_hash(part.content_hash),
        "spans": [list(span) for span in chunk.spans],
    }

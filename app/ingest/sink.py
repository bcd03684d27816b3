"""Embed chunks and write them into a collection, so that a kill at any moment does no harm."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.ingest.documents import TextChunk
from app.ingest.parts import PendingChunk, part_hash
from app.providers.embeddings.vectors import adocument_vectors
from app.providers.stores.layout import Point, indexed_text, sentence_texts
from graph.errors import EmbeddingUnavailable, RAGError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from app.providers.stores.chunk_store import ChunkStore

log = logging.getLogger("garden.ingest")


@dataclass(frozen=True, slots=True)
class Sink:
    """A collection to be written, and the model that embeds what is written.

    The order of writes makes a kill harmless: new chunks first, marked as parts; then the chunks of any other version
    are deleted; then the first chunk gets the document's hash. Without it the next run stores the document again. It
    does not get it while chunks are missing because another process stored another version in between.
    """

    store: ChunkStore
    embeddings: Embeddings
    model_name: str

    async def write(self, chunks: Sequence[PendingChunk]) -> None:
        """Embed and store *chunks* of one document or of many.

        Raises ``EmbeddingUnavailable`` when the model does not answer, and the store's errors.
        """
        points = await make_points(chunks, self.embeddings)
        last = {one.document.document_id: one for one in chunks if one.completes}
        known = await self.store.achunk_hashes(*last) if last else {}
        hashes = {its for one in last.values() for its in (one.content_hash, part_hash(one.content_hash))}
        older = {chunk_id for chunk_id, its in known.items() if its not in hashes}
        firsts = [
            replace(point, metadata={**point.metadata, "content_hash": one.content_hash})
            for one, point in zip(chunks, points, strict=True)
            if one.completes and _is_complete(one, points, known)
        ]
        later = set() if older else {point.chunk_id for point in firsts}  # these need not be written twice
        if rest := [point for point in points if point.chunk_id not in later]:
            await self.store.aupsert(rest)
        if stale := older - {point.chunk_id for point in points}:
            await self.store.adelete_chunks(sorted(stale))
        if firsts:
            await self.store.aupsert(firsts)


def _is_complete(first: PendingChunk, points: Sequence[Point], known: Mapping[str, str]) -> bool:
    """Tell whether with *points* all chunks of a document are stored; another writer may have replaced some."""
    own = {point.chunk_id for point in points if point.metadata["document_id"] == first.document.document_id}
    own |= {chunk_id for chunk_id, its in known.items() if its in (first.content_hash, part_hash(first.content_hash))}
    total = len(first.document.chunks)
    if len(own) < total:
        log.warning("document_incomplete", extra={"chunks": len(own), "of": total})
    return len(own) >= total


async def make_points(chunks: Sequence[PendingChunk], embeddings: Embeddings) -> list[Point]:
    """Embed *chunks* together and return their points in order, each marked as a part.

    Raises ``EmbeddingUnavailable`` when the model does not answer.
    """
    texts = [text for one in chunks for text in texts_of(one.document.title, one.chunk)]
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
    for one in chunks:
        after = at + 1 + len(one.chunk.spans)
        points.append(Point(one.chunk.chunk_id, one.chunk.text, _metadata(one), vectors[at], vectors[at + 1 : after]))
        at = after
    return points


def texts_of(title: str, chunk: TextChunk) -> list[str]:
    """Return all that is embedded of a chunk: its text below its headings, then its sentences."""
    text = indexed_text(title, chunk.text, chapter=chunk.chapter, section=chunk.section)
    return [text, *sentence_texts(chunk.text, chunk.spans)]


def _metadata(one: PendingChunk) -> dict[str, Any]:
    document, chunk = one.document, one.chunk
    return {
        **document.metadata,
        **document.model_dump(include={"document_id", "title", "url", "source"}),
        **chunk.model_dump(include={"chunk_id", "chapter", "section", "page", "chunk_index"}),
        "content_hash": part_hash(one.content_hash),
        "ingested_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "spans": [list(span) for span in chunk.spans],
    }

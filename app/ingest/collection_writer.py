"""Embed chunks and write them into a collection; a kill at any moment is harmless."""

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from langchain_core.embeddings import Embeddings

from app.ingest.documents import SplitDocument, TextChunk
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.layout import MODEL_FIELD, Point, embedded_points
from graph.errors import EmbeddingUnavailable, RAGError

LAYOUT = "3"
"""Part of every hash: raise it when chunks or points are made differently, and the next ingest stores all again."""
log = logging.getLogger("garden.ingest")


class PendingChunk(NamedTuple):
    """A chunk to be stored, with its document and the document's hash."""

    document: SplitDocument
    chunk: TextChunk
    content_hash: str


def pending_chunks(document: SplitDocument, content_hash: str) -> Iterator[PendingChunk]:
    """Yield the chunks of a document; the first one, which completes it, comes last."""
    for chunk in (*document.chunks[1:], document.chunks[0]):
        yield PendingChunk(document, chunk, content_hash)


def part_hash(document_hash: str) -> str:
    """Return the hash of a chunk that does not complete its document.

    The hash itself is on a complete document's first chunk alone: truncated and older documents are recognised.
    """
    return f"part of {document_hash}"


@dataclass(frozen=True, slots=True)
class CollectionWriter:
    """A collection to be written, and the model that embeds what is written.

    The order of writes makes a kill harmless: new chunks first, marked as parts; then other versions' chunks are
    deleted; then the first chunk gets the document's hash, unless another process replaced chunks in between. Without
    the hash the next run stores the document again.
    """

    store: ChunkStore
    embeddings: Embeddings
    model_name: str

    def content_hash(self, document: SplitDocument) -> str:
        """Hash texts, positions, metadata and layout of a document, as 64 hex digits; a collection has one model."""
        stored = document.model_dump_json(  # a touched file is the same
            exclude={"notes": True, "metadata": {"modified"}, "chunks": {"__all__": {"recognised"}}}
        )
        return hashlib.sha256(f"{LAYOUT}\n{stored}".encode()).hexdigest()

    async def write(self, chunks: Sequence[PendingChunk]) -> None:
        """Embed and store *chunks* of one document or of many.

        Raises ``EmbeddingUnavailable`` when the model does not answer, and the store's errors.
        """
        points = await _points(chunks, self.embeddings, self.model_name)
        last = {item.document.document_id: item for item in chunks if item.chunk.chunk_index == 0}
        stored = await self.store.achunk_hashes(*last) if last else {}
        hashes = {hash_ for item in last.values() for hash_ in (item.content_hash, part_hash(item.content_hash))}
        older = {chunk_id for chunk_id, hash_ in stored.items() if hash_ not in hashes}
        firsts = [
            replace(point, metadata={**point.metadata, "content_hash": item.content_hash})
            for item, point in zip(chunks, points, strict=True)
            if item.chunk.chunk_index == 0 and _is_complete(item, points, stored)
        ]
        later = set() if older else {point.chunk_id for point in firsts}  # these need not be written twice
        await self.store.aupsert([point for point in points if point.chunk_id not in later])
        if stale := older - {point.chunk_id for point in points}:
            await self.store.adelete_chunks(sorted(stale))
        await self.store.aupsert(firsts)


def _is_complete(first: PendingChunk, points: Sequence[Point], stored: Mapping[str, str]) -> bool:
    """Tell whether with *points* all chunks of a document are stored, despite concurrent writers."""
    ids = {point.chunk_id for point in points if point.metadata["document_id"] == first.document.document_id}
    hashes = (first.content_hash, part_hash(first.content_hash))
    ids |= {chunk_id for chunk_id, hash_ in stored.items() if hash_ in hashes}
    total = len(first.document.chunks)
    if len(ids) < total:
        log.warning("document_incomplete", extra={"chunks": len(ids), "of": total})
    return len(ids) >= total


async def _points(chunks: Sequence[PendingChunk], embeddings: Embeddings, model_name: str) -> list[Point]:
    """Embed *chunks* together and return their points in order, each marked as a part."""
    ids, texts = [item.chunk.chunk_id for item in chunks], [item.chunk.text for item in chunks]
    metadata = [{**_metadata(item), MODEL_FIELD: model_name} for item in chunks]
    try:
        return await embedded_points(ids, texts, metadata, embeddings, [item.chunk.spans for item in chunks])
    except RAGError:
        raise
    except Exception as error:  # each vendor has errors of its own; their words stay in the cause
        raise EmbeddingUnavailable("The embedding model did not embed the documents.") from error


def _metadata(item: PendingChunk) -> dict[str, Any]:
    document, chunk = item.document, item.chunk
    day = {"date": document.metadata["modified"]} if "modified" in document.metadata else {}
    return {
        **day,
        **document.metadata,
        **document.model_dump(include={"document_id", "title", "url", "source"}),
        **chunk.model_dump(include={"chapter", "section", "page", "chunk_index"}),
        **({"recognised": True} if chunk.recognised else {}),
        "content_hash": part_hash(item.content_hash),
        "ingested_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }

"""Embed chunks and write them into a collection; a kill at any moment is harmless."""

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from langchain_core.embeddings import Embeddings
from langchain_core.utils.iter import batch_iterate

from app.ingest.documents import SplitDocument
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.layout import MODEL_FIELD, Point, embedded
from graph.errors import EmbeddingUnavailable, RAGError

LAYOUT = "3"
"""Part of every hash: raise it when chunks or points are made differently, and the next ingest stores all again."""
BATCH_CHUNKS = 64
"""Chunks embedded and stored together; with their sentences a few hundred texts."""
log = logging.getLogger("garden.ingest")


def part_hash(document_hash: str) -> str:
    """Return the hash of a chunk that does not complete its document.

    The hash itself is on a complete document's first chunk alone: truncated and older documents are recognised.
    """
    return f"part of {document_hash}"


def is_complete(hash_: str) -> bool:
    """Tell whether the hash of a document's first chunk says that all its chunks are stored."""
    return bool(hash_) and not hash_.startswith(part_hash(""))


def completes(point: Point) -> bool:
    """Tell whether the point is the first chunk of a complete document."""
    return point.metadata.get("chunk_index") == 0 and is_complete(point.content_hash)


def as_part(point: Point) -> Point:
    """Return the point without the mark that completes its document."""
    if not completes(point):
        return point
    return replace(point, metadata={**point.metadata, "content_hash": part_hash(point.content_hash)})


def points_of(document: SplitDocument, content_hash: str, model_name: str) -> Iterator[Point]:
    """Yield the chunks of a document, not embedded; the first one, which completes it, comes last."""
    day = {"date": document.metadata["modified"]} if "modified" in document.metadata else {}
    shared = day | document.metadata | document.model_dump(include={"document_id", "title", "url", "source"})
    for chunk in (*document.chunks[1:], document.chunks[0]):
        metadata = {
            **shared,
            **chunk.model_dump(include={"chapter", "section", "page", "chunk_index", "chunk_id"}),
            **({"recognised": True} if chunk.recognised else {}),
            "content_hash": part_hash(content_hash) if chunk.chunk_index else content_hash,
            "ingested_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "spans": [list(span) for span in chunk.spans],
            MODEL_FIELD: model_name,
        }
        yield Point(chunk.chunk_id, chunk.text, metadata)


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

    async def write(
        self, documents: Sequence[SplitDocument], on_written: Callable[[int], None] = lambda _: None
    ) -> None:
        """Embed and store *documents*; *on_written* gets the number of chunks of each batch that was stored.

        Raises ``EmbeddingUnavailable`` when the model does not answer, and the store's errors.
        """
        totals = {document.document_id: len(document.chunks) for document in documents}
        hashed = ((document, self.content_hash(document)) for document in documents)
        points = (point for document, hash_ in hashed for point in points_of(document, hash_, self.model_name))
        for batch in batch_iterate(BATCH_CHUNKS, points):
            await self.write_batch(batch, totals)
            on_written(len(batch))

    async def write_batch(self, pending: Sequence[Point], totals: Mapping[str, int]) -> None:
        """Embed and store points of one document or of many; *totals* are the numbers of chunks of these documents."""
        try:
            points = await embedded(pending, self.embeddings)
        except RAGError:
            raise
        except Exception as error:  # each vendor has errors of its own; their words stay in the cause
            raise EmbeddingUnavailable("The embedding model did not embed the documents.") from error
        firsts = [point for point in points if completes(point)]
        stored = await self.store.achunk_hashes(*(point.document_id for point in firsts)) if firsts else {}
        hashes = {hash_ for point in firsts for hash_ in (point.content_hash, part_hash(point.content_hash))}
        older = {chunk_id for chunk_id, hash_ in stored.items() if hash_ not in hashes}
        complete = {
            point.chunk_id: point for point in firsts if _is_stored(point, points, stored, totals[point.document_id])
        }
        once = {} if older else complete  # these need not be written twice
        await self.store.aupsert([as_part(point) for point in points if point.chunk_id not in once])
        if stale := older - {point.chunk_id for point in points}:
            await self.store.adelete_chunks(sorted(stale))
        await self.store.aupsert(list(complete.values()))


def _is_stored(first: Point, points: Sequence[Point], stored: Mapping[str, str], total: int) -> bool:
    """Tell whether with *points* all chunks of a document are stored, despite concurrent writers."""
    ids = {point.chunk_id for point in points if point.document_id == first.document_id}
    hashes = (first.content_hash, part_hash(first.content_hash))
    ids |= {chunk_id for chunk_id, hash_ in stored.items() if hash_ in hashes}
    if len(ids) < total:
        log.warning("document_incomplete", extra={"chunks": len(ids), "of": total})
    return len(ids) >= total

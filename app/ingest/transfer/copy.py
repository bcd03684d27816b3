"""Copy points with their vectors into a store; an interrupted copy is completed by the next.

As in ingest (``app.ingest.collection_writer``) a document is complete when its first chunk has its hash. So all chunks
are written as parts, older versions deleted, then the first chunks written with their hashes. Complete equal documents
are skipped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.ingest.collection_writer import part_hash
from app.ingest.transfer.archive import Archive
from app.providers.embeddings.models import EmbeddingModel
from app.providers.embeddings.vectors import adocument_vectors
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.layout import Point
from graph.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did: documents stored, those that were stored before, and chunks written."""

    documents: int
    unchanged: int
    chunks: int


async def copy(
    source: ChunkStore | Archive,
    documents: dict[str, str],
    target: ChunkStore,
    embedding: EmbeddingModel,
    *,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Copied:
    """Write every point of *source* into *target*; *documents* is its document id → ``content_hash``.

    *on_progress* gets the number of chunks read. Raises ``ConfigurationError`` for another vector size; store errors.
    """
    stored = await target.adocuments()
    same = {id_ for id_, hash_ in documents.items() if is_complete(hash_) and stored.get(id_) == hash_}
    seen = written = 0

    async for points in source.apoints():
        if not seen:
            await check_size(points, embedding)
        seen += len(points)
        chosen = [as_part(point) for point in points if document_of_point(point) not in same]
        await target.aupsert(chosen)
        written += len(chosen)
        on_progress(seen)
    for document in documents.keys() & stored.keys() - same:
        hash_ = documents[document]
        if is_complete(hash_):
            hashes = await target.achunk_hashes(document)
            if older := [id_ for id_, stored_hash in hashes.items() if stored_hash not in (hash_, part_hash(hash_))]:
                await target.adelete_chunks(older)
    if written:
        async for points in source.apoints():
            completing = [point for point in points if document_of_point(point) not in same and _completes(point)]
            await target.aupsert(completing)
        await target.aoptimize()
    return Copied(len(documents) - len(same), len(same), written)


async def check_size(points: Sequence[Point], embedding: EmbeddingModel) -> None:
    """Raise ``ConfigurationError`` unless *embedding* makes vectors of the points' size."""
    (vector,) = await adocument_vectors(embedding.embeddings, ["Which size?"])
    if any(len(point.dense) != len(vector) for point in points):
        raise ConfigurationError(
            f"The vectors are not those that EMBEDDING_MODEL={embedding.name} makes: name the model the collection was "
            "filled with"
        )


def document_of_point(point: Point) -> str:
    """Return the document's id, "" without one."""
    return str(point.metadata.get("document_id", ""))


def is_complete(hash_: str) -> bool:
    """Tell whether the hash of a document's first chunk says that all its chunks are stored."""
    return bool(hash_) and not hash_.startswith(part_hash(""))


def _completes(point: Point) -> bool:
    """Tell whether the point is the first chunk of a complete document."""
    return point.metadata.get("chunk_index") == 0 and is_complete(str(point.metadata.get("content_hash") or ""))


def as_part(point: Point) -> Point:
    """Return the point without the mark that completes its document."""
    if not _completes(point):
        return point
    return replace(point, metadata={**point.metadata, "content_hash": part_hash(str(point.metadata["content_hash"]))})

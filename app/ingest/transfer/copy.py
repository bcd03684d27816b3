"""Copy a collection into another one, with its vectors or embedded anew; an interrupted run is completed by the next.

As in ingest (``app.ingest.collection_writer``) a document is complete when its first chunk has its hash. So all chunks
are written as parts, older versions deleted, then the first chunks written with their hashes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.ingest.collection_writer import as_part, completes, is_complete, part_hash
from app.ingest.transfer.archive import Archive
from app.providers.embeddings.models import EmbeddingModel
from app.providers.embeddings.vectors import adocument_vectors
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.layout import MODEL_FIELD, Point, embedded
from graph.errors import ConfigurationError

OnProgress = Callable[[int], None]
"""Gets the number of chunks read so far."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did: documents stored, those that were stored before, and chunks written."""

    documents: int
    unchanged: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What one pass did: documents of the source, chunks embedded, and chunks and documents deleted as outdated."""

    documents: int
    chunks: int
    deleted: int


async def copy(
    source: ChunkStore | Archive,
    documents: dict[str, str],
    target: ChunkStore,
    embedding: EmbeddingModel,
    *,
    on_progress: OnProgress = lambda _: None,
) -> Copied:
    """Write every point of *source* into *target*; *documents* is its document id → ``content_hash``.

    Complete equal documents are skipped. Raises ``ConfigurationError`` for another vector size; store errors.
    """
    stored = await target.adocuments()
    same = {id_ for id_, hash_ in documents.items() if is_complete(hash_) and stored.get(id_) == hash_}
    seen = written = 0

    async for points in source.apoints():
        if not seen:
            await check_size(points, embedding)
        seen += len(points)
        chosen = [as_part(point) for point in points if point.document_id not in same]
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
            await target.aupsert([point for point in points if point.document_id not in same and completes(point)])
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


async def reembed(
    source: ChunkStore, target: ChunkStore, model: EmbeddingModel, *, on_progress: OnProgress = lambda _: None
) -> Reembedded:
    """Embed every chunk of *source* that *target* lacks, and delete from *target* what *source* no longer has.

    A pass that did nothing found both equal. Raises what the stores and the model raise.
    """
    documents = await source.adocuments()
    stored = await target.adocuments()
    seen = written = 0
    kept: dict[str, str] = {}
    async for points in source.apoints():
        kept |= {point.chunk_id: point.document_id for point in points}
        new = [
            replace(point, metadata={**point.metadata, MODEL_FIELD: model.name})
            for point in await _lacking(target, points)
        ]
        await target.aupsert([as_part(point) for point in await embedded(new, model.embeddings)])
        seen, written = seen + len(points), written + len(new)
        on_progress(seen)
    deleted = await target.adelete_documents(sorted(stored.keys() - documents.keys()))
    changed = [id_ for id_ in stored.keys() & documents.keys() if stored[id_] != documents[id_]]
    for document in changed:
        outdated = [id_ for id_ in await target.achunk_hashes(document) if kept.get(id_) != document]
        deleted += await target.adelete_chunks(outdated) if outdated else 0
    if written or changed:
        async for points in target.apoints():
            await target.aupsert([now for point in points for now in _completed(point, documents)])
    return Reembedded(len(documents), written, deleted)


async def _lacking(target: ChunkStore, points: Sequence[Point]) -> list[Point]:
    """Return the points that *target* does not hold as they are."""
    hashes = await target.achunk_hashes(*{point.document_id for point in points})
    return [
        point
        for point in points
        if not point.content_hash
        or hashes.get(point.chunk_id) not in (point.content_hash, part_hash(point.content_hash))
    ]


def _completed(point: Point, documents: Mapping[str, str]) -> Iterator[Point]:
    """Yield the first chunk of a complete document with the document's hash, if it is marked as a part."""
    hash_ = documents.get(point.document_id, "")
    if point.metadata.get("chunk_index") == 0 and is_complete(hash_) and point.content_hash == part_hash(hash_):
        yield replace(point, metadata={**point.metadata, "content_hash": hash_})

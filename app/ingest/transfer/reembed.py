"""Embed a stored collection anew into another one; a run that was killed is continued by the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.embeddings import Embeddings

from answering.text.sentences import sentence_spans
from app.ingest.collection_writer import part_hash
from app.ingest.transfer.copy import as_part, document_of_point, is_complete
from app.providers.embeddings.models import EmbeddingModel
from app.providers.embeddings.vectors import agrouped_vectors
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.layout import MODEL_FIELD, Point, indexed_text


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What one pass did: documents of the source, chunks embedded, and chunks and documents deleted as outdated."""

    documents: int
    chunks: int
    deleted: int


async def reembed(
    source: ChunkStore,
    target: ChunkStore,
    model: EmbeddingModel,
    *,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Reembedded:
    """Embed every chunk of *source* that *target* lacks, and delete from *target* what *source* no longer has.

    A document's first chunk gets the document's hash when all its chunks are stored. *on_progress* gets the number of
    chunks read. A pass that did nothing found both equal. Raises what the stores and the model raise.
    """
    documents = await source.adocuments()
    stored = await target.adocuments()
    seen = written = 0
    kept: dict[str, str] = {}
    async for points in source.apoints():
        kept |= {point.chunk_id: document_of_point(point) for point in points}
        new = await _lacking(target, points)
        await target.aupsert([as_part(point) for point in await _embedded(new, model.embeddings, model.name)])
        seen, written = seen + len(points), written + len(new)
        on_progress(seen)
    deleted = await target.adelete_documents(sorted(stored.keys() - documents.keys()))
    changed = [id_ for id_ in stored.keys() & documents.keys() if stored[id_] != documents[id_]]
    for document in changed:
        outdated = [id_ for id_ in await target.achunk_hashes(document) if kept.get(id_) != document]
        deleted += await target.adelete_chunks(outdated) if outdated else 0
    if written or changed:
        async for points in target.apoints():
            await target.aupsert([_completed(point, documents) for point in points if _is_first(point, documents)])
    return Reembedded(len(documents), written, deleted)


async def _lacking(target: ChunkStore, points: Sequence[Point]) -> list[Point]:
    """Return the points that *target* does not hold as they are."""
    hashes = await target.achunk_hashes(*{document_of_point(point) for point in points})
    return [
        point
        for point in points
        if hashes.get(point.chunk_id) not in (hash_of(point), part_hash(hash_of(point))) or not hash_of(point)
    ]


def hash_of(point: Point) -> str:
    """Return the hash that is stored with the chunk, "" without one."""
    return str(point.metadata.get("content_hash") or "")


async def _embedded(points: Sequence[Point], embeddings: Embeddings, name: str) -> list[Point]:
    """Return the points with vectors of another model, and its name."""
    spans = [point.metadata.get("spans") or sentence_spans(point.text) for point in points]
    texts = [
        [indexed_text(point.metadata, point.text), *(point.text[start:end] for start, end in offsets)]
        for point, offsets in zip(points, spans, strict=True)
    ]
    vectors = await agrouped_vectors(embeddings, texts)
    return [
        replace(point, dense=rows[0], sentences=rows[1:], metadata={**point.metadata, MODEL_FIELD: name})
        for point, rows in zip(points, vectors, strict=True)
    ]


def _is_first(point: Point, documents: Mapping[str, str]) -> bool:
    """Tell whether the point is the first chunk of a complete document, still marked as a part."""
    hash_ = documents.get(document_of_point(point), "")
    return point.metadata.get("chunk_index") == 0 and is_complete(hash_) and hash_of(point) == part_hash(hash_)


def _completed(point: Point, documents: Mapping[str, str]) -> Point:
    return replace(point, metadata={**point.metadata, "content_hash": documents[document_of_point(point)]})

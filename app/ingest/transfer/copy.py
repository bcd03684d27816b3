"""Points from any source into any store, vectors and all; harmless to kill at any moment, and the next run goes on.

As in ingest (``app.ingest.sink``) a document is complete when its first chunk carries its hash. So first every chunk
goes in, that one marked as a part, and older versions of the documents go out; then the first chunks come once more,
with their hashes. Documents that the target holds complete and with the same hash are passed over.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from app.ingest.identify import part_hash
from app.providers.embeddings.vectors import adocument_vectors, unit
from app.providers.stores.hybrid import ChunkStore
from app.providers.stores.layout import Point, indexed_text, indexed_text_of, sentence_texts
from app.providers.stores.payloads import chunk_from_payload
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    from app.providers.embeddings.models import EmbeddingModel

PART = part_hash("")
ALIKE = 0.98
"""Least cosine of a stored vector with the same text embedded again: arithmetic differs a little, models much."""
SAMPLE = 4
"""Chunks embedded again to see whether the model is the right one."""


class Source(Protocol):
    """Where points come from. ``apoints`` may be asked for more than once."""

    def apoints(self) -> AsyncIterator[list[Point]]:
        """Every point, page by page."""
        ...


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did: documents put there, those that were there, and chunks written."""

    documents: int
    unchanged: int
    chunks: int


async def copy(
    source: Source,
    documents: dict[str, str],
    target: ChunkStore,
    embedding: EmbeddingModel,
    *,
    sentences: bool = True,
    told: Callable[[int], None] = lambda _: None,
) -> Copied:
    """Bring every point of *source* into *target*; *documents* is its document id -> ``content_hash``.

    With *sentences*, vectors of sentences that the source does not hold are made. *told* hears of the chunks gone
    through. Raises ``ConfigurationError`` when the vectors are not those of *embedding*, and the store's errors.
    """
    stored = await target.adocuments()
    same = {one for one, hash_ in documents.items() if _complete(hash_) and stored.get(one) == hash_}
    seen = written = 0
    async for points in source.apoints():
        if not seen:
            await check_model(points, embedding)
        seen += len(points)
        chosen = [_as_part(point) for point in points if _document(point) not in same]
        if chosen:
            await target.aupsert(await _with_sentences(chosen, embedding) if sentences else chosen)
        written += len(chosen)
        told(seen)
    for document in documents.keys() & stored.keys() - same:
        await _remove_older(target, document, documents[document])
    if written:
        async for points in source.apoints():
            firsts = [point for point in points if _document(point) not in same and _marks(point)]
            if firsts:
                await target.aupsert(await _with_sentences(firsts, embedding) if sentences else firsts)
        await target.aflush()
        await target.aoptimize()
    return Copied(len(documents) - len(same), len(same), written)


async def check_model(points: Sequence[Point], embedding: EmbeddingModel) -> None:
    """Raise ``ConfigurationError`` unless all the vectors have the size, and a few of them the direction, of those that
    *embedding* makes.
    """
    some = [point for point in points if point.text.strip()][:SAMPLE]
    titled = [indexed_text(str(point.metadata.get("title") or ""), point.text) for point in some]
    placed = [indexed_text_of(point.metadata, point.text) for point in some]
    plain = [point.text for point in some]  # other pipelines embed the text alone, older collections its title too
    made = await adocument_vectors(embedding.embeddings, [*placed, *titled, *plain] or ["Which size?"])
    if any(len(point.dense) != made.shape[1] for point in points):
        raise _another_model(embedding)
    for at, point in enumerate(some):
        known = unit(point.dense)
        ways = made[[at, len(some) + at, 2 * len(some) + at]]
        if float(np.max(ways @ known)) < ALIKE:
            raise _another_model(embedding)


def _another_model(embedding: EmbeddingModel) -> ConfigurationError:
    return ConfigurationError(
        f"The vectors are not those that EMBEDDING_MODEL={embedding.name} makes: name the model the collection was "
        "filled with"
    )


async def _with_sentences(points: Sequence[Point], embedding: EmbeddingModel) -> list[Point]:
    """The points, with vectors for the sentences of those that have none."""
    spans = [() if len(point.sentences) else _spans(point) for point in points]
    texts = [text for point, some in zip(points, spans, strict=True) for text in sentence_texts(point.text, some)]
    if not texts:
        return list(points)
    rows, made, at = await adocument_vectors(embedding.embeddings, texts), [], 0
    for point, some in zip(points, spans, strict=True):
        made.append(replace(point, sentences=rows[at : at + len(some)]) if some else point)
        at += len(some)
    return made


def _spans(point: Point) -> tuple[tuple[int, int], ...]:
    return chunk_from_payload(point.chunk_id, {"text": point.text, "spans": point.metadata.get("spans")}).spans


async def _remove_older(target: ChunkStore, document: str, hash_: str) -> None:
    """Delete the chunks of another version of a document that is being replaced."""
    if not _complete(hash_):
        return
    known = await target.achunk_hashes(document)
    older = [chunk for chunk, its in known.items() if its not in (hash_, part_hash(hash_))]
    if older:
        await target.adelete_chunks(older)


def _document(point: Point) -> str:
    return str(point.metadata.get("document_id", ""))


def _complete(hash_: str) -> bool:
    return bool(hash_) and not hash_.startswith(PART)


def _marks(point: Point) -> bool:
    """Whether the point is the first chunk that says its document is complete."""
    return point.metadata.get("chunk_index") == 0 and _complete(str(point.metadata.get("content_hash") or ""))


def _as_part(point: Point) -> Point:
    if not _marks(point):
        return point
    return replace(point, metadata={**point.metadata, "content_hash": part_hash(str(point.metadata["content_hash"]))})

"""The parts of a stored chunk, and what is indexed of it."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.embeddings import Embeddings

from answering.text.sentences import Span, sentence_spans
from app.providers.embeddings.vectors import Vectors, agrouped_vectors
from app.providers.stores.hybrid import document_weights

MODEL_FIELD = "embedding_model"
"""Metadata of a chunk: which model its vectors are of."""


def model_of(metadata: Mapping[str, Any]) -> str:
    """Return the name of the model that made a chunk's vectors; "" where its metadata does not say."""
    return str(metadata.get(MODEL_FIELD) or "")


CONTENT, METADATA = "page_content", "metadata"
"""The payload's fields, as langchain-qdrant names them."""
_CHUNKS = uuid.UUID("5b0c7b5e-51d5-5c55-9c0e-8a6f0f2f1d3a")


@dataclass(frozen=True, slots=True)
class Point:
    """One chunk, ready to be stored.

    ``metadata`` holds chunk_id, document_id, title, url, chapter, section, page, chunk_index, source, content_hash and
    ``spans``, the sentences of ``text`` as [start, end] in Unicode code points; any other JSON value is allowed.
    ``dense`` is float32 [d], the vector of ``indexed_text``; ``sentences`` is float32 [n_spans, d], or
    [0, d] where a store keeps none. ``sparse`` holds the BM25 weights by dimension; None: those of ``indexed_text``.
    """

    chunk_id: str
    text: str
    metadata: dict[str, Any]
    dense: Vectors
    sentences: Vectors
    sparse: Mapping[int, float] | None = None

    @property
    def payload(self) -> dict[str, Any]:
        """What is stored beside the vectors, as langchain-qdrant stores it."""
        return {CONTENT: self.text, METADATA: self.metadata}

    def weights(self) -> Mapping[int, float]:
        """Return ``sparse``, or compute it."""
        return document_weights(indexed_text(self.metadata, self.text)) if self.sparse is None else self.sparse


def point_id(chunk_id: str) -> str:
    """The id of a chunk on a server: its version 5 UUID (RFC 9562)."""
    return str(uuid.uuid5(_CHUNKS, chunk_id))


def indexed_text(metadata: Mapping[str, Any], text: str) -> str:
    """Return what both channels index of a chunk with this metadata: ``title. chapter. section. text``.

    Left out is what the chunk lacks, and a name that repeats one before it or a line of the text (a heading).
    """
    path = [str(metadata["title"])] if metadata.get("title") else []
    lines = f"\n{text}\n"
    for name in (metadata.get("chapter"), metadata.get("section")):
        if isinstance(name, str) and name and name not in path and f"\n{name}\n" not in lines:
            path.append(name)
    return ". ".join([*path, text])


async def embedded_points(
    ids: Sequence[str],
    texts: Sequence[str],
    metadata: Sequence[Mapping[str, Any]],
    embedding: Embeddings,
    spans: Sequence[Sequence[Span]] = (),
) -> list[Point]:
    """Embed texts and their sentences; *spans* are each text's sentences, if known."""
    spans = spans or [sentence_spans(text) for text in texts]
    rows = list(zip(ids, texts, metadata, spans, strict=True))
    groups = [[indexed_text(of, text), *(text[start:end] for start, end in offsets)] for _, text, of, offsets in rows]
    points = []
    for (chunk_id, text, of, offsets), vectors in zip(rows, await agrouped_vectors(embedding, groups), strict=True):
        stored = {**of, "chunk_id": chunk_id, "spans": [list(span) for span in offsets]}
        points.append(Point(chunk_id, text, stored, vectors[0], vectors[1:]))
    return points

"""The parts of a stored chunk, and what is indexed of it."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from answering.text.sentences import sentence_spans
from app.providers.embeddings.vectors import Vectors, agrouped_vectors
from app.providers.stores.hybrid import document_weights

MODEL_FIELD = "embedding_model"
"""Metadata of a chunk: which model its vectors are of."""


CONTENT, METADATA = "page_content", "metadata"
"""The payload's fields, as langchain-qdrant names them."""
_CHUNKS = uuid.UUID("5b0c7b5e-51d5-5c55-9c0e-8a6f0f2f1d3a")


@dataclass(frozen=True, slots=True)
class Point:
    """One chunk, to be embedded or as it is stored.

    ``metadata`` holds chunk_id, document_id, title, url, chapter, section, page, chunk_index, source, content_hash and
    ``spans``, the sentences of ``text`` as [start, end] in Unicode code points; any other JSON value is allowed.
    ``dense`` is float32 [d], the vector of ``indexed_text``; ``sentences`` is float32 [n_spans, d], or
    [0, d] where a store keeps none. ``sparse`` holds the BM25 weights by dimension; None: those of ``indexed_text``.
    """

    chunk_id: str
    text: str
    metadata: dict[str, Any]
    dense: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    sentences: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    sparse: Mapping[int, float] | None = None

    @property
    def document_id(self) -> str:
        """The id of its document, "" without one."""
        return str(self.metadata.get("document_id") or "")

    @property
    def content_hash(self) -> str:
        """The hash that is stored with the chunk, "" without one."""
        return str(self.metadata.get("content_hash") or "")

    @property
    def payload(self) -> dict[str, Any]:
        """What is stored beside the vectors, as langchain-qdrant stores it."""
        return {CONTENT: self.text, METADATA: self.metadata}

    def weights(self) -> Mapping[int, float]:
        """Return ``sparse``, or compute it."""
        return document_weights(indexed_text(self.metadata, self.text)) if self.sparse is None else self.sparse


async def embedded(points: Sequence[Point], embedding: Embeddings) -> list[Point]:
    """Return the points with the vectors of their texts and of their sentences, which are found where not known."""
    groups = []
    for point in points:
        spans = point.metadata.get("spans")
        offsets = sentence_spans(point.text) if spans is None else spans
        sentences = [point.text[start:end] for start, end in offsets]
        groups.append([indexed_text(point.metadata, point.text), *sentences])
    rows = await agrouped_vectors(embedding, groups)
    return [replace(point, dense=row[0], sentences=row[1:]) for point, row in zip(points, rows, strict=True)]


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

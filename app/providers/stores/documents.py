"""LangChain documents into points and back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

from app.providers.embeddings.vectors import Vectors
from app.providers.stores.layout import Point, indexed_text_of, sentence_texts
from app.providers.stores.payloads import chunk_from_payload, metadata_of, text_of
from graph.sentences import sentence_spans

_OURS = ("chunk_id", "spans")
"""Metadata a document does not show: its id, and what follows from its text."""


class Unembedded:
    """Documents on their way to be stored: ``texts`` is what must be embedded, ``points`` puts the vectors in place.

    The chunk id of a document is the one given in ``ids``, else its own id, else a new UUID. Raises ``ValueError`` when
    the numbers of ids and documents differ.
    """

    def __init__(self, documents: Sequence[Document], ids: Sequence[str | None] | None = None) -> None:
        given = ids if ids is not None else [document.id for document in documents]
        if len(given) != len(documents):
            raise ValueError(f"{len(documents)} documents, but {len(given)} ids")
        self.ids = [one or str(uuid.uuid4()) for one in given]
        self._documents = documents
        self._spans = [sentence_spans(document.page_content) for document in documents]
        self.texts: list[str] = []
        for document, spans in zip(documents, self._spans, strict=True):
            self.texts.append(indexed_text_of(document.metadata, document.page_content))
            self.texts.extend(sentence_texts(document.page_content, spans))

    def points(self, vectors: Vectors) -> list[Point]:
        """The points; ``vectors`` is float32 [len(texts), d]."""
        points, at = [], 0
        for chunk_id, document, spans in zip(self.ids, self._documents, self._spans, strict=True):
            metadata = {**document.metadata, "chunk_id": chunk_id, "spans": [list(span) for span in spans]}
            after = at + 1 + len(spans)
            points.append(Point(chunk_id, document.page_content, metadata, vectors[at], vectors[at + 1 : after]))
            at = after
        return points


def document_from_payload(point_id: str, payload: Mapping[str, Any] | None) -> Document:
    """The document of a stored point; its id is the chunk's."""
    metadata = {name: value for name, value in metadata_of(payload).items() if name not in _OURS}
    chunk = chunk_from_payload(point_id, payload)
    return Document(id=chunk.chunk_id, page_content=text_of(payload), metadata=metadata)

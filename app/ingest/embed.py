"""Embed parts of documents: the vectors of every chunk and of every sentence, many texts at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.ingest.documents import TextChunk
from app.ingest.identify import part_hash
from app.ingest.parts import Part
from app.providers.embeddings.vectors import adocument_vectors
from app.providers.stores.layout import Point, indexed_text, sentence_texts
from graph.errors import EmbeddingUnavailable, RAGError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


async def make_points(parts: Sequence[Part], embeddings: Embeddings) -> list[Point]:
    """Embed the chunks of ``parts`` together and return their points in order, each marked as a part.

    Raises ``EmbeddingUnavailable`` when the model does not answer.
    """
    texts = [text for part in parts for text in texts_of(part.document.title, part.chunks)]
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
    for part in parts:
        for chunk in part.chunks:
            after = at + 1 + len(chunk.spans)
            metadata = _metadata(part, chunk)
            points.append(Point(chunk.chunk_id, chunk.text, metadata, vectors[at], vectors[at + 1 : after]))
            at = after
    return points


def texts_of(title: str, chunks: Sequence[TextChunk]) -> list[str]:
    """Return all that is embedded of some chunks of a document: each chunk, followed by its sentences."""
    texts: list[str] = []
    for chunk in chunks:
        texts.append(indexed_text(title, chunk.text, chapter=chunk.chapter, section=chunk.section))
        texts += sentence_texts(chunk.text, chunk.spans)
    return texts


def _metadata(part: Part, chunk: TextChunk) -> dict[str, Any]:
    document = part.document
    return {
        **document.metadata,
        "chunk_id": chunk.chunk_id,
        "document_id": document.document_id,
        "title": document.title,
        "url": document.url,
        "chapter": chunk.chapter,
        "section": chunk.section,
        "page": chunk.page,
        "chunk_index": chunk.chunk_index,
        "source": document.source,
        "content_hash": part_hash(part.content_hash),
        "spans": [list(span) for span in chunk.spans],
    }

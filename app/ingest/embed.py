"""Parts of documents → points: the vectors of every chunk and of every sentence, many texts at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.ingest.documents import Part, TextChunk
from app.ingest.identify import part_hash
from app.providers.embeddings.vectors import adocument_vectors
from app.providers.stores.layout import Point, indexed_text, sentence_texts
from graph.errors import EmbeddingUnavailable, RAGError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from app.providers.embeddings.vectors import Vectors


async def make_points(parts: Sequence[Part], embeddings: Embeddings) -> list[Point]:
    """Embed the chunks of ``parts`` together and return their points, in order, each marked as part of its document.

    Raises ``EmbeddingUnavailable`` when the model does not answer.
    """
    pairs = [(part, chunk) for part in parts for chunk in part.chunks]
    texts = [text for part in parts for text in texts_of(part.document.title, part.chunks)]
    vectors = await _vectors(texts, embeddings)
    points: list[Point] = []
    at = 0
    for part, chunk in pairs:
        after = at + 1 + len(chunk.spans)
        points.append(Point(chunk.chunk_id, chunk.text, _metadata(part, chunk), vectors[at], vectors[at + 1 : after]))
        at = after
    return points


def texts_of(title: str, chunks: Sequence[TextChunk]) -> list[str]:
    """All that is embedded of some chunks of a document: each chunk, followed by its sentences."""
    return [text for chunk in chunks for text in (_indexed(title, chunk), *sentence_texts(chunk.text, chunk.spans))]


def _indexed(title: str, chunk: TextChunk) -> str:
    return indexed_text(title, chunk.text, chapter=chunk.chapter, section=chunk.section)


async def _vectors(texts: Sequence[str], embeddings: Embeddings) -> Vectors:
    try:
        vectors = await adocument_vectors(embeddings, texts)
    except RAGError:
        raise
    except Exception as error:  # each vendor has errors of its own; their words stay in the cause
        raise EmbeddingUnavailable("The embedding model did not embed the documents.") from error
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise EmbeddingUnavailable("The embedding model did not give one vector for each text.")
    return vectors


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

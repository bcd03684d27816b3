"""Search the chunks nearest to a query and assemble a context from them (contract, Search API)."""

import time
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from answering.types import Chunk, Question
from app.settings import Settings
from graph.errors import InvalidInput
from graph.nodes.search import query_text, scope
from graph.ports import Retriever

MIN_K, MAX_K = 3, 8
"""``k`` is clamped to this range here, and only here."""


class SearchHit(BaseModel):
    """One chunk. ``score`` is the cosine of query and chunk, as measured."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)

    source_url: str | None = Field(validation_alias=AliasChoices("source_url", "url"))
    chapter: str | None
    section: str | None
    chunk_index: int | None
    title: str
    score: float = Field(validation_alias=AliasChoices("score", "similarity"))
    text: str
    chunk_id: str
    document_id: str
    page: int | None = None


class SearchResults(BaseModel):
    """The query, ``k`` as clamped, the hits by similarity, and the assembled context."""

    query: str
    k: int
    results: list[SearchHit]
    context: str


async def search(
    retriever: Retriever,
    settings: Settings,
    query: str,
    k: int,
    source: Any = None,
    filters: Any = None,
    collection: str | None = None,
) -> SearchResults:
    """Return the *k* best chunks for *query*, highest similarity first; no score is too low.

    *source*, *filters* and *collection* narrow the search as in a question.

    Both channels, dense and BM25, decide which are best; no result means an empty collection. Raises ``InvalidInput``
    for an invalid query or *k*, ``CollectionMissing``, ``StoreUnavailable`` or ``EmbeddingUnavailable``.
    """
    text = query_text(query, settings.max_query_chars)
    if type(k) is not int:
        raise InvalidInput("k must be an integer.", "k")
    k = clamped(k)
    now = time.monotonic()
    where, deadline = scope(source, filters), now + settings.request_timeout_seconds
    question = Question(text, (text,), k, None, where, now, deadline, collection)
    (results,) = await retriever.retrieve(question)
    chunks = sorted(results.chunks[:k], key=lambda c: -c.similarity)
    hits = [SearchHit.model_validate(c).model_copy(update={"source_url": c.url or c.source}) for c in chunks]
    return SearchResults(query=text, k=k, results=hits, context=assemble(chunks))


def clamped(k: int) -> int:
    return max(MIN_K, min(MAX_K, k))


def assemble(chunks: list[Chunk]) -> str:
    """Join the chunks to one context, each set apart with its metadata."""
    blocks = []
    for rank, chunk in enumerate(chunks, 1):
        metadata = {
            "source": chunk.url or chunk.source,
            "chapter": chunk.chapter,
            "section": chunk.section,
            "page": chunk.page,
            "score": f"{chunk.similarity:.4f}",
        }
        lines = [f"{name}: {value}" for name, value in metadata.items() if value is not None]
        blocks.append("\n".join([f"--- [{rank}] {chunk.title} ---", *lines, "", chunk.text]))
    return "\n\n".join(blocks)

"""The interface of every vector store: hybrid search for retrieval, and what ingest needs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from app.providers.stores.layout import Point
from graph.errors import InvalidInput
from graph.state import Chunk

Where = Mapping[str, Any] | None
"""A filter: ``{field: value}``, all of which must hold; a list of values means any of them.

``source`` also matches the names that other pipelines give it.
"""
Value = str | int | None
SOURCES = ("source", "source_doc", "source_url")
SIMILARITY_SHARE = 0.7
"""Weight of the cosine in the order of the candidates; the rest is BM25's."""


@dataclass(frozen=True, slots=True)
class HybridQuery:
    """One question: its unit vector, float32 [d], and the BM25 dimensions of its stems.

    Of the candidates the caller keeps only the best ``keep`` by cosine and BM25, weighted; None: all of them.
    """

    dense: NDArray[np.float32]
    terms: tuple[int, ...]
    keep: int | None = None


class Candidate(NamedTuple):
    """A stored chunk with its unit vector, float32 [d], and its BM25 weights by dimension.

    Either is None where the store has none. ``chunk`` carries no score, except that without ``dense`` its
    ``similarity`` is the cosine the store measured. ``key`` is the store's own id of this version of the chunk.
    ``sentences``, float32 [n_spans, d], are the unit vectors of its sentences where the search returned them.
    ``payload`` is the stored text and metadata (``app.providers.stores.payloads``).
    """

    key: Hashable
    chunk: Chunk
    dense: NDArray[np.float32] | None = None
    sparse: Mapping[int, float] | None = None
    sentences: NDArray[np.float32] | None = None
    payload: Mapping[str, Any] | None = None


class DocumentSummary(NamedTuple):
    """The title of a stored document (its id where it has none) and the number of its chunks."""

    title: str
    chunks: int


@dataclass(frozen=True, slots=True)
class HybridHits:
    """Per query what both channels found, in no order; ``idf`` per dimension, empty without a sparse channel."""

    candidates: list[list[Candidate]]
    idf: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Condition:
    """One of ``fields`` has one of ``values``; None is "absent or null"; without values nothing matches."""

    fields: tuple[str, ...]
    values: tuple[Value, ...]


def conditions(where: Where) -> list[Condition]:
    """Read a filter.

    Raises ``InvalidInput``, naming the field, for a value other than a string, an integer or null, and for a name with
    a quotation mark.
    """
    found = []
    for name, value in (where or {}).items():
        values = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
        if any(isinstance(one, bool) or not isinstance(one, str | int | None) for one in values):
            raise InvalidInput("A filter compares with text, whole numbers or null.", field=name)
        if '"' in name:
            raise InvalidInput("A field with a quotation mark in its name cannot be filtered by.", field=name)
        found.append(Condition(SOURCES if name == SOURCES[0] else (name,), values))
    return found


class HybridStore(Protocol):
    """A store that is searched in both channels at once. Both methods may raise ``StoreUnavailable``."""

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """Search ``limit`` chunks per channel and query, among those whose metadata has the values of ``where``.

        A store may leave out what is not among the best that the query keeps.
        ``idf`` is ``ln(1 + (N - n + .5) / (n + .5))`` over the whole collection, for every term of every query.
        Raises ``CollectionMissing``, or ``StoreUnavailable`` when the vectors' size is not the collection's.
        """
        ...

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """Per ``key`` the unit vectors of the chunk's sentences, float32 [n_spans, d], for those stored with them."""
        ...


class ChunkStore(HybridStore, Protocol):
    """A collection of chunks. Every method may raise ``StoreUnavailable``."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the collection was found to lack so far, as logged: ``no_sparse_vectors``, ``no_sentence_vectors``."""
        ...

    async def aupsert(self, points: Sequence[Point]) -> None:
        """Store the points, replacing those of the same chunk id; the first call creates the collection.

        Raises ``ConfigurationError`` when the vectors' size is not the collection's.
        """
        ...

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        """Delete every chunk of these documents; return how many chunks were deleted."""
        ...

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        """Delete these chunks; return how many there were."""
        ...

    async def adocuments(self) -> dict[str, str]:
        """Return document id -> ``content_hash`` of its first chunk ("" where it has none), for all that is stored."""
        ...

    async def asummaries(self) -> dict[str, DocumentSummary]:
        """Return document id -> its summary, for all that is stored; chunks without a document are under ""."""
        ...

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        """Return chunk id -> ``content_hash`` ("" where it has none) for the stored chunks of these documents."""
        ...

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Return chunk id -> document id ("" where it has none) for those of these chunks that are stored."""
        ...

    async def acount(self) -> int:
        """Return the number of stored chunks; 0 for a collection not created yet."""
        ...

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the chunks with these ids, in that order; those that are not stored are left out."""
        ...

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the ``k`` chunks nearest to a text that pass ``filter=``, with their cosines, highest first."""
        ...

    def apoints(self) -> AsyncIterator[list[Point]]:
        """Yield every stored chunk with its vectors, page by page, each once; in no defined order."""
        ...

    async def aflush(self) -> None:
        """Return when everything acknowledged so far is on disk."""
        ...

    async def aoptimize(self) -> None:
        """Return when the indexes are built; searches before that are exact, only slower."""
        ...

    async def aprobe(self) -> None:
        """Return if a search would work now; raise ``StoreUnavailable`` or ``CollectionMissing`` if not."""
        ...

    async def aclose(self) -> None:
        """Close the collection; a second call does nothing."""
        ...

    def close(self) -> None:
        """``aclose`` for callers without an event loop."""
        ...

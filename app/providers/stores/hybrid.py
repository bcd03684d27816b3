"""Hybrid search of a store: interface, queries, filters, results, and BM25 as sparse vectors.

A stored weight is the part of BM25 that depends on the document alone, so ``sum(weight * idf)`` over a question's
stems is BM25 (Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework"); the store supplies the idf
(Qdrant: ``Modifier.IDF``). A stem's dimension is the absolute value of its signed 32-bit MurmurHash3, as in Qdrant's
and fastembed's BM25, whose collections can be searched too.
"""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import mmh3

from answering.text.terms import stems
from answering.types import Chunk
from app.providers.embeddings.vectors import Vectors
from app.providers.stores.filters import NAMES, SOURCES, Scalar, Where, nearest
from graph.errors import InvalidInput, UnknownSource

SIMILARITY_SHARE = 0.7
"""Weight of the cosine in the order of the candidates; the rest is BM25's."""
K1 = 0.9
"""Saturation of a term's frequency."""
B = 0.4
"""How much a chunk's length counts."""
AVERAGE_STEMS = 80.0
"""Length, in stems, of the chunk for which length changes nothing. Fixed, so that a stored weight never ages."""
INTERNAL_FIELDS = {"spans", "content_hash", "chunk_id", "chunk_index"}
"""Metadata fields that are no use to filter by, and are not named to callers."""


@dataclass(frozen=True, slots=True)
class HybridQuery:
    """One question: its unit vector, float32 [d], and the BM25 dimensions of its stems.

    Of the candidates the caller keeps only the best ``keep`` by cosine and BM25, weighted; None: all of them.
    """

    dense: Vectors
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
    dense: Vectors | None = None
    sparse: Mapping[int, float] | None = None
    sentences: Vectors | None = None
    payload: Mapping[str, Any] | None = None


class DocumentSummary(NamedTuple):
    """A stored document's title (or id), number of chunks and time of ingest.

    ``content_hash`` is that of its first chunk, "" without one; ``ingested_at`` is UTC, ISO 8601, where it is known.
    """

    title: str
    chunks: int
    content_hash: str = ""
    ingested_at: str | None = None


def summary(document_id: str, chunks: int, first: Mapping[str, Any]) -> DocumentSummary:
    """Return the summary of a document whose first chunk has the metadata *first*."""
    title, content_hash = str(first.get("title") or document_id), str(first.get("content_hash") or "")
    ingested_at = first.get("ingested_at")
    return DocumentSummary(title, chunks, content_hash, ingested_at if isinstance(ingested_at, str) else None)


@dataclass(frozen=True, slots=True)
class HybridHits:
    """Candidates of both channels per query, unordered; ``idf`` per dimension, empty without BM25."""

    candidates: list[list[Candidate]]
    idf: dict[int, float] = field(default_factory=dict)


class HybridStore(Protocol):
    """A store that is searched in both channels at once. All methods may raise ``StoreUnavailable``."""

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """Return the best ``limit`` chunks per channel and query that pass ``where``.

        A store may leave out what is not among the best that the query keeps.
        ``idf`` is ``ln(1 + (N - n + .5) / (n + .5))`` over the whole collection, for every term of every query.
        Raises ``CollectionMissing``, or ``StoreUnavailable`` when the vectors' size is not the collection's.
        """

    async def arequire(self, where: Where, *, found: bool) -> None:
        """Raise ``UnknownSource`` or ``InvalidInput`` where *where* names a source or a field that no chunk has.

        *found*: a search with this filter found chunks.
        """


class ScopedStore(HybridStore, ABC):
    """A store that can say what its chunks' metadata hold. All methods may raise ``StoreUnavailable``."""

    @abstractmethod
    async def asummaries(self) -> dict[str, DocumentSummary]:
        """Return document id -> its summary; "" is for chunks without a document."""

    @abstractmethod
    async def ahas(self, where: Where) -> bool:
        """Tell whether any chunk passes the filter."""

    @abstractmethod
    async def afield_names(self) -> set[str]:
        """Return the names of the metadata fields that chunks have; of a large collection on a server, of some."""

    @abstractmethod
    async def avalues(self, fields: Sequence[str]) -> set[Scalar]:
        """Return the distinct values that chunks have in these metadata fields."""

    async def ahas_field(self, name: str) -> bool:
        """Tell whether any chunk has this metadata field."""
        return name in await self.afield_names()

    async def arequire(self, where: Where, *, found: bool) -> None:
        """See ``HybridStore``. What was found had every field, and the source if it was a single one."""
        where = where or {}
        asked = where.get(SOURCES[0], ())
        sources = [asked] if isinstance(asked, str) else list(asked)
        if not found or len(sources) > 1:
            there = await asyncio.gather(*(self.ahas({SOURCES[0]: source}) for source in sources))
            if unknown := [source for source, known in zip(sources, there, strict=True) if not known]:
                raise await self._unknown_source(unknown[0])
        for name in () if found else where.keys() - {SOURCES[0]}:
            if not await self.ahas_field(name):
                fields = sorted(await self.afield_names() - INTERNAL_FIELDS)
                message = f"No document has the field {name!r}. There are: {', '.join(fields) or 'none'}."
                raise InvalidInput(message, "filters", unknown=name, fields=fields)

    async def _unknown_source(self, unknown: str) -> UnknownSource:
        names = {str(name) for name in await self.avalues(NAMES)}
        titles = {summary.title: name for name, summary in (await self.asummaries()).items()} if names else {}
        alike = await asyncio.to_thread(nearest, unknown, names | titles.keys())
        shown = list(dict.fromkeys(name if name in names else titles[name] for name in alike))
        hint = f" Nearest: {', '.join(shown)}." if shown else ""
        return UnknownSource(f"No document is named {unknown!r}.{hint}", SOURCES[0], unknown=unknown, nearest=shown)


def document_weights(text: str) -> dict[int, float]:
    """Compute the sparse vector of an indexed text: weight per dimension, each in (0, K1 + 1)."""
    counts = Counter(stems(text))
    length = 1.0 - B + B * counts.total() / AVERAGE_STEMS
    return {dimension(stem): count * (K1 + 1.0) / (count + K1 * length) for stem, count in counts.items()}


def highest(terms: Iterable[int], idf: Mapping[int, float]) -> float:
    """The upper bound of BM25 for these dimensions, by which scores are normalised."""
    return (K1 + 1.0) * sum([idf.get(term, 0.0) for term in terms])


def dimension(stem: str) -> int:
    """The dimension of a stem, in 0..2**31."""
    return abs(mmh3.hash(stem))


MOVE_IT = "To move the collection to the new model: garden reembed"


def check_size(collection: str, stored: int | None, size: int | None, error: Callable[[str], Exception]) -> None:
    """Raise *error* when the sizes of stored vectors and of the model's are known and differ."""
    if stored and size and stored != size:
        raise error(
            f"The collection {collection!r} holds vectors of {stored} dimensions, but the embedding model makes "
            f"{size}: name another collection, or the model it was filled with. {MOVE_IT}"
        )


def check_name(collection: str, stored: str, name: str, error: Callable[[str], Exception]) -> None:
    """Raise *error* when the model that made the stored vectors and the configured one are known and differ."""
    if stored and name and stored != name:
        raise error(
            f"The collection {collection!r} was made with EMBEDDING_MODEL={stored}, and EMBEDDING_MODEL is {name}: "
            f"name the first, or another collection. {MOVE_IT}"
        )

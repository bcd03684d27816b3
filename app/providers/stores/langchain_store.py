"""A store as a LangChain ``VectorStore``, its asynchronous methods real ones, whatever holds the chunks.

Scores are cosines as measured, in [-1, 1]. Every search takes ``filter=`` (``app.providers.stores.filters``); the
store applies it, so ``k`` results come back when ``k`` match.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from numpy.typing import NDArray

from app.providers.embeddings.vectors import adocument_vectors, aquestion_vectors, unit
from app.providers.stores.documents import Unembedded, document_from_payload
from app.providers.stores.layout import Point, indexed_text_of
from app.providers.stores.start_check import known_size, run_apart

T = TypeVar("T")
Where = Mapping[str, Any] | None


class Near(NamedTuple):
    """A stored chunk near to a vector: the store's own id, its payload, and the cosine."""

    id: str
    payload: dict[str, Any]
    cosine: float


class LangChainStore(VectorStore, ABC):
    """One collection. ``size`` is the dimension of the embedding model, None until that has told it.

    A store adds the abstract operations, which raise ``CollectionMissing`` where there is no collection, and
    ``StoreUnavailable`` for everything else that goes wrong.
    """

    def __init__(self, embedding: Embeddings, collection: str, size: int | None) -> None:
        self.collection = collection
        self._embedding = embedding
        self._given_size = size

    @property
    def notes(self) -> tuple[str, ...]:
        """What the collection lacks (``app.ops.health.NOTES``)."""
        return ()

    @abstractmethod
    async def _near(self, vector: NDArray[Any], k: int, where: Where) -> list[Near]:
        """The ``k`` chunks nearest to a unit vector, highest cosine first."""

    @abstractmethod
    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Chunk id -> payload of those that are there."""

    @abstractmethod
    async def _remove_all(self) -> None:
        """Delete every chunk."""

    @abstractmethod
    async def aupsert(self, points: Sequence[Point]) -> None:
        """See ``ChunkStore``; the first call makes the collection."""

    @abstractmethod
    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        """See ``ChunkStore``."""

    @abstractmethod
    async def acount(self) -> int:
        """See ``ChunkStore``."""

    async def _close_here(self) -> None:  # whole as it is
        """Close what belongs to the running loop."""

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Make a store (the keywords are its own) and add the texts to it."""
        store = cls(embedding, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @classmethod
    async def afrom_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """``from_texts`` without holding the event loop."""
        store = cls(embedding, **kwargs)
        await store.aadd_texts(texts, metadatas, ids=ids)
        return store

    @property
    def embeddings(self) -> Embeddings:
        """What embeds the questions and the documents."""
        return self._embedding

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """``aadd_documents`` for code that blocks."""
        return self._blocking(self.aadd_documents(documents, **kwargs))

    async def aadd_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Embed and store documents, and their sentences; return their ids (``ids=``, their own, or new ones)."""
        new = Unembedded(documents, kwargs.get("ids"))
        await self.aupsert(new.points(await adocument_vectors(self._embedding, new.texts)))
        return new.ids

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """``adelete`` for code that blocks."""
        return self._blocking(self.adelete(ids))

    async def adelete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Delete documents by id, all of them when ``ids`` is None; ids that are not there are no error."""
        if ids is None:
            await self._remove_all()
        else:
            await self.adelete_chunks(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """``aget_by_ids`` for code that blocks."""
        return self._blocking(self.aget_by_ids(ids))

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids, in that order; those that are not there are left out."""
        found = await self._fetch(ids)
        return [document_from_payload(one, found[one]) for one in ids if one in found]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """``asimilarity_search`` for code that blocks."""
        return self._blocking(self.asimilarity_search(query, k, **kwargs))

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The ``k`` documents nearest to the query."""
        return [document for document, _ in await self.asimilarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        """``asimilarity_search_with_score`` for code that blocks."""
        return self._blocking(self.asimilarity_search_with_score(query, k, **kwargs))

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The ``k`` nearest documents that pass ``filter=`` with their cosine, as measured, highest first."""
        (vector,) = await aquestion_vectors(self._embedding, [query])
        found = await self._near(vector, k, kwargs.get("filter"))
        return [(document_from_payload(one.id, one.payload), one.cosine) for one in found]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **kwargs: Any) -> list[Document]:
        """``asimilarity_search_by_vector`` for code that blocks."""
        return self._blocking(self.asimilarity_search_by_vector(embedding, k, **kwargs))

    async def asimilarity_search_by_vector(self, embedding: list[float], k: int = 4, **kwargs: Any) -> list[Document]:
        """The ``k`` documents nearest to a vector."""
        found = await self._near(unit(embedding), k, kwargs.get("filter"))
        return [document_from_payload(one.id, one.payload) for one in found]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """``amax_marginal_relevance_search`` for code that blocks."""
        return self._blocking(self.amax_marginal_relevance_search(query, k, fetch_k, lambda_mult, **kwargs))

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """``k`` of the ``fetch_k`` nearest documents, near to the query and unlike each other; they are embedded."""
        found = await self.asimilarity_search(query, fetch_k, **kwargs)
        (vector,) = await aquestion_vectors(self._embedding, [query])
        texts = [indexed_text_of(one.metadata, one.page_content) for one in found]
        rows = list(await adocument_vectors(self._embedding, texts))
        return [found[at] for at in maximal_marginal_relevance(vector, rows, lambda_mult, k)]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """LangChain's relevance in [0, 1]: the cosine cut off below 0. The calibrated one is in ``graph.relevance``."""
        return lambda cosine: min(1.0, max(0.0, cosine))

    def _known_size(self) -> int | None:
        return self._given_size or known_size(self._embedding)

    def _fits(self, stored: int | None, made: int | None, error: Callable[[str], Exception]) -> None:
        """Raise *error* when the collection's vectors and the model's are of two sizes, as far as both are known."""
        if stored and made and stored != made:
            raise error(
                f"The collection {self.collection!r} holds vectors of {stored} dimensions, but the embedding model "
                f"makes {made}: name another collection, or the model it was filled with."
            )

    def _blocking(self, work: Coroutine[Any, Any, T]) -> T:
        async def run() -> T:
            try:
                return await work
            finally:
                await self._close_here()

        return run_apart(run())

"""A store behind a wire as a LangChain ``VectorStore``, its asynchronous methods real ones.

Scores are cosines as measured, in [-1, 1]. Every search takes ``filter=``, as ``app.providers.where`` has it; the
server applies it, so ``k`` results come back when ``k`` match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from app.providers.documents import Unembedded, document_from_payload
from app.providers.remote_chunks import RemoteChunks
from app.providers.vectors import adocument_vectors, aquestion_vectors


class RemoteStore(RemoteChunks, VectorStore):
    """One collection of a server, for LangChain and for ingest."""

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

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """LangChain's relevance in [0, 1]: the cosine cut off below 0. The calibrated one is in ``graph.relevance``."""
        return lambda cosine: min(1.0, max(0.0, cosine))

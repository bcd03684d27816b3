"""The embedded engine as a LangChain ``VectorStore``, its asynchronous methods real ones.

Scores are cosines as measured, in [-1, 1]. Every search takes ``filter=``, ``{metadata field: value}``, all of which
must hold, a list meaning any of its values; the engine applies it, so ``k`` results come back when ``k`` match.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from numpy.typing import ArrayLike

from app.providers.documents import Unembedded, document_from_payload
from app.providers.edge_chunks import EdgeChunks
from app.providers.edge_queries import Hit, Where
from app.providers.edge_shard import Shard
from app.providers.layout import DENSE, point_id
from app.providers.stores.start_check import in_start_time, known_size, made_size, may_block, run_apart
from app.providers.vectors import adocument_vectors, aquestion_vectors, document_vectors, question_vector
from graph.errors import ConfigurationError, GardenError, StoreUnavailable

Scored = list[tuple[Document, float]]


class EdgeVectorStore(EdgeChunks, VectorStore):
    """One embedded collection, for LangChain, for ingest (``ChunkStore``) and for retrieval (``HybridStore``)."""

    def __init__(
        self, embedding: Embeddings, data_dir: Path, collection: str, size: int | None = None, **options: Any
    ) -> None:
        super().__init__(data_dir, collection, size, **options)
        self._embedding = embedding

    def open(self) -> None:
        """Open now, to learn at the start what the first call would say, and whether the collection fits the model.

        A model over a wire that does not answer is only logged: it may come. Inside a running loop, which must not be
        held up, it is not asked; the first probe or question says the same. Raises what ``EdgeEngine.open`` does.
        """
        super().open()
        asks = known_size(self._embedding) is None and may_block()
        if asks and self.engine.read(lambda shard: shard.size, None).result():
            run_apart(in_start_time(made_size(self._embedding), self.engine.collection))
        try:
            self._fits(ConfigurationError).result()
        except ConfigurationError:
            self.close()
            raise

    async def aprobe(self) -> None:
        """See ``EdgeChunks``; raises ``StoreUnavailable``, too, when the model's vectors are of another size."""
        await asyncio.wrap_future(self._fits(StoreUnavailable))

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
        """Open a collection (``data_dir=``, ``collection=``) and add the texts to it."""
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
        """Embed and store documents, and their sentences; return their ids (``ids=``, their own, or new ones)."""
        new = Unembedded(documents, kwargs.get("ids"))
        for job in self._upserts(new.points(document_vectors(self._embedding, new.texts))):
            job().result()
        return new.ids

    async def aadd_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """``add_documents`` without holding the event loop."""
        new = Unembedded(documents, kwargs.get("ids"))
        await self.aupsert(new.points(await adocument_vectors(self._embedding, new.texts)))
        return new.ids

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Delete documents by id, all of them when ``ids`` is None; ids that are not there are no error."""
        self._delete(self._chosen(ids)).result()
        return True

    async def adelete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """``delete`` without holding the event loop."""
        await asyncio.wrap_future(self._delete(self._chosen(ids)))
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids, in that order; those that are not there are left out."""
        return self._documents(ids).result()

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """``get_by_ids`` without holding the event loop."""
        return await asyncio.wrap_future(self._documents(ids))

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The ``k`` documents nearest to the query."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """``similarity_search`` without holding the event loop."""
        return [document for document, _ in await self.asimilarity_search_with_score(query, k, **kwargs)]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **kwargs: Any) -> list[Document]:
        """The ``k`` documents nearest to a vector."""
        return [document for document, _ in self._nearest(embedding, k, kwargs).result()]

    async def asimilarity_search_by_vector(self, embedding: list[float], k: int = 4, **kwargs: Any) -> list[Document]:
        """``similarity_search_by_vector`` without holding the event loop."""
        return [document for document, _ in await asyncio.wrap_future(self._nearest(embedding, k, kwargs))]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> Scored:
        """The ``k`` nearest documents with their cosine, highest first."""
        return self._nearest(question_vector(self._embedding, query), k, kwargs).result()

    async def asimilarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> Scored:
        """``similarity_search_with_score`` without holding the event loop."""
        (vector,) = await aquestion_vectors(self._embedding, [query])
        return await asyncio.wrap_future(self._nearest(vector, k, kwargs))

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """``k`` of the ``fetch_k`` nearest documents, near to the query and unlike each other."""
        vector = question_vector(self._embedding, query)
        return self._diverse(vector, k, fetch_k, lambda_mult, kwargs).result()

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """``max_marginal_relevance_search`` without holding the event loop."""
        (vector,) = await aquestion_vectors(self._embedding, [query])
        return await asyncio.wrap_future(self._diverse(vector, k, fetch_k, lambda_mult, kwargs))

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """LangChain's relevance in [0, 1]: the cosine cut off below 0. The calibrated one is in ``graph.relevance``."""
        return lambda cosine: min(1.0, max(0.0, cosine))

    def _fits(self, error: type[GardenError]) -> Future[None]:
        """*error* in the future when the model's vectors, where it has told their size, do not fit the collection."""
        size = known_size(self._embedding)
        return self.engine.read(lambda shard: self.engine.check(shard, size, error), None)

    def _nearest(self, vector: ArrayLike, k: int, options: Where) -> Future[Scored]:
        def job(shard: Shard) -> Scored:
            (hits,) = self._dense(shard, vector, k, options)
            found = {record.id: record.payload for record in shard.fetch([hit.id for hit in hits])}
            return [(document_from_payload(str(hit.id), found[hit.id]), hit.score) for hit in hits if hit.id in found]

        return self.engine.read(job, [])

    def _diverse(
        self, vector: ArrayLike, k: int, fetch_k: int, lambda_mult: float, options: Where
    ) -> Future[list[Document]]:
        def job(shard: Shard) -> list[Document]:
            (hits,) = self._dense(shard, vector, fetch_k, options)
            found = shard.fetch([hit.id for hit in hits], [DENSE])
            vectors: list[Any] = [record.vector for record in found]
            rows = [one[DENSE] for one in vectors]
            chosen = maximal_marginal_relevance(np.asarray(vector, np.float32), rows, lambda_mult, k)
            return [document_from_payload(str(found[at].id), found[at].payload) for at in chosen]

        return self.engine.read(job, [])

    def _dense(self, shard: Shard, vector: ArrayLike, limit: int, options: Where) -> list[list[Hit]]:
        row = np.asarray(vector, np.float32)
        self.engine.check(shard, len(row), StoreUnavailable)
        return shard.search([row], [], limit, options.get("filter"))

    def _documents(self, ids: Sequence[str]) -> Future[list[Document]]:
        points = [point_id(one) for one in ids]

        def job(shard: Shard) -> list[Document]:
            found = {str(record.id): record.payload for record in shard.fetch(points)}
            return [document_from_payload(point, found[point]) for point in points if point in found]

        return self.engine.read(job, [])

    def _chosen(self, ids: Sequence[str] | None) -> Callable[[Shard], list[Any]]:
        return (lambda shard: [key for key, _ in shard.walk([])]) if ids is None else self._present(ids)

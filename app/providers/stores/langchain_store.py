"""Base of the stores: a LangChain ``VectorStore`` with native asynchronous methods over the store's own operations.

Scores are cosines as measured, in [-1, 1]. Every search takes ``filter=`` (``app.providers.stores.hybrid.Where``); the
store applies it, so ``k`` results are returned when ``k`` match.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from numpy.typing import NDArray

from app.providers.blocking import run_blocking
from app.providers.embeddings.vectors import adocument_vectors, aquestion_vectors
from app.providers.stores.hybrid import Candidate, ChunkStore, HybridQuery
from app.providers.stores.layout import Point, indexed_text_of, sentence_texts
from app.providers.stores.payloads import chunk_from_payload, metadata_of, text_of
from graph.errors import ConfigurationError, RetrievalFailed
from graph.sentences import sentence_spans

START_SECONDS = 3.0
"""Longest that a store, and its embedding model's first answer, may delay the start."""
T = TypeVar("T")
log = logging.getLogger("garden.store")


class LangChainStore(VectorStore, ChunkStore, ABC):
    """One collection. ``size`` is the dimension of the embedding model, None while that is unknown.

    A store adds the abstract operations, which raise ``CollectionMissing`` where there is no collection, and
    ``StoreUnavailable`` for every other failure.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, embedding: Embeddings, collection: str, size: int | None) -> None:
        self.collection = collection
        self._embedding = embedding
        self._model_size = size

    @abstractmethod
    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Chunk id -> payload of those that are stored."""

    @abstractmethod
    async def _remove_all(self) -> None:
        """Delete every chunk."""

    @abstractmethod
    async def _size(self) -> int | None:
        """The size of the stored vectors; None while there are none."""

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """The sentence vectors that came with the candidates; see ``HybridStore``."""
        return {one.key: one.sentences for one in candidates if one.sentences is not None and len(one.sentences)}

    async def aflush(self) -> None:
        """No-op: an acknowledged write is on disk."""

    async def aoptimize(self) -> None:
        """No-op: a server builds its indexes itself."""

    def close(self) -> None:  # not abstract: a remote store has nothing to close outside of a loop
        """No-op for a remote store, whose connections belong to an event loop."""

    async def _close_here(self) -> None:  # not abstract: as ``close``
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

    @property
    def embeddings(self) -> Embeddings:
        """The embedding model of questions and documents."""
        return self._embedding

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        return run_blocking(self.aadd_documents(documents, **kwargs), self._close_here)

    async def aadd_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Embed and store documents and their sentences; return their ids (``ids=``, their own, or new UUIDs)."""
        ids = kwargs.get("ids") or [document.id for document in documents]
        if len(ids) != len(documents):
            raise ValueError(f"{len(documents)} documents, but {len(ids)} ids")
        ids = [one or str(uuid.uuid4()) for one in ids]
        spans = [sentence_spans(document.page_content) for document in documents]
        texts = [
            [indexed_text_of(one.metadata, one.page_content), *sentence_texts(one.page_content, its)]
            for one, its in zip(documents, spans, strict=True)
        ]
        vectors = iter(await adocument_vectors(self._embedding, [text for one in texts for text in one]))
        points = []
        for own, document, its in zip(ids, documents, spans, strict=True):
            metadata = {**document.metadata, "chunk_id": own, "spans": [list(span) for span in its]}
            dense = next(vectors)
            sentences = np.array([next(vectors) for _ in its], np.float32).reshape(-1, len(dense))
            points.append(Point(own, document.page_content, metadata, dense, sentences))
        await self.aupsert(points)
        return ids

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        return run_blocking(self.adelete(ids), self._close_here)

    async def adelete(self, ids: list[str] | None = None, **_: Any) -> bool:
        if ids is None:
            await self._remove_all()
        else:
            await self.adelete_chunks(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        return run_blocking(self.aget_by_ids(ids), self._close_here)

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        found = await self._fetch(ids)
        return [_document(one, found[one]) for one in ids if one in found]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [document for document, _ in await self.asimilarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        return run_blocking(self.asimilarity_search_with_score(query, k, **kwargs), self._close_here)

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The ``k`` nearest documents that pass ``filter=`` with their cosine, as measured, highest first."""
        (vector,) = await aquestion_vectors(self._embedding, [query])
        (found,) = (await self.ahybrid([HybridQuery(vector, (), k)], k, kwargs.get("filter"))).candidates
        scored = [(_document(one.chunk.chunk_id, one.payload), float(one.dense @ vector)) for one in found]
        return sorted(scored, key=lambda one: -one[1])[:k]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """LangChain's relevance in [0, 1]: the cosine cut off below 0. The calibrated one is in ``graph.relevance``."""
        return lambda cosine: min(1.0, max(0.0, cosine))

    def _known_size(self) -> int | None:
        """The dimension of the model's vectors; None while a remote model has not answered yet."""
        return self._model_size or getattr(self._embedding, "dimension", None)

    def _fits(self, stored: int | None, made: int | None, error: Callable[[str], Exception]) -> None:
        """Raise *error* when the collection's vectors and the model's differ in size, as far as both are known."""
        if stored and made and stored != made:
            raise error(
                f"The collection {self.collection!r} holds vectors of {stored} dimensions, but the embedding model "
                f"makes {made}: name another collection, or the model it was filled with."
            )

    def check_size(self) -> None:
        """Raise ``ConfigurationError`` when the collection's vectors do not fit the model's.

        An unreachable store or model is logged; startup continues. Inside a running event loop, which must not block,
        nothing is asked; the first probe or search reports the same.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            run_blocking(self._acheck_size(), self._close_here)

    async def _acheck_size(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                if stored := await self._size():
                    made = self._known_size() or len(await self._embedding.aembed_query("ready?"))
                    self._fits(stored, made, ConfigurationError)
        except (RetrievalFailed, TimeoutError) as error:
            log.warning("store_not_checked", extra={"collection": self.collection, "reason": type(error).__name__})


def _document(own_id: str, payload: Mapping[str, Any] | None) -> Document:
    """The document of a stored payload; its id is the chunk's, or else *own_id*."""
    metadata = {name: value for name, value in metadata_of(payload).items() if name not in ("chunk_id", "spans")}
    return Document(id=chunk_from_payload(own_id, payload).chunk_id, page_content=text_of(payload), metadata=metadata)

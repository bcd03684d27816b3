"""``ChunkStore``, the base of all stores: an asynchronous LangChain ``VectorStore`` for ingest.

Scores are cosines in [-1, 1]. Stores apply ``filter=`` (``hybrid.Where``), so ``k`` results return when ``k`` match.
"""

import asyncio
import logging
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from answering.text.sentences import sentence_spans
from app.providers.blocking import AsyncEmbeddings, run_blocking
from app.providers.embeddings.vectors import aquestion_vectors
from app.providers.stores.hybrid import HybridQuery, ScopedStore, check_name, check_size
from app.providers.stores.layout import MODEL_FIELD, Point, embedded
from app.providers.stores.payloads import document_of, metadata_of
from graph.errors import CollectionMissing, ConfigurationError, RetrievalFailed, StoreUnavailable

START_SECONDS = 3.0  # the longest that a store, and its embedding model's first answer, may delay the start
log = logging.getLogger("garden.store")


class ChunkStore(VectorStore, ScopedStore, ABC):
    """One collection. ``size`` is the dimension of the embedding model, None while that is unknown.

    Asynchronous methods may raise ``StoreUnavailable``; ``_fetch`` and ``_size`` also ``CollectionMissing``.
    """

    model_name = ""  # of the embedding model, if known; a collection that another one made is refused on opening

    def __init__(self, embedding: Embeddings, collection: str, size: int | None) -> None:
        self.collection = collection
        self._embedding = embedding
        self._model_size = size

    @abstractmethod
    async def aupsert(self, points: Sequence[Point]) -> None:
        """Store the points, replacing those of equal chunk id; create the collection if missing.

        Raises ``ConfigurationError`` when the vectors' size is not the collection's.
        """

    @abstractmethod
    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        """Delete every chunk of these documents; return how many chunks were deleted."""

    @abstractmethod
    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        """Delete these chunks; return how many there were."""

    @abstractmethod
    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        """Return chunk id -> ``content_hash``, "" without one, for the chunks of these documents."""

    @abstractmethod
    async def acount(self) -> int:
        """Return the number of stored chunks; 0 for a collection not created yet."""

    @abstractmethod
    def apoints(self) -> AsyncIterator[list[Point]]:
        """Yield every stored chunk with its vectors once, page by page, unordered."""

    @abstractmethod
    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Chunk id -> payload of those that are stored."""

    @abstractmethod
    async def _size(self) -> int | None:
        """The size of the stored vectors; None while there are none."""

    async def amodel_name(self) -> str:
        """Return the name of the model that made the stored vectors; "" where no chunk says it, or there is none."""
        with suppress(CollectionMissing):
            if page := await anext(self.apoints(), None):
                return str(page[0].metadata.get(MODEL_FIELD) or "")
        return ""

    async def adocuments(self) -> dict[str, str]:
        """Return document id -> ``content_hash`` of its first chunk, "" without one."""
        return {document: summary.content_hash for document, summary in (await self.asummaries()).items()}

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Return chunk id -> document id, "" without one, for those that are stored."""
        with suppress(CollectionMissing):
            payloads = await self._fetch(chunk_ids)
            return {id_: str(metadata_of(payload).get("document_id") or "") for id_, payload in payloads.items()}
        return {}

    async def aprobe(self) -> None:
        """Return if a search would work now; raise ``StoreUnavailable`` or ``CollectionMissing`` if not."""
        check_size(self.collection, await self._size(), self._known_size(), StoreUnavailable)

    async def acollection_names(self) -> list[str]:
        """Return the names of the collections beside this one, unordered."""
        return [self.collection]

    async def adelete_collection(self, name: str) -> None:
        """Delete the collection *name* beside this one, but for its folder."""

    async def aoptimize(self) -> None:
        """Wait until the indexes are built; no-op on servers. Unindexed searches are exact but slower."""

    async def aclose(self) -> None:
        """Close the collection; a second call does nothing."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:  # not abstract: some have nothing to close
        """``aclose`` for callers without an event loop."""

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
        return self._embedding

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        return run_blocking(self.aadd_documents(documents, **kwargs))

    async def aadd_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Embed and store documents; return their ids (``ids=``, their own, or new UUIDs)."""
        ids = kwargs.get("ids") or [document.id for document in documents]
        if len(ids) != len(documents):
            raise ValueError(f"{len(documents)} documents, but {len(ids)} ids")
        ids = [id_ or str(uuid.uuid4()) for id_ in ids]
        points = []
        for id_, document in zip(ids, documents, strict=True):
            spans = [list(span) for span in sentence_spans(document.page_content)]
            metadata = {**document.metadata, "chunk_id": id_, "spans": spans}
            points.append(Point(id_, document.page_content, metadata))
        await self.aupsert(await embedded(points, self._embedding))
        return ids

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        return run_blocking(self.adelete(ids))

    async def adelete(self, ids: list[str] | None = None, **_: Any) -> bool:
        if ids is None:
            ids = [point.chunk_id async for page in self.apoints() for point in page]
        await self.adelete_chunks(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        return run_blocking(self.aget_by_ids(ids))

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the stored ones of the chunks with these ids, in that order."""
        payloads = await self._fetch(ids)
        return [document_of(id_, payloads[id_]) for id_ in ids if id_ in payloads]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [document for document, _ in await self.asimilarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        return run_blocking(self.asimilarity_search_with_score(query, k, **kwargs))

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The ``k`` nearest documents that pass ``filter=`` with their cosine, as measured, highest first."""
        (vector,) = await aquestion_vectors(self._embedding, [query])
        (candidates,) = (await self.ahybrid([HybridQuery(vector, (), k)], k, kwargs.get("filter"))).candidates
        scored = [(document_of(hit.chunk.chunk_id, hit.payload), float(hit.dense @ vector)) for hit in candidates]
        return sorted(scored, key=lambda pair: -pair[1])[:k]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """LangChain's relevance in [0, 1]: the cosine clipped at 0; not ``answering.relevance``."""
        return lambda cosine: min(1.0, max(0.0, cosine))

    def _known_size(self) -> int | None:
        """The dimension of the model's vectors; None while a remote model has not answered yet."""
        learned = self._embedding.dimension if isinstance(self._embedding, AsyncEmbeddings) else None
        return self._model_size or learned

    def open(self) -> None:
        """Raise ``ConfigurationError`` when the collection's vectors do not fit the model's, or no text is found in it.

        An unreachable store or model is logged; startup continues. Inside a running event loop the first search checks.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            run_blocking(self._acheck_in_time())

    async def acheck(self) -> None:
        """Check the collection against its embedding model. Raises ``ConfigurationError`` and ``RetrievalFailed``."""
        if stored := await self._size():
            check_name(self.collection, await self.amodel_name(), self.model_name, ConfigurationError)
            model_size = self._known_size() or len(await self._embedding.aembed_query("ready?"))
            check_size(self.collection, stored, model_size, ConfigurationError)

    async def _acheck_in_time(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self.acheck()
        except (RetrievalFailed, TimeoutError) as error:
            fields = {"collection": self.collection, "reason": type(error).__name__}
            log.warning("store_not_checked", extra={**fields, "said": getattr(error, "cause_text", None)})

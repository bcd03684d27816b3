"""Base of the stores on a server: ``ChunkStore`` over a few operations of each vendor's.

The abstract operations raise ``CollectionMissing`` where there is no collection, and ``StoreUnavailable`` for every
other failure.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any

from langchain_core.embeddings import Embeddings

from app.providers.http.error_mapping import store_error
from app.providers.http.retry import GuardedCalls, Retry
from app.providers.stores.hybrid import DocumentSummary, Where
from app.providers.stores.langchain_store import LangChainStore
from app.providers.stores.payloads import chunk_index_of, document_hashes, metadata_of
from graph.errors import CollectionMissing, StoreUnavailable

TRIES = 3
"""Attempts of one call, as the library's document asks."""
log = logging.getLogger("garden.store")


class RemoteStore(LangChainStore):
    """One collection of a server. ``size`` is the dimension of the embedding model, None while that is unknown."""

    def __init__(
        self, embedding: Embeddings, collection: str, size: int | None, *, seconds: float, retry: Retry | None = None
    ) -> None:
        """*seconds* is the time limit of one attempt of one call."""
        super().__init__(embedding, collection, size)
        total = TRIES * (seconds + 2.0)
        self._calls = GuardedCalls(store_error, seconds, total, retry or Retry(attempts=TRIES))

    @abstractmethod
    async def _metadata(self, fields: Sequence[str], where: Where = None) -> list[tuple[str, dict[str, Any]]]:
        """Every matching chunk's own id and at least these metadata fields."""

    @abstractmethod
    async def _remove(self, ids: Sequence[str]) -> None:
        """Delete by the store's own ids."""

    @abstractmethod
    def _own_id(self, chunk_id: str) -> str:
        """The store's id of one of our chunks."""

    async def aprobe(self) -> None:
        self._fits(await self._size(), self._known_size(), StoreUnavailable)

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        try:
            ids = [own for own, _ in await self._metadata([], {"document_id": list(document_ids)})]
        except CollectionMissing:
            return 0
        await self._remove(ids)
        return len(ids)

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        stored = list(await self.aowners(chunk_ids))
        await self._remove([self._own_id(chunk_id) for chunk_id in stored])
        return len(stored)

    async def adocuments(self) -> dict[str, str]:
        return document_hashes(await self._list(("document_id", "content_hash", "chunk_index")))

    async def asummaries(self) -> dict[str, DocumentSummary]:
        titles: dict[str, str] = {}
        chunks: Counter[str] = Counter()
        for metadata in sorted(await self._list(("document_id", "title", "chunk_index")), key=chunk_index_of):
            document = str(metadata.get("document_id") or "")
            titles.setdefault(document, str(metadata.get("title") or document))
            chunks[document] += 1
        return {document: DocumentSummary(titles[document], count) for document, count in chunks.items()}

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        found = await self._list(("chunk_id", "content_hash"), {"document_id": list(document_ids)})
        return {str(one.get("chunk_id")): str(one.get("content_hash") or "") for one in found}

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        try:
            found = await self._fetch(chunk_ids)
        except CollectionMissing:
            return {}
        return {chunk_id: str(metadata_of(one).get("document_id") or "") for chunk_id, one in found.items()}

    async def aclose(self) -> None:
        await self._close_here()

    async def _remove_all(self) -> None:
        await self._remove([own for own, _ in await self._metadata([])])

    def _note(self, event: str, **facts: Any) -> None:
        """Log once what the collection lacks, and keep it in ``notes``."""
        if event not in self.notes:
            self.notes = tuple(sorted((*self.notes, event)))
            log.warning(event, extra={"collection": self.collection, **facts})

    async def _list(self, fields: Sequence[str], where: Where = None) -> list[dict[str, Any]]:
        try:
            return [metadata for _, metadata in await self._metadata(fields, where)]
        except CollectionMissing:
            return []

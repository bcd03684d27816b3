"""What every store behind a wire has in common: ingest's ``ChunkStore`` over a few operations of its own, and a check
at the start.

A store adds the operations that begin with an underscore. Each raises ``CollectionMissing`` where there is no
collection, and ``StoreUnavailable`` for everything else that goes wrong.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from langchain_core.embeddings import Embeddings

from app.providers.http.circuit import Circuit
from app.providers.http.error_mapping import store_error
from app.providers.http.guarded_calls import GuardedCalls
from app.providers.http.retry import Retry
from app.providers.stores.langchain_store import LangChainStore, Where
from app.providers.stores.payloads import document_hashes, metadata_of
from app.providers.stores.start_check import in_start_time, made_size, may_block
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable

TRIES = 3
"""Tries of one call (contract, Door L)."""

log = logging.getLogger("garden.store")


class RemoteStore(LangChainStore):
    """One collection of a server. ``size`` is the dimension of the embedding model, None until that has told it."""

    def __init__(
        self, embedding: Embeddings, collection: str, size: int | None, *, seconds: float, retry: Retry | None = None
    ) -> None:
        """*seconds* is the time of one try of one call."""
        super().__init__(embedding, collection, size)
        self.circuit = Circuit("vector_store")
        self._told: set[str] = set()
        self._calls = GuardedCalls(
            self.circuit,
            store_error,
            _resting,
            seconds=seconds,
            total=TRIES * (seconds + 2.0),
            retry=retry or Retry(attempts=TRIES),
        )

    @abstractmethod
    async def _size(self) -> int | None:
        """The size of the stored vectors as the server says it now; None where it holds none yet."""

    @abstractmethod
    async def _metadata(self, fields: Sequence[str], where: Where = None) -> list[tuple[str, dict[str, Any]]]:
        """Every matching chunk's own id and at least these metadata fields."""

    @abstractmethod
    async def _remove(self, ids: Sequence[str]) -> None:
        """Delete by the store's own ids."""

    @abstractmethod
    def _own_id(self, chunk_id: str) -> str:
        """The store's id of one of our chunks."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the collection was found to lack so far, as logged: ``no_sparse_vectors``, ``no_sentence_vectors``."""
        return tuple(sorted(self._told))

    def open(self) -> None:
        """Learn at the start whether the collection fits. Raises ``ConfigurationError`` when its vectors do not.

        A store that cannot be reached, or has no such collection yet, is only logged: it may come. Inside a running
        loop, which must not be held up, nothing is asked; the first probe or question says the same.
        """
        if may_block():
            self._blocking(self._check())

    async def aprobe(self) -> None:
        """Return if a search would work now; raise ``StoreUnavailable`` or ``CollectionMissing`` if not."""
        self._fits(await self._size(), self._known_size(), StoreUnavailable)

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        """Delete every chunk of these documents; return how many chunks went."""
        try:
            ids = [own for own, _ in await self._metadata([], {"document_id": list(document_ids)})]
        except CollectionMissing:
            return 0
        await self._remove(ids)
        return len(ids)

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        """Delete these chunks; return how many were there."""
        try:
            there = list(await self._fetch(chunk_ids))
        except CollectionMissing:
            return 0
        await self._remove([self._own_id(chunk_id) for chunk_id in there])
        return len(there)

    async def adocuments(self) -> dict[str, str]:
        """Document id -> ``content_hash`` of its first chunk."""
        return document_hashes(await self._walk(("document_id", "content_hash", "chunk_index")))

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        """Chunk id -> ``content_hash`` of the chunks of these documents."""
        found = await self._walk(("chunk_id", "content_hash"), {"document_id": list(document_ids)})
        return {str(one.get("chunk_id")): str(one.get("content_hash") or "") for one in found}

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Chunk id -> document id of those of these chunks that are stored."""
        try:
            found = await self._fetch(chunk_ids)
        except CollectionMissing:
            return {}
        return {chunk_id: str(metadata_of(one).get("document_id") or "") for chunk_id, one in found.items()}

    async def aflush(self) -> None:  # whole as it is
        """Nothing to do: the server has acknowledged every write."""

    async def aoptimize(self) -> None:  # whole as it is
        """Nothing to do: the server builds its indexes itself."""

    async def aclose(self) -> None:
        """Close the connections."""
        await self._close_here()

    def _say_once(self, event: str, **facts: Any) -> None:
        if event not in self._told:
            self._told.add(event)
            log.warning(event, extra={"collection": self.collection, **facts})

    async def _check(self) -> None:
        async def sizes() -> tuple[int | None, int | None]:
            stored = await self._size()
            return stored, self._known_size() or (await made_size(self._embedding) if stored else None)

        if found := await in_start_time(sizes(), self.collection):
            self._fits(*found, ConfigurationError)

    async def _walk(self, fields: Sequence[str], where: Where = None) -> list[dict[str, Any]]:
        try:
            return [metadata for _, metadata in await self._metadata(fields, where)]
        except CollectionMissing:
            return []


def _resting() -> StoreUnavailable:
    return StoreUnavailable("The vector store has failed repeatedly and is left alone for a moment.")

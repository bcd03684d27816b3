"""Base of the stores on a server: ``ChunkStore`` over a few operations of each vendor's.

The abstract operations raise ``CollectionMissing`` for a missing collection, else ``StoreUnavailable``.
"""

import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from langchain_core.embeddings import Embeddings

from app.providers.blocking import run_blocking
from app.providers.http.error_mapping import store_error
from app.providers.http.retry import ATTEMPTS, LONGEST_WAIT, GuardedCalls
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.filters import Condition, Scalar, Where, conditions
from app.providers.stores.hybrid import Candidate, DocumentSummary
from app.providers.stores.payloads import missing_text, summaries
from graph.errors import CollectionMissing, ConfigurationError, RAGError, StoreUnavailable

PAGE = 1000
"""Chunks per request without vectors."""
SAMPLE = 16
"""Chunks that are read to see whether they have text."""
P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger("garden.store")


class RemoteStore(ChunkStore):
    """One collection of a server."""

    _client: Any  # the vendor's asynchronous client, set by each store

    def __init__(
        self, embedding: Embeddings, collection: str, size: int | None, *, seconds: float, text_field: str = ""
    ) -> None:
        """*seconds* limits one attempt of one call; *text_field* holds the text, "" for the known names."""
        super().__init__(embedding, collection, size)
        self._text_field = text_field
        self._noted: set[str] = set()
        self._calls = GuardedCalls(self._error, seconds, ATTEMPTS * (seconds + LONGEST_WAIT))

    @abstractmethod
    async def _metadata(self, fields: Sequence[str] | None, where: Where = None) -> dict[Any, dict[str, Any]]:
        """Every matching chunk's own id -> at least these metadata fields, all of them for None."""

    @abstractmethod
    async def _remove(self, ids: Sequence[str]) -> None:
        """Delete by the store's own ids."""

    @abstractmethod
    async def _sample(self) -> list[dict[str, Any]]:
        """The payloads of some chunks."""

    async def aprobe(self) -> None:
        await super().aprobe()
        self._require_text(await self._sample(), StoreUnavailable)

    async def acheck(self) -> None:
        await super().acheck()
        self._require_text(await self._sample(), ConfigurationError)

    def _require_text(self, payloads: Sequence[Mapping[str, Any] | None], error: Callable[[str], Exception]) -> None:
        """Raise *error* when there are chunks and none has text."""
        if reason := missing_text(payloads):
            raise error(f"The collection {self.collection!r} cannot be read: {reason}")

    def _readable(self, found: Sequence[Sequence[Candidate]]) -> list[list[Candidate]]:
        """Leave out chunks without text. Raises ``StoreUnavailable`` when all are."""
        self._require_text([candidate.payload for row in found for candidate in row], StoreUnavailable)
        return [[candidate for candidate in row if candidate.chunk.text] for row in found]

    def _own_id(self, chunk_id: str) -> str:
        """The store's id of one of our chunks: the same, unless the server wants another."""
        return chunk_id

    async def adelete_collection(self, name: str) -> None:
        await self._ask(self._client.delete_collection, name)

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        ids = list(await self._list([], {"document_id": list(document_ids)}))
        await self._remove(ids)
        return len(ids)

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        stored = await self.aowners(chunk_ids)
        await self._remove([self._own_id(chunk_id) for chunk_id in stored])
        return len(stored)

    async def asummaries(self) -> dict[str, DocumentSummary]:
        fields = ("document_id", "title", "chunk_index", "content_hash", "ingested_at")
        return summaries((await self._list(fields)).values())

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        rows = await self._list(("chunk_id", "content_hash"), {"document_id": list(document_ids)})
        return {str(metadata.get("chunk_id")): str(metadata.get("content_hash") or "") for metadata in rows.values()}

    async def afield_names(self) -> set[str]:
        rows = (await self._list(None)).values()
        return {name for metadata in rows for name, value in metadata.items() if value is not None}

    async def avalues(self, fields: Sequence[str]) -> set[Scalar]:
        rows = (await self._list(fields)).values()
        stored = [metadata.get(name) for metadata in rows for name in fields]
        elements = (element for value in stored for element in (value if isinstance(value, list) else [value]))
        return {element for element in elements if isinstance(element, Scalar)}

    async def aclose(self) -> None:
        await self._client.close()

    def close(self) -> None:
        run_blocking(self.aclose())

    async def _ask(self, call: Callable[P, Awaitable[T]], *args: P.args, **options: P.kwargs) -> T:
        """Await a call of the client, retried where that may help, with errors of ``graph.errors``."""
        return await self._calls.acall(partial(call, *args, **options))

    def _error(self, error: BaseException) -> RAGError:
        """Return the error of ``graph.errors`` for one of the client's."""
        return store_error(error)

    def _note(self, event: str, **facts: Any) -> None:
        """Log once what the collection lacks."""
        if event not in self._noted:
            self._noted.add(event)
            log.warning(event, extra={"collection": self.collection, **facts})

    async def _exact(self, where: Where, *, days: bool) -> list[Condition]:
        """Read a filter; a prefix, and with *days* a range, becomes the stored values that pass it."""
        exact = []
        for condition in conditions(where):
            if condition.prefixes or (days and condition.days):
                stored = [value for value in await self.avalues(condition.fields) if condition.matches(value)]
                exact.append(Condition(condition.fields, (*condition.values, *stored)))
            else:
                exact.append(condition)
        return exact

    async def _list(self, fields: Sequence[str] | None, where: Where = None) -> dict[Any, dict[str, Any]]:
        with suppress(CollectionMissing):
            return await self._metadata(fields, where)
        return {}

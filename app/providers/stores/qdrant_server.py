"""The requests of one collection to a Qdrant server or cluster, each on its guarded way, through ``qdrant-client``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from app.providers.http.guarded_calls import GuardedCalls
from app.providers.stores.qdrant_connection import QdrantConnection
from app.providers.stores.qdrant_points import Layout, collection_config, indexed_paths, layout_of
from graph.errors import CollectionMissing, StoreUnavailable

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

T = TypeVar("T")

Operation = Callable[["AsyncQdrantClient"], Awaitable[T]]


class QdrantServer:
    """One collection. All methods raise ``CollectionMissing`` or ``StoreUnavailable``."""

    def __init__(self, connection: QdrantConnection, name: str, calls: GuardedCalls) -> None:
        self._name = name
        self._calls = calls
        self._known: Layout | None = None
        self._connection = connection

    async def describe(self) -> Layout:
        """The collection as it is now."""
        self._known = None

        async def read(client: AsyncQdrantClient) -> Layout:
            return layout_of(await client.get_collection(self._name))

        self._known = await self._ask(read)
        return self._known

    async def known(self) -> Layout:
        """The collection as it was last described."""
        return self._known or await self.describe()

    async def create(self, size: int) -> Layout:
        """The collection in our layout, made if it is not there, with its payload indexes."""

        async def make(client: AsyncQdrantClient) -> None:
            if not await client.collection_exists(self._name):
                await client.create_collection(self._name, **collection_config(size))

        async def index(client: AsyncQdrantClient) -> None:
            from qdrant_client import models

            for path in indexed_paths():
                await client.create_payload_index(self._name, path, models.PayloadSchemaType.KEYWORD, wait=True)

        await self._ask(make)
        await self._ask(index)
        return await self.describe()

    async def ask(self, operation: Operation[T]) -> T:
        """What *operation* brings; it may raise anything, and is tried again when that may help."""
        try:
            return await self._ask(operation)
        except (CollectionMissing, StoreUnavailable):
            self._known = None  # it may come back with another layout
            raise

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._connection.aclose()

    async def _ask(self, operation: Operation[T]) -> T:
        async def once() -> T:
            try:
                return await operation(self._connection.client)
            except Exception as error:
                if _says_missing(error):
                    raise CollectionMissing(f"The vector store holds no collection named {self._name!r}.") from None
                if hasattr(error, "retry_after_s"):
                    raise TooManyRequests(error.retry_after_s) from error
                raise

        return await self._calls.acall(once)


class TooManyRequests(Exception):
    """Rate limit (HTTP 429) with the status the client's own error lacks; read by ``http.error_mapping``."""

    status_code = 429

    def __init__(self, retry_after: object) -> None:
        super().__init__()
        self.headers = {"retry-after": str(retry_after)}


def _says_missing(error: Exception) -> bool:
    """Whether it is Qdrant that says so, about a collection, and not a server which is no Qdrant.

    The server answers 404 with ``Not found: Collection `name` doesn't exist!``; the client's embedded mode raises a
    ``ValueError`` with the last part of that.
    """
    content: Any = getattr(error, "content", b"")
    told = content.decode(errors="replace") if isinstance(content, bytes) else ""
    if getattr(error, "status_code", None) == 404:
        return "ollection" in told and "doesn't exist" in told
    return isinstance(error, ValueError) and str(error).startswith("Collection ") and str(error).endswith("not found")

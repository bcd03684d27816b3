"""The clients of a Qdrant server as the settings describe it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from app.settings import Settings
from graph.errors import CollectionMissing

THREADS = 16
T = TypeVar("T")
log = logging.getLogger("garden.store")


class QdrantConnection:
    """``client`` for any number of event loops, ``blocking_client`` for ``threads``. Nothing is contacted here."""

    def __init__(self, settings: Settings, collection: str, seconds: float) -> None:
        """*seconds* is the time limit of one request. Logs a key that is sent unencrypted."""
        from qdrant_client import AsyncQdrantClient, QdrantClient

        from app.providers.http.transport import AiohttpTransport

        url, key = settings.qdrant_url, settings.qdrant_api_key.get_secret_value()
        if key and url.startswith("http://"):
            log.warning("qdrant_key_unencrypted")
        options: dict[str, Any] = {
            "url": url,
            "port": None if url.rpartition(":")[2].partition("/")[0].isdecimal() else 6333,
            "timeout": seconds,
            "check_compatibility": False,  # it would contact the server here
            "headers": {"api-key": key} if key else None,  # as ``api_key`` does, without a warning
        }
        self._collection = collection
        self._transport = AiohttpTransport()  # httpx's own loses connections of cancelled requests
        self.client = AsyncQdrantClient(**options, transport=self._transport)
        self.blocking_client = QdrantClient(**options)
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="qdrant")

    async def mapped(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Await *operation*. Raises ``CollectionMissing``, or an error that ``http.error_mapping`` can read."""
        try:
            return await operation()
        except Exception as error:
            content: Any = getattr(error, "content", b"")
            missing = getattr(error, "status_code", None) == 404 and isinstance(content, bytes)
            if missing and b"ollection" in content and b"doesn't exist" in content:  # not just any server's 404
                raise CollectionMissing(f"The vector store holds no collection named {self._collection!r}.") from None
            if hasattr(error, "retry_after_s"):
                raise TooManyRequests(error.retry_after_s) from error
            raise

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._transport.aclose()


class TooManyRequests(Exception):
    """Rate limit (HTTP 429) with the status the client's own error lacks."""

    status_code = 429

    def __init__(self, retry_after: object) -> None:
        super().__init__()
        self.headers = {"retry-after": str(retry_after)}

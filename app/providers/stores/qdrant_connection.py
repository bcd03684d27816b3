"""The client of a Qdrant server as the settings say: its address, key and time limit, and no question before ours."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.settings import Settings

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

log = logging.getLogger("garden.store")


@dataclass(frozen=True, slots=True)
class QdrantConnection:
    """A client for any number of event loops, and what closes the connections of the running one."""

    client: AsyncQdrantClient
    aclose: Callable[[], Awaitable[None]]


def connect(settings: Settings) -> QdrantConnection:
    """What the settings name; nothing is contacted. A key that would travel unencrypted is logged, and sent."""
    from qdrant_client import AsyncQdrantClient  # now, not in a question's time: it takes seconds

    from app.providers.http.transport import AiohttpTransport

    key = settings.qdrant_api_key.get_secret_value()
    if key and settings.qdrant_url.startswith("http://"):
        log.warning("qdrant_key_unencrypted")
    transport = AiohttpTransport()
    options: dict[str, Any] = {
        "url": settings.qdrant_url,
        "port": None if _has_port(settings.qdrant_url) else 6333,
        "timeout": settings.vector_store_timeout_seconds,
        "check_compatibility": False,  # it would ask the server while the client is made
        "headers": {"api-key": key} if key else None,  # as ``api_key`` does, without a warning
        "transport": transport,
    }
    return QdrantConnection(AsyncQdrantClient(**options), transport.aclose)


def _has_port(url: str) -> bool:
    return url.rpartition(":")[2].partition("/")[0].isdecimal()

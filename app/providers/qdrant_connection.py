"""The client of a Qdrant server as the settings say: its address, key and time limit, and no question before ours."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.settings import Settings

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

log = logging.getLogger("garden.store")


def client_maker(settings: Settings) -> Callable[[], AsyncQdrantClient]:
    """Makes clients; none is contacted. A key that would travel unencrypted is logged, and sent."""
    from qdrant_client import AsyncQdrantClient  # now, not in a question's time: it takes seconds

    from app.providers.aiohttp_transport import AiohttpTransport

    key = settings.qdrant_api_key.get_secret_value()
    if key and settings.qdrant_url.startswith("http://"):
        log.warning("qdrant_key_unencrypted")
    options: dict[str, Any] = {
        "url": settings.qdrant_url,
        "port": None if _has_port(settings.qdrant_url) else 6333,
        "timeout": settings.vector_store_timeout_seconds,
        "check_compatibility": False,  # it would ask the server while the client is made
        "headers": {"api-key": key} if key else None,  # as ``api_key`` does, without a warning on every client
    }

    return lambda: AsyncQdrantClient(**options, transport=AiohttpTransport())


def _has_port(url: str) -> bool:
    return url.rpartition(":")[2].partition("/")[0].isdecimal()

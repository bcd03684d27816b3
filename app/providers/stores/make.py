"""Vector stores by name: one function and one table line each. Vendor packages are imported only when chosen."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.settings import Settings
from graph.errors import StoreDamaged

if TYPE_CHECKING:
    from app.providers.embeddings.models import EmbeddingModel


log = logging.getLogger("garden.store")


def make_store(settings: Settings, collection: str, embedding: EmbeddingModel, **options: Any) -> Any:
    """The store that ``VECTOR_STORE`` names, opened on *collection*. Raises ``ConfigurationError``.

    A server's store takes *options*: ``seconds``, the time of one try of one request, and ``retry``.
    """
    return FACTORIES[settings.vector_store](settings, collection, embedding, **options)


def _embedded(settings: Settings, collection: str, embedding: EmbeddingModel) -> Any:
    from app.providers.stores.embedded import EmbeddedStore

    wait = settings.request_timeout_seconds
    store = EmbeddedStore(embedding.embeddings, settings.data_dir, collection, embedding.dimension, wait=wait)
    try:
        store.open()
    except StoreDamaged as error:  # no reason not to start: readiness says it, and a rebuilt collection is opened
        log.error("store_damaged", extra={"collection": collection, "reason": error.message})
    return store


def _chroma(settings: Settings, collection: str, embedding: EmbeddingModel, **options: Any) -> Any:
    from app.providers.stores.chroma import ChromaStore

    store = ChromaStore(
        embedding.embeddings,
        settings.vector_store_url,
        collection,
        embedding.dimension,
        **{"seconds": settings.vector_store_timeout_seconds, **options},
    )
    store.open()
    return store


def _qdrant(settings: Settings, collection: str, embedding: EmbeddingModel, **options: Any) -> Any:
    from app.providers.stores.qdrant import QdrantStore
    from app.providers.stores.qdrant_connection import connect

    store = QdrantStore(
        embedding.embeddings,
        connect(settings),
        collection,
        embedding.dimension,
        **{"seconds": settings.vector_store_timeout_seconds, **options},
    )
    store.open()
    return store


FACTORIES: dict[str, Callable[..., Any]] = {
    "embedded": _embedded,
    "chroma": _chroma,
    "qdrant": _qdrant,
}

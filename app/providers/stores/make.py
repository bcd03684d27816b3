"""Vector stores by name: one function and one table line each. Vendor packages are imported only when chosen."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langchain_core.vectorstores import VectorStore

from app.settings import Settings
from graph.errors import StoreDamaged

if TYPE_CHECKING:
    from app.providers.embeddings.models import EmbeddingModel
    from app.providers.stores.hybrid import ChunkStore

log = logging.getLogger("garden.store")


def make_store(settings: Settings, collection: str, embedding: EmbeddingModel, **options: Any) -> ChunkStore:
    """Open *collection* in the store that ``VECTOR_STORE`` names. Raises ``ConfigurationError``.

    A server's store takes *options*: ``seconds``, the time limit of one request, and ``retry``.
    """
    return FACTORIES[settings.vector_store](settings, collection, embedding, **options)


def as_store(store: ChunkStore | VectorStore, embedding: EmbeddingModel) -> ChunkStore:
    """A LangChain ``VectorStore`` of another package behind our interface; a store of ours as it is."""
    from app.providers.stores.any_vector_store import AnyVectorStore
    from app.providers.stores.langchain_store import LangChainStore

    if isinstance(store, VectorStore) and not isinstance(store, LangChainStore):
        return AnyVectorStore(store, embedding.embeddings)
    return store


def _embedded(settings: Settings, collection: str, embedding: EmbeddingModel) -> ChunkStore:
    from app.providers.stores.embedded import EmbeddedStore

    wait = settings.request_timeout_seconds
    store = EmbeddedStore(embedding.embeddings, settings.data_dir, collection, embedding.dimension, wait=wait)
    try:
        store.open()
    except StoreDamaged as error:  # startup continues: readiness reports it, and a repaired collection is opened
        log.error("store_damaged", extra={"collection": collection, "reason": error.message})
    return store


def _chroma(settings: Settings, collection: str, embedding: EmbeddingModel, **options: Any) -> ChunkStore:
    from app.providers.stores.chroma import ChromaStore

    options = {"seconds": settings.vector_store_timeout_seconds, **options}
    url = settings.vector_store_url
    store = ChromaStore(embedding.embeddings, url, collection, embedding.dimension, **options)
    store.check_size()
    return store


def _qdrant(settings: Settings, collection: str, embedding: EmbeddingModel, **options: Any) -> ChunkStore:
    from app.providers.stores.qdrant import QdrantStore

    store = QdrantStore(embedding.embeddings, settings, collection, embedding.dimension, **options)
    store.check_size()
    return store


FACTORIES: dict[str, Callable[..., ChunkStore]] = {
    "embedded": _embedded,
    "chroma": _chroma,
    "qdrant": _qdrant,
}

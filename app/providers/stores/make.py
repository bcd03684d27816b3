"""Vector stores by name; vendor packages are imported only when chosen."""

import logging
from collections.abc import Callable

from langchain_core.vectorstores import VectorStore

from app.providers.embeddings.models import EmbeddingModel
from app.providers.plugins import find_factory
from app.providers.stores.any_vector_store import AnyVectorStore
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.embedded import EmbeddedStore
from app.settings import Settings
from graph.errors import ConfigurationError, StoreDamaged

log = logging.getLogger("garden.store")


def make_store(settings: Settings, collection: str, embedding: EmbeddingModel) -> ChunkStore:
    """Open *collection* in the store that ``VECTOR_STORE`` names. Raises ``ConfigurationError``."""
    store = unchecked_store(settings, collection, embedding)
    try:
        store.open()
    except StoreDamaged as error:  # startup continues: readiness reports it, and a repaired collection is opened
        log.error("store_damaged", extra={"collection": collection, "reason": error.message})
    except ConfigurationError:
        store.close()
        raise
    return store


def unchecked_store(settings: Settings, collection: str, embedding: EmbeddingModel) -> ChunkStore:
    """Return *collection*, whatever model made its vectors; nothing is opened."""
    name = settings.vector_store
    factory = FACTORIES.get(name) or find_factory("stores", name)
    store = as_store(factory(settings, collection, embedding), embedding)
    store.model_name = embedding.name
    return store


def as_store(store: ChunkStore | VectorStore, embedding: EmbeddingModel) -> ChunkStore:
    """Adapt another package's LangChain ``VectorStore``; return a store of ours as it is."""
    return store if isinstance(store, ChunkStore) else AnyVectorStore(store, embedding.embeddings)


def _embedded(settings: Settings, collection: str, model: EmbeddingModel) -> ChunkStore:
    wait = settings.request_timeout_seconds
    return EmbeddedStore(model.embeddings, settings.data_dir, collection, model.dimension, wait=wait)


def _chroma(settings: Settings, collection: str, model: EmbeddingModel) -> ChunkStore:
    try:
        from app.providers.stores.chroma import ChromaStore
    except ImportError as error:
        advice = "pip install 'knowledge-garden[chroma]'"
        raise ConfigurationError(f"VECTOR_STORE='chroma' needs a package: {advice}") from error
    url, seconds = settings.vector_store_url, settings.vector_store_timeout_seconds
    return ChromaStore(
        model.embeddings, url, collection, model.dimension, seconds=seconds, text_field=settings.text_field
    )


def _qdrant(settings: Settings, collection: str, model: EmbeddingModel) -> ChunkStore:
    from app.providers.stores.qdrant import QdrantStore

    return QdrantStore(model.embeddings, settings, collection, model.dimension)


FACTORIES: dict[str, Callable[..., ChunkStore]] = {"embedded": _embedded, "chroma": _chroma, "qdrant": _qdrant}

"""Open the storage alone: settings → embedding model → collections. Ingest, export, import and check need no more."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property

from app.bootstrap.collections import Collections
from app.ingest.collection_writer import CollectionWriter
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.make import as_store, make_store
from app.settings import Settings
from graph.errors import ConfigurationError


@dataclass
class Storage:
    """The embedding model and the collections. ``aclose`` closes them."""

    settings: Settings
    embedding: EmbeddingModel
    collections: Collections
    closing: AsyncExitStack
    """Closes every part, the last one first: one that fails, on a full disk for example, does not stop the others."""

    @property
    def store(self) -> ChunkStore:
        """The default collection, for every caller: for a request, ``collections`` opens what its caller may see."""
        return self.collections.default.store

    @property
    def writer(self) -> CollectionWriter:
        """Where ingest puts documents."""
        return self.collections.default.writer

    @cached_property
    def task_writer(self) -> CollectionWriter:
        """Where ingest puts tasks, opened by the first access. Raises ``ConfigurationError``, ``StoreUnavailable``."""
        store = make_store(self.settings, self.settings.tasks_collection, self.embedding)
        self.closing.push_async_callback(store.aclose)
        return CollectionWriter(store, self.embedding.embeddings, self.embedding.name)

    async def aclose(self) -> None:
        """Close the collections and the models; a second call does nothing."""
        await self.closing.aclose()


def open_storage(
    settings: Settings, *, embedding: EmbeddingModel | None = None, store: ChunkStore | None = None
) -> Storage:
    """Open what *settings* name, or use the parts passed. Raises ``ConfigurationError``, leaving no collection open."""
    name = settings.vector_store_collection
    if name == settings.tasks_collection:  # documents and tasks would share it
        raise ConfigurationError(f"TASKS_COLLECTION={name!r} is not allowed: another name than VECTOR_STORE_COLLECTION")
    embedding = embedding or make_embeddings(settings)
    store = make_store(settings, name, embedding) if store is None else as_store(store, embedding)
    collections = Collections(settings, embedding, store)
    closing = AsyncExitStack()
    closing.callback(embedding.close)
    closing.push_async_callback(store.aclose)
    closing.push_async_callback(collections.aclose)
    return Storage(settings, embedding, collections, closing)

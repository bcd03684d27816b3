"""Open the storage alone: settings → embedding model → collections. Ingest, export, import and check need no more."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cached_property

from app.ingest.collection_writer import CollectionWriter
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.make import as_store, make_store
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError


@dataclass
class Storage:
    """The embedding model and the collections. ``aclose`` closes them."""

    settings: Settings
    embedding: EmbeddingModel
    store: ChunkStore
    """The collection of documents."""
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def writer(self) -> CollectionWriter:
        """Where ingest puts documents."""
        return CollectionWriter(self.store, self.embedding.embeddings, self.embedding.name)

    @cached_property
    def tasks(self) -> CollectionWriter:
        """Where ingest puts tasks. Their collection is opened by the first access.

        Raises ``ConfigurationError`` or ``StoreUnavailable``.
        """
        store = make_store(self.settings, self.settings.tasks_collection, self.embedding)
        self.closing.push_async_callback(store.aclose)
        return CollectionWriter(store, self.embedding.embeddings, self.embedding.name)

    async def aclose(self) -> None:
        """Close the collections and the model; a second call does nothing."""
        await self.closing.aclose()


def open_storage(
    settings: Settings | None = None, *, embedding: EmbeddingModel | None = None, store: ChunkStore | None = None
) -> Storage:
    """Open what *settings* name, or use the parts passed as arguments.

    Raises ``ConfigurationError``, and then leaves no collection open.
    """
    settings = settings or load_settings()
    check_collections(settings)
    embedding = embedding or make_embeddings(settings)
    collection = settings.vector_store_collection
    store = make_store(settings, collection, embedding) if store is None else as_store(store, embedding)
    storage = Storage(settings, embedding, store)
    storage.closing.callback(embedding.close)
    storage.closing.push_async_callback(store.aclose)
    return storage


def check_collections(settings: Settings) -> None:
    """Raise ``ConfigurationError`` where documents and tasks are to share one collection."""
    if settings.tasks_collection == settings.vector_store_collection:
        name = settings.tasks_collection
        raise ConfigurationError(f"TASKS_COLLECTION={name!r} is not allowed: another name than VECTOR_STORE_COLLECTION")

"""The collections of one store: chosen per request, opened when first asked, a bounded number of them open."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from answering.types import Question, SubqueryResults
from app.ingest.collection_writer import CollectionWriter
from app.ops.access import access_var
from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.models import EmbeddingModel
from app.providers.embeddings.vectors import valid_unicode
from app.providers.stores import COLLECTION_NAME
from app.providers.stores.catalog import remove_folder, remove_if_empty
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.database import FILE
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.make import make_store
from app.settings import Settings
from graph.errors import ConfigurationError, InvalidInput, RAGError, StoreUnavailable, UnknownCollection

MAX_OPEN = 16
"""Collections that are kept open beside the default one. More are open while more are in use."""
MAX_NAMED = 50
"""Most names that an error lists."""


@dataclass(slots=True)
class OpenCollection:
    """A collection that is open; ``folder`` holds its manifest and its uploads, whatever store holds the chunks."""

    name: str
    store: ChunkStore
    retriever: HybridRetriever
    writer: CollectionWriter
    folder: Path
    users: int = 0


class Collections:
    """Opens the collection that a caller names, if the caller may see it.

    ``default`` is that of ``VECTOR_STORE_COLLECTION``: open from the start, closed by its owner.
    """

    def __init__(self, settings: Settings, embedding: EmbeddingModel, store: ChunkStore) -> None:
        self._settings = settings
        self._embedding = embedding
        self.default = self._opened(settings.vector_store_collection, store)
        self._open: OrderedDict[str, OpenCollection] = OrderedDict()
        self._opening = asyncio.Lock()

    async def names(self) -> list[str]:
        """Return the names of the collections that the caller may see, sorted. Raises ``StoreUnavailable``."""
        stored = await self.default.store.acollection_names()
        return [name for name in sorted({*stored, self.default.name}) if self._visible(name)]

    async def resolve(self, name: str | None, *, create: bool = False) -> str:
        """Return the collection that *name* stands for: itself, or for None the caller's default.

        That is the default collection, or the first that the caller's key names where the key does not see that. With
        *create* it need not exist. Raises ``UnknownCollection``, ``InvalidInput`` or ``StoreUnavailable``.
        """
        if name is None:
            own = access_var.get().collections
            if own is None or self.default.name in own:
                return self.default.name
            name = own[0] if own else ""
        if not isinstance(name, str):
            raise InvalidInput("collection must be a string.", "collection")
        if valid_unicode(name) != name:
            raise InvalidInput("collection must be valid Unicode text.", "collection")
        if not self._visible(name):
            raise await self._unknown(name)
        if create and not COLLECTION_NAME.fullmatch(name):
            raise InvalidInput("A collection's name has at most 100 letters, digits, '_', '-' and '.'.", "collection")
        if not create and not await self._exists(name):
            raise await self._unknown(name)
        return name

    @asynccontextmanager
    async def use(self, name: str | None = None, *, create: bool = False) -> AsyncGenerator[OpenCollection]:
        """Open the collection for the time of a request; *name* and *create* as for ``resolve``.

        One that is made here is gone again where the request fails and has stored nothing.
        """
        name = await self.resolve(name, create=create)
        if name == self.default.name:
            yield self.default
            return
        is_new = create and not await self._exists(name)
        opened = await self._acquire(name)
        try:
            yield opened
        except Exception:  # of whatever kind: it is raised again
            if is_new:
                await self._drop_if_empty(opened)
            raise
        finally:
            opened.users -= 1
            if not opened.users and self._open.get(name) is not opened:
                await opened.store.aclose()
            await self._close_idle()

    async def retrieve(self, question: Question) -> tuple[SubqueryResults, ...]:
        """Search the collection that *question* names; see ``graph.ports.Retriever``. Raises what ``use`` does too."""
        async with self.use(question.collection) as opened:
            return await opened.retriever.retrieve(question)

    async def delete(self, name: str) -> None:
        """Delete a collection with everything in it. Raises what ``resolve`` does; the default one is refused."""
        if await self.resolve(name) == self.default.name:
            raise InvalidInput("The default collection is not deleted: delete its documents.", "collection")
        await self.default.store.adelete_collection(name)
        await asyncio.to_thread(remove_folder, self._settings.data_dir / name)
        opened = self._open.pop(name, None)
        if opened and not opened.users:  # else its last user closes it
            await opened.store.aclose()

    async def aclose(self) -> None:
        """Close every collection but the default one."""
        while self._open:
            await self._open.popitem()[1].store.aclose()

    async def _acquire(self, name: str) -> OpenCollection:
        async with self._opening:
            if name not in self._open:
                try:
                    store = await asyncio.to_thread(make_store, self._settings, name, self._embedding)
                except ConfigurationError as error:  # another vector size: the request fails, the service does not
                    raise StoreUnavailable(error.message) from error
                self._open[name] = self._opened(name, store)
            self._open.move_to_end(name)
            opened = self._open[name]
            opened.users += 1
            return opened

    async def _drop_if_empty(self, opened: OpenCollection) -> None:
        """Forget a collection, and delete it where it is empty; a server makes one with its first chunk only."""
        self._open.pop(opened.name, None)  # its last user closes it
        if isinstance(opened.store, EmbeddedStore):
            with suppress(RAGError):  # the failure of the request is what the caller is told
                await asyncio.to_thread(remove_if_empty, opened.store.database)

    async def _close_idle(self) -> None:
        """Close what was used longest ago, past ``MAX_OPEN``."""
        idle = [name for name, opened in self._open.items() if not opened.users]
        for name in idle[: max(0, len(self._open) - MAX_OPEN)]:
            await self._open.pop(name).store.aclose()

    async def _exists(self, name: str) -> bool:
        """Tell whether a visible collection exists; of a server, an open one is taken to."""
        if name == self.default.name:
            return True
        if self._settings.vector_store == "embedded":
            return bool(COLLECTION_NAME.fullmatch(name)) and (self._settings.data_dir / name / FILE).is_file()
        return name in self._open or name in await self.names()

    async def _unknown(self, name: str) -> UnknownCollection:
        names = await self.names()
        there = f"There are: {', '.join(names[:MAX_NAMED])}." if names else "There are none for this key."
        return UnknownCollection(
            f"There is no collection {name!r}. {there}", "collection", unknown=name, collections=names[:MAX_NAMED]
        )

    def _visible(self, name: str) -> bool:
        """Tell whether requests may name a collection, and this caller may see it."""
        chosen = self._settings.collections
        offered = name == self.default.name or not chosen or name in chosen
        return offered and name != self._settings.tasks_collection and access_var.get().sees(name)

    def _opened(self, name: str, store: ChunkStore) -> OpenCollection:
        embeddings = self._embedding.embeddings
        writer = CollectionWriter(store, embeddings, self._embedding.name)
        return OpenCollection(name, store, HybridRetriever(store, embeddings), writer, self._settings.data_dir / name)

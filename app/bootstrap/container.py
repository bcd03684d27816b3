"""Hold the parts of one service; ``app/bootstrap/compose.py`` makes them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from app.ingest.sink import Sink
from app.ops.traffic import Traffic

if TYPE_CHECKING:
    from app.ops.health import Health
    from app.ops.spans import Spans
    from app.providers.embeddings.models import EmbeddingModel
    from app.providers.stores.hybrid import ChunkStore
    from app.query_service.service import QueryService
    from app.settings import Settings
    from app.tasks.service import TaskService
    from graph.ports import Retriever


@dataclass(slots=True)
class AppContainer:
    """Every part of one service. ``aclose`` closes them."""

    settings: Settings
    embedding: EmbeddingModel
    store: ChunkStore
    retriever: Retriever
    service: QueryService
    health: Health
    version: str
    make_tasks: Callable[[], TaskService]
    closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    spans: Spans | None = None
    traffic: Traffic = field(default_factory=Traffic)
    tokens_spent: dict[str, int] = field(default_factory=dict)
    closed: bool = False
    _tasks: TaskService | None = None
    _lock: Lock = field(default_factory=Lock)

    @property
    def tasks(self) -> TaskService:
        """The Tasks API. Its collection is opened by the first access.

        Raises ``ConfigurationError`` or ``StoreUnavailable``.
        """
        with self._lock:
            if self._tasks is None:
                self._tasks = self.make_tasks()
            return self._tasks

    @property
    def sink(self) -> Sink:
        """Where ingest puts documents."""
        return Sink(self.store, self.embedding.embeddings, self.embedding.name)

    async def aclose(self) -> None:
        """Close the stores and the models; a second call does nothing."""
        if self.closed:
            return
        self.closed = True
        async with AsyncExitStack() as closing:  # a failure, on a full disk for example, does not stop the others
            for close in reversed(self.closers):
                closing.push_async_callback(close)
            if self._tasks is not None:
                closing.push_async_callback(self._tasks.store.aclose)

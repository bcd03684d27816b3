"""What one service is made of, put together by ``app/bootstrap/compose.py``."""

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
    from app.providers.http.circuit import Circuit
    from app.providers.stores.hybrid import ChunkStore
    from app.query_service.service import QueryService
    from app.settings import Settings
    from app.tasks.service import TaskService
    from graph.ports import Retriever


@dataclass(slots=True)
class AppContainer:
    """Everything one service is made of. ``aclose`` lets go of it all."""

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
    part_circuits: list[Circuit] = field(default_factory=list)
    tokens_spent: dict[str, int] = field(default_factory=dict)
    closed: bool = False
    _tasks: TaskService | None = None
    _making: Lock = field(default_factory=Lock)

    @property
    def tasks(self) -> TaskService:
        """Door S. Its collection is opened by the first access, so that who asks for documents alone never holds it.

        Raises ``ConfigurationError`` or ``StoreUnavailable``.
        """
        with self._making:
            if self._tasks is None:
                self._tasks = self.make_tasks()
            return self._tasks

    @property
    def circuits(self) -> dict[str, Circuit]:
        """The circuit of every remote part, by the part's name."""
        circuits = {circuit.name: circuit for circuit in self.part_circuits}
        tasks = self._tasks.store.circuit if self._tasks else None
        return circuits if tasks is None else {**circuits, f"tasks_{tasks.name}": tasks}

    async def start(self) -> None:
        """Nothing is left to load; here for what wants a running loop."""

    @property
    def sink(self) -> Sink:
        """Where ingest puts documents."""
        return Sink(self.store, self.embedding.embeddings, self.embedding.name)

    async def aclose(self) -> None:
        """Close the stores and the models; a second call does nothing."""
        if self.closed:
            return
        self.closed = True
        async with AsyncExitStack() as closing:  # one that fails, on a full disk say, keeps no other from closing
            for close in reversed(self.closers):
                closing.push_async_callback(close)
            if self._tasks is not None:
                closing.push_async_callback(self._tasks.store.aclose)

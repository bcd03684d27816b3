"""What is well and what is not, found by asking each part."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import httpx

from graph.errors import ConfigurationError, RAGError

LIMIT = 2.0
"""Seconds all probes may take together (contract, Door L)."""

NOTES = {
    "no_sparse_vectors": "The collection holds no sparse vectors, so chunks are found by meaning alone.",
    "no_sentence_vectors": "The collection holds no sentence vectors, so they are computed for every new question.",
}
"""What a store's notes mean, in a person's words."""

Probe = Callable[[], Awaitable[None]]


class NotReady(NamedTuple):
    """Why no work should be sent here, and what a person should do, where that is known."""

    reason: str
    do: str | None = None


class Health:
    """Probes of one service's parts. ``draining`` is set while it goes down."""

    def __init__(
        self,
        *,
        store: Probe,
        embedding: Probe,
        ollama_host: str,
        chat: Probe | None,
        notes: Callable[[], Sequence[str]] = tuple,
        advice: Mapping[str, str] | None = None,
    ) -> None:
        self._advice = advice or {}
        self._store = store
        self._embedding = embedding
        self._ollama_host = ollama_host
        self._chat = chat
        self._notes = notes
        self.draining = False

    async def check(self) -> dict[str, Any]:
        """Door L's five fields. Only parts that are configured count towards ``status``."""
        store, embedding, ollama, chat = await asyncio.gather(
            _works(self._store), _works(self._embedding), _works(self._ask_ollama), _works(self._chat)
        )
        status = "unhealthy" if not (store and embedding) else "healthy" if chat else "degraded"
        return {
            "status": status,
            "ollama": "connected" if ollama else "unreachable",
            "vector_store": "connected" if store else "unreachable",
            "embedding_model": "loaded" if embedding else "not_loaded",
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }

    def notes(self) -> list[str]:
        """What works with less than it could: a collection without sentence vectors, say."""
        return [NOTES.get(note, note) for note in self._notes()]

    async def not_ready(self) -> NotReady | None:
        """Why no work should be sent here now, and what to do about it; None when it should."""
        if self.draining:
            return NotReady("The service is going down.")
        for name, probe in (("vector store", self._store), ("embedding model", self._embedding)):
            try:
                async with asyncio.timeout(LIMIT):
                    await probe()
            except TimeoutError:
                kind = "StoreUnavailable" if probe is self._store else "EmbeddingUnavailable"
                return NotReady(f"The {name} did not answer in {LIMIT:g} s.", self._advice.get(kind))
            except RAGError as error:
                advice = self._advice.get(type(error).__name__)
                return NotReady(f"The {name} is not ready: {error.message}", advice)
        return None

    async def _ask_ollama(self) -> None:
        async with httpx.AsyncClient(timeout=LIMIT) as client:
            (await client.get(f"{self._ollama_host}/api/version")).raise_for_status()


async def _works(probe: Probe | None) -> bool:
    if probe is None:
        return True
    try:
        async with asyncio.timeout(LIMIT):
            await probe()
    except (TimeoutError, RAGError, httpx.HTTPError, httpx.InvalidURL, ConfigurationError):
        return False
    return True

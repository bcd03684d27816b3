"""Probe the parts of a service for health and readiness."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import httpx

from app.ops.advice import ADVICE
from app.providers.chat.chat_model import ChatModel
from app.providers.stores.chunk_store import ChunkStore
from graph.errors import RAGError

LIMIT = 2.0
"""Seconds all probes may take together (contract, RAG library)."""
Probe = Callable[[], Awaitable[None]]
_tls = cache(httpx.create_ssl_context)
"""Returns the TLS context, made once: reading the certificates takes longer than a probe."""


class NotReady(NamedTuple):
    """Why the service is not ready, and what to do about it, if known."""

    reason: str
    do: str | None = None


@dataclass
class Health:
    """Probes of one service's parts. ``draining`` is set while it shuts down."""

    store: ChunkStore
    probe_embedding: Probe | None
    ollama_host: str
    chat: ChatModel | None
    draining: bool = False

    async def check(self) -> dict[str, Any]:
        """Return the five fields of ``/health``. Only configured parts count towards ``status``."""
        probes = (self.store.aprobe, self.probe_embedding, self._ask_ollama, self.chat.aprobe if self.chat else None)
        store, embedding, ollama, chat = [not error for error in await asyncio.gather(*map(_error, probes))]
        loading = self.chat is not None and self.chat.loader.loading
        status = "unhealthy" if not (store and embedding) else "healthy" if chat and not loading else "degraded"
        return {
            "status": status,
            "ollama": "unreachable" if not ollama else "loading" if loading else "connected",
            "vector_store": "connected" if store else "unreachable",
            "embedding_model": "loaded" if embedding else "not_loaded",
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }

    async def not_ready(self) -> NotReady | None:
        """Return why the service is not ready; None when it is."""
        if self.draining:
            return NotReady("The service is shutting down.")
        probes = (
            ("vector store", self.store.aprobe, "StoreUnavailable"),
            ("embedding model", self.probe_embedding, "EmbeddingUnavailable"),
        )
        for name, probe, error_type in probes:
            error = await _error(probe)
            if isinstance(error, RAGError):
                return NotReady(f"The {name} is not ready: {error.message}", ADVICE.get(type(error).__name__))
            if error:
                what = f"timed out after {LIMIT:g} s" if isinstance(error, TimeoutError) else type(error).__name__
                return NotReady(f"The {name} is not ready: {what}.", ADVICE[error_type])
        if self.chat and self.chat.loader.loading_first:
            return NotReady("The chat model is loading.")
        return None

    async def _ask_ollama(self) -> None:
        async with httpx.AsyncClient(timeout=LIMIT, verify=_tls()) as client:
            (await client.get(f"{self.ollama_host}/api/version")).raise_for_status()


async def _error(probe: Probe | None) -> Exception | None:
    """Return why *probe* failed; None where it did not, or there is nothing to probe."""
    try:
        async with asyncio.timeout(LIMIT):
            if probe:
                await probe()
    except (OSError, RAGError, httpx.HTTPError, httpx.InvalidURL) as error:
        return error
    return None

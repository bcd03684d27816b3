"""An Ollama that begins its answer and then waits, for requests that must be in flight at a given moment."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

from tests.peers import OllamaPeer
from tests.peers.ollama_peer import LOADED


class SlowOllama(OllamaPeer):
    """Sends the first piece of an answer, and the rest once ``gate`` is open; it loads without delay."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    @property
    def settings(self) -> dict[str, str]:
        """What leads a service here, its gates open to every chunk."""
        return {
            "OLLAMA_HOST": self.url,
            "OLLAMA_MODEL": "llama3.2:1b",
            "OLLAMA_NUM_PARALLEL": "4",
            "OLLAMA_TIMEOUT_SECONDS": "60",
            "REQUEST_TIMEOUT_SECONDS": "60",
            "RELEVANCE_THRESHOLD": "0",
            "MIN_CONFIDENCE_THRESHOLD": "0",
        }

    def in_flight(self) -> int:
        """How many answers were asked for."""
        return len(self.asked("/api/chat"))

    async def _stream(self, model: str, pieces: list[str], reason: str, chat: bool) -> AsyncIterator[bytes]:
        first = pieces != LOADED
        async for line in super()._stream(model, pieces, reason, chat):
            yield line
            if first:
                await asyncio.to_thread(self.gate.wait, 60)
            first = False

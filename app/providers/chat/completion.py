"""The reply of a chat model as it comes, and what its server counts of it."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk

from app.providers.chat.pace import CHARS_PER_TOKEN
from app.providers.embeddings.vectors import valid_unicode
from app.providers.http.error_mapping import chat_error

REPEATED_CHARS, MAX_REPEATS = 60, 4
"""A reply whose last characters stand in it so often repeats itself without end."""
_TRUNCATED = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_REASONS = ("done_reason", "finish_reason", "stop_reason", "stopReason")
NANOSECONDS = 1e9
"""In a second: the unit of Ollama's durations."""


@dataclass(slots=True)
class Completion:
    """The reply so far; once complete, ``text`` is without the model's thoughts.

    ``citations`` are the model's own, if any: dictionaries with ``start`` and ``end`` in ``text``, and ``sources``.
    ``counts`` are what the model's server said of its last piece, ``used`` the tokens of all attempts.
    """

    text: str = ""
    reason: str = ""
    citations: list[Mapping[str, Any]] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)
    pieces: int = 0
    begun: float = 0.0
    first: float = 0.0
    started: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def truncated(self) -> bool:
        """Whether the reply reached the limit of its tokens."""
        return self.reason.lower() in _TRUNCATED

    def add(self, piece: AIMessageChunk) -> str:
        """Add a piece of the stream, and return its text."""
        text = valid_unicode(str(piece.text))
        self.text += text
        if not self.first:
            self.first = time.monotonic()
            self.started.set()
        self.pieces += bool(text)
        metadata = {**piece.additional_kwargs, **piece.response_metadata}
        if usage := piece.usage_metadata:
            self.used.update(input=usage["input_tokens"], output=usage["output_tokens"])
        self.counts |= metadata | dict(piece.usage_metadata or {})
        done = "stop" if metadata.get("done") is True else self.reason
        self.reason = next((str(metadata[name]) for name in _REASONS if metadata.get(name)), done)
        self.citations.extend(citation for citation in metadata.get("citations") or () if isinstance(citation, Mapping))
        return text

    async def stream(self, pieces: AsyncIterator[AIMessageChunk], model: str) -> AsyncGenerator[str]:
        """Add *pieces* as they come, and yield their texts. An error of *model*'s package becomes one of ours."""
        try:
            async with aclosing(pieces) as stream:  # type: ignore[type-var]  # it is a generator
                async for piece in stream:
                    yield self.add(piece)
        except Exception as error:
            raise chat_error(error, model, begun=self.text != "") from error

    def read(self, prompt: str) -> tuple[float, float]:
        """Return the tokens of *prompt* and the seconds the model took to read them; its own counts, if it counts."""
        tokens = float(self.counts.get("input_tokens") or len(prompt) / CHARS_PER_TOKEN)
        nanoseconds = self.counts.get("prompt_eval_duration")
        return tokens, nanoseconds / NANOSECONDS if nanoseconds else self.first - self.begun

    def written(self) -> tuple[float, float]:
        """Return the tokens of the reply and the seconds the model took to write them."""
        tokens = float(self.counts.get("output_tokens") or self.pieces)
        nanoseconds = self.counts.get("eval_duration")
        return tokens, nanoseconds / NANOSECONDS if nanoseconds else time.monotonic() - self.first


def repeats_itself(text: str) -> bool:
    """Whether the end of *text* stands in it so often that it repeats itself without end."""
    end = text[-REPEATED_CHARS:]
    return len(end) == REPEATED_CHARS and text.count(end, -REPEATED_CHARS * 40) >= MAX_REPEATS

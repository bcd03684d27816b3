"""Complete a prompt: streamed, time-limited, bounded, retried until the first piece; without the model's thoughts."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from app.providers.embeddings.vectors import valid_unicode
from app.providers.http.error_mapping import chat_error
from app.providers.http.retry import retried
from graph.errors import SynthesisFailed, SynthesisTimeout
from graph.ports import TokenSink, discard
from prompts import Prompt

CHARS_PER_TOKEN, MIN_READ_CHARS = 16, 8_000
"""Most characters read of a reply per allowed token (English has 4 to 5), and at least; a longer one is endless."""
ATTEMPTS = 2
"""Of a call in all: a chat model's time is short, and a second full wait would not fit."""
_TRUNCATED = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_BROKEN = frozenset({"error", "timeout", "load", "unload"})
_REASONS = ("done_reason", "finish_reason", "stop_reason", "stopReason")
_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_UNFINISHED_TAG = re.compile(r"</?(?:t|th|thi|thin|think(?:i|in|ing)?)?\Z", re.IGNORECASE)


@dataclass(slots=True)
class Completion:
    """The reply so far; once complete, ``text`` is without the model's thoughts.

    ``citations`` are the model's own, if any: dictionaries with ``start`` and ``end`` in ``text``, and ``sources``.
    """

    text: str = ""
    reason: str = ""
    citations: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def truncated(self) -> bool:
        """Whether the reply reached the limit of its tokens."""
        return self.reason.lower() in _TRUNCATED

    def add(self, piece: AIMessageChunk) -> str:
        """Add a piece of the stream, and return its text."""
        text = valid_unicode(str(piece.text))
        self.text += text
        metadata = {**piece.additional_kwargs, **piece.response_metadata}
        done = "stop" if metadata.get("done") is True else self.reason
        self.reason = next((str(metadata[name]) for name in _REASONS if metadata.get(name)), done)
        self.citations.extend(one for one in metadata.get("citations") or () if isinstance(one, Mapping))
        return text


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A LangChain chat model, and how it differs from others.

    ``context_tokens`` is the window of prompt and answer, ``seconds`` the total time of one call. ``options`` makes the
    keyword arguments that limit a reply's tokens, ``in_one_piece`` are those that stop streaming, if any.
    ``gives_reason``: its streams end with a reason, so one without was broken off. ``takes_documents``: it takes chunks
    as ``documents`` and cites spans (``additional_kwargs["citations"]``); others get them in the prompt and write
    markers. ``probe`` is a cheap call that raises when the model is missing (None: there is none).
    """

    name: str
    model: BaseChatModel
    context_tokens: int
    seconds: float
    options: Callable[[int], Mapping[str, Any]] = lambda limit: {"max_tokens": limit}
    gives_reason: bool = False
    in_one_piece: Mapping[str, Any] = field(default_factory=dict)
    takes_documents: bool = False
    probe: Callable[[], Awaitable[object]] | None = None
    aclose: Callable[[], Awaitable[None]] | None = None
    spent: dict[str, int] = field(default_factory=lambda: {"input": 0, "output": 0})
    """Tokens used since the start, as the model counts them."""

    async def complete(
        self, prompt: Prompt, user: str, emit: TokenSink, *, deadline: float, max_tokens: int, **options: Any
    ) -> Completion:
        """Read the reply to *prompt* and *user*; ``emit`` gets its pieces without thoughts.

        With ``discard`` for ``emit`` it is not streamed, if the model can. *max_tokens* limits the reply; *options* go
        to the model. Ends before the monotonic *deadline*, and within the model's own time. Raises
        ``ModelUnavailable``, ``SynthesisTimeout``, or ``SynthesisFailed`` (also for a reply that was broken off).
        """
        until = min(deadline, time.monotonic() + self.seconds)
        reply, most = Completion(), max(MIN_READ_CHARS, max_tokens * CHARS_PER_TOKEN)
        messages = [SystemMessage(prompt.system), HumanMessage(user)]
        config: RunnableConfig = {"metadata": {"prompt": prompt.label, "prompt_sha256": prompt.sha256}}
        keywords = {**self.options(max_tokens), **(self.in_one_piece if emit is discard else {}), **options}

        async def read() -> None:
            await self._read(self.model.astream(messages, config, **keywords), emit, reply, most)

        try:
            async with asyncio.timeout(until - time.monotonic()):
                await retried(read, deadline=until, attempts=ATTEMPTS, unless=lambda: reply.text != "")
        except TimeoutError as error:
            raise SynthesisTimeout("The chat model did not finish in time.") from error
        reply.text = without_thoughts(reply.text)
        return reply

    async def _read(self, pieces: AsyncIterator[AIMessageChunk], emit: TokenSink, reply: Completion, most: int) -> None:
        """Read one stream into *reply*, up to *most* characters."""
        thoughts = ThoughtFilter()
        async with aclosing(pieces) as stream:  # type: ignore[type-var]  # it is a generator
            while (piece := await self._next(stream, reply)) is not None:
                if usage := piece.usage_metadata:
                    self.spent["input"] += usage["input_tokens"]
                    self.spent["output"] += usage["output_tokens"]
                if shown := thoughts.feed(reply.add(piece)):
                    await emit(shown)
                if len(reply.text) >= most:
                    reply.reason = "length"
                    break
        if reply.reason.lower() in _BROKEN or (self.gives_reason and not reply.reason):
            raise SynthesisFailed("The chat model broke off its answer.")
        if shown := thoughts.feed("", final=True):
            await emit(shown)

    async def _next(self, stream: AsyncIterator[AIMessageChunk], reply: Completion) -> AIMessageChunk | None:
        """Return the next piece, None at the end; map only what the vendor's code raises."""
        try:
            return await anext(stream, None)
        except Exception as error:
            raise chat_error(error, self.name, begun=reply.text != "") from error


class ThoughtFilter:
    """Removes thoughts from a streamed text; an unclosed thought removes the rest."""

    def __init__(self) -> None:
        self._pending = ""
        self._thinking = False

    def feed(self, piece: str, *, final: bool = False) -> str:
        """Return what may be shown now; unless *final*, hold back a ``<`` that may open a tag."""
        self._pending += piece
        shown = ""
        while tag := _TAG.search(self._pending):
            shown += "" if self._thinking else self._pending[: tag.start()]
            self._pending = self._pending[tag.end() :]
            self._thinking = not tag[1]
        unfinished = None if final else _UNFINISHED_TAG.search(self._pending)
        cut = unfinished.start() if unfinished else len(self._pending)
        shown += "" if self._thinking else self._pending[:cut]
        self._pending = self._pending[cut:]
        return shown


def without_thoughts(text: str) -> str:
    """Return *text* without its thoughts, stripped.

    A ``</think>`` without an opening tag, which some models' templates write for them, removes all before it.
    """
    first = _TAG.search(text)
    if first and first[1]:
        text = text[first.end() :]
    return ThoughtFilter().feed(text, final=True).strip()

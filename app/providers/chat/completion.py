"""One call of a chat model: streamed if anybody watches, within its time, retried before it speaks, cut or whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.providers.chat.model import ChatModel, WholeReply
from app.providers.chat.thoughts import Thoughts, without_thoughts
from app.providers.http.circuit import Circuit
from app.providers.http.error_mapping import chat_error, fault_of
from app.providers.http.retry import Retry
from graph.errors import ModelUnavailable, SynthesisFailed, SynthesisTimeout
from graph.ports import TokenSink

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk, BaseMessage
    from langchain_core.runnables import RunnableConfig

    Piece = AIMessageChunk | WholeReply

CHARS_A_TOKEN, LEAST_READ = 16, 8_000
"""Characters that are read of a reply: so many for each token it was allowed, of which English has 4 to 5, and at least
so many. What goes beyond is a model that does not end."""

_CUT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_BROKEN = frozenset({"error", "timeout", "load", "unload"})
_REASONS = ("done_reason", "finish_reason", "stop_reason", "stopReason")


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, thoughts taken out. ``truncated``: it reached the limit of its tokens.

    ``citations`` are the model's own, where it cites by itself: dictionaries with ``start`` and ``end`` in ``text``,
    and ``sources``.
    """

    text: str
    truncated: bool = False
    citations: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class _Heard:
    """What has come of one reply so far."""

    most: int
    full: bool = False
    text: str = ""
    reason: str = ""
    citations: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, piece: Piece) -> str:
        came = str(piece.text)
        said = came[: self.most - len(self.text)]
        self.text += said
        told = {**piece.additional_kwargs, **piece.response_metadata}
        self.reason = next((str(told[name]) for name in _REASONS if told.get(name)), self.reason)
        if not self.reason and told.get("done") is True:
            self.reason = "stop"
        self.citations.extend(c for c in told.get("citations") or () if isinstance(c, Mapping))
        if len(said) < len(came):
            self.full, self.reason = True, "length"
        return said


class ChatCompletion:
    """Calls one chat model, in its total time of *seconds*; *retry* and *circuit* stand before every call."""

    def __init__(self, chat: ChatModel, *, seconds: float, retry: Retry, circuit: Circuit) -> None:
        self.chat = chat
        self.circuit = circuit
        self.spent = {"input": 0, "output": 0}
        """Tokens used since the start, as the model counts them."""
        self._seconds = seconds
        self._retry = retry

    async def complete(
        self,
        messages: Sequence[BaseMessage],
        emit: TokenSink,
        *,
        deadline: float,
        max_tokens: int,
        trace: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Completion:
        """Have the model reply to *messages*; ``emit`` takes the reply piece by piece, without its thoughts.

        Where ``emit`` is ``unheard`` a model that can is asked for the whole at once: then nothing has begun before all
        is there, and a reply that breaks off is asked for once more.

        *max_tokens* limits the reply, *trace* is noted on the call in traces, *options* go to the model as they are.
        Ends before the monotonic *deadline*, and within the model's own time, however slowly it drips. Raises
        ``ModelUnavailable``, ``SynthesisTimeout``, or ``SynthesisFailed`` (also for a reply that was broken off).
        """
        until = min(deadline, time.monotonic() + self._seconds)
        heard = _Heard(max(LEAST_READ, max_tokens * CHARS_A_TOKEN))
        told: RunnableConfig = {"metadata": dict(trace or {})}
        keywords = {**self.chat.options(max_tokens), **options}
        with self.circuit.guard(_resting, _is_failure):
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())):
                    await self._retry.acall(
                        lambda: self._listen(self._pieces(messages, emit, told, keywords), emit, heard),
                        deadline=until,
                        unless=lambda: heard.text != "",
                    )
            except TimeoutError as error:
                raise SynthesisTimeout("The chat model did not finish in time.") from error
        return Completion(without_thoughts(heard.text), heard.reason.lower() in _CUT, tuple(heard.citations))

    def _pieces(
        self, messages: Sequence[BaseMessage], emit: TokenSink, told: RunnableConfig, keywords: Mapping[str, Any]
    ) -> AsyncIterator[Piece]:
        """Stream the reply."""
        return self.chat.model.astream(list(messages), told, **keywords)

    async def _listen(self, pieces: AsyncIterator[Piece], emit: TokenSink, heard: _Heard) -> None:
        thoughts = Thoughts()
        async with aclosing(pieces) as stream:  # type: ignore[type-var]  # it is a generator
            while not heard.full and (piece := await self._next(stream, heard)) is not None:
                if usage := piece.usage_metadata:
                    self.spent["input"] += usage["input_tokens"]
                    self.spent["output"] += usage["output_tokens"]
                if shown := thoughts.feed(heard.add(piece)):
                    await emit(shown)
        if heard.reason.lower() in _BROKEN or (self.chat.says_when_done and not heard.reason):
            raise SynthesisFailed("The chat model broke off its answer.")
        if shown := thoughts.close():
            await emit(shown)

    async def _next(self, stream: Any, heard: _Heard) -> Piece | None:
        """The next piece, None at the end. Whatever a vendor's code raises is a failure of the model."""
        try:
            piece: Piece | None = await anext(stream, None)
        except Exception as error:
            raise chat_error(error, self.chat.name, begun=heard.text != "") from error
        return piece


def _resting() -> ModelUnavailable:
    return ModelUnavailable("The chat model keeps failing; it is tried again in a moment.")


def _is_failure(error: Exception) -> bool:
    """Whether *error* speaks against the model rather than against the one request it did not accept."""
    return isinstance(error, SynthesisFailed) and fault_of(error).kind != "rejected"

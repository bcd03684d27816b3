"""Complete a prompt: model loaded, calls queued, streamed, time-limited and bounded; without the model's thoughts."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from answering.types import TokenCallback
from app.providers.chat.completion import Completion, repeats_itself
from app.providers.chat.loading import LOAD_SECONDS, ModelLoader
from app.providers.chat.model_queue import ModelPlace, ModelQueue
from app.providers.chat.pace import Pace
from app.providers.chat.thoughts import ThoughtFilter, without_thoughts
from app.providers.http.error_mapping import chat_error
from app.providers.http.retry import retried
from graph.errors import ModelUnavailable, Overloaded, SynthesisFailed, SynthesisTimeout
from prompts import Prompt

MAX_CHARS_PER_TOKEN, MIN_READ_CHARS = 16, 8_000
"""Most characters read of a reply per allowed token (English has 4 to 5), and at least; a longer one is endless."""
ATTEMPTS = 2
"""Of a call in all: a chat model's time is short, and a second full wait would not fit."""
READING_MARGIN = 2.0
"""How many times as long as by its pace, or as a call may take, a prompt may be read that its client has left."""
MEASURE_AGAIN_SECONDS = 60.0
"""Least time between two measurements of a model that is too slow to be asked."""
_BROKEN = frozenset({"error", "timeout", "load", "unload"})


@dataclass(slots=True)
class ChatModel:
    """A LangChain chat model, and how it differs from others.

    ``context_tokens`` is the window of prompt and answer, ``seconds`` the total time of one call. ``options`` makes the
    keyword arguments that limit a reply's tokens, ``in_one_piece`` are those that stop streaming, if any.
    ``gives_reason``: its streams end with a reason, so one without was broken off. ``takes_documents``: it takes chunks
    as ``documents`` and cites spans (``additional_kwargs["citations"]``); others get them in the prompt and write
    markers. ``probe`` is a cheap call that raises when the model is missing (None: there is none). ``places`` is how
    many calls it answers at a time. ``keep_alive``: seconds that its server keeps the model in memory after a call;
    None for one that need not be loaded. ``reads_on``: its server reads a prompt to its end though the client has left.
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
    places: int = 32
    keep_alive: float | None = None
    reads_on: bool = False
    pace: Pace = field(default_factory=Pace)
    spent: dict[str, int] = field(default_factory=lambda: {"input": 0, "output": 0})
    """Tokens used since the start, as the model counts them; LangChain's own handler counts none without a name."""
    queue: ModelQueue = field(init=False)
    loader: ModelLoader = field(init=False)
    _measured_again: float = -math.inf
    _measuring: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        self.queue = ModelQueue(self.places)
        self.loader = ModelLoader(self.name, self.model, self.options, self.pace, self.keep_alive)

    async def aprobe(self) -> None:
        """Raise ``SynthesisFailed`` when the model is unreachable; without a probe it counts as reachable."""
        try:
            if self.probe:
                await self.probe()
        except Exception as error:
            raise chat_error(error, self.name) from error

    async def until_loaded(self, deadline: float) -> None:
        """Wait for the model, within its own time and before *deadline*. Raises ``ModelLoading``, or as the load."""
        await self.loader.until_loaded(min(deadline - time.monotonic(), self.seconds))

    async def complete(
        self,
        prompt: Prompt,
        user: str,
        emit: TokenCallback | None,
        *,
        deadline: float,
        max_tokens: int,
        **options: Any,
    ) -> Completion:
        """Read the reply to *prompt* and *user*; ``emit`` gets its pieces without thoughts.

        Without ``emit`` it is not streamed, if the model can. *max_tokens* limits the reply; *options* go to the model.
        Waits until the model is loaded and free, then ends within the model's own time, before the monotonic
        *deadline*. Raises ``ModelLoading``, ``Overloaded``, ``ModelUnavailable``, ``SynthesisTimeout``, or
        ``SynthesisFailed`` (also for a reply that was broken off).
        """
        most = max(MIN_READ_CHARS, max_tokens * MAX_CHARS_PER_TOKEN)
        messages = [SystemMessage(prompt.system), HumanMessage(user)]
        config: RunnableConfig = {"metadata": {"prompt": prompt.label, "prompt_sha256": prompt.sha256}}
        keywords = {**self.options(max_tokens), **(self.in_one_piece if emit is None else {}), **options}
        call = partial(self.model.astream, messages, config, **keywords)
        await self.until_loaded(deadline)
        text = f"{prompt.system}\n{user}"
        need = min(self.pace.seconds(text, max_tokens), self.seconds)
        async with self.queue.place(need, deadline) as place:
            until = min(deadline, time.monotonic() + self.seconds)
            reply = Completion(begun=time.monotonic())
            work = asyncio.create_task(self._attempts(call, emit, reply, until, most))
            try:
                async with asyncio.timeout(until - time.monotonic()):
                    await asyncio.shield(work)
            except TimeoutError as error:
                if not reply.first:
                    self.pace.outlast(text, time.monotonic() - reply.begun)
                raise SynthesisTimeout("The chat model did not finish in time.") from error
            except ModelUnavailable:
                self.loader.lost()
                raise
            finally:
                if not work.done():
                    self._leave(work, reply, place, text, streamed=emit is not None)
        self.loader.used()
        if reply.first:
            self.pace.observe(text, reply.read(text), reply.written())
        reply.text = without_thoughts(reply.text)
        return reply

    def measure_again(self) -> None:
        """Measure anew, in the background, a pace that was too slow for any passage: the machine may have been busy."""
        if time.monotonic() - self._measured_again < MEASURE_AGAIN_SECONDS:
            return
        self._measured_again = time.monotonic()

        async def measure() -> None:
            with suppress(SynthesisFailed, Overloaded):  # the next question tells
                async with self.queue.place(self.seconds, time.monotonic() + LOAD_SECONDS):
                    await self.loader.load()
                    await self.loader.measure()

        self._measuring = asyncio.create_task(measure())

    def _leave(
        self, work: "asyncio.Task[None]", reply: Completion, place: ModelPlace, text: str, *, streamed: bool
    ) -> None:
        """End a call that its caller has left; where the server reads on, hold the place until it has read *text*.

        The first token tells; a reply in one piece, and a server that hangs, do not: then the pace does.
        """
        reading = self.pace.reading_seconds(text)
        most = READING_MARGIN * max(reading, self.seconds) if streamed else reading
        seconds = most - (time.monotonic() - reply.begun)
        if not self.reads_on or reply.first or seconds <= 0:
            work.cancel()
            return

        async def until_read() -> None:
            reading = asyncio.create_task(reply.started.wait())
            await asyncio.wait({work, reading}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            reading.cancel()
            work.cancel()
            await asyncio.gather(work, reading, return_exceptions=True)

        place.kept = asyncio.create_task(until_read())

    async def _attempts(
        self,
        call: Callable[[], AsyncIterator[AIMessageChunk]],
        emit: TokenCallback | None,
        reply: Completion,
        until: float,
        most: int,
    ) -> None:
        """Read the reply, up to *most* characters, trying again until it has begun."""

        async def read() -> None:
            thoughts = ThoughtFilter()
            async with aclosing(reply.stream(call(), self.name)) as texts:
                async for text in texts:
                    shown = thoughts.feed(text)
                    if shown and emit is not None:
                        await emit(shown)
                    if len(reply.text) >= most or repeats_itself(reply.text):
                        reply.reason = "length"
                        break
            if reply.reason.lower() in _BROKEN or (self.gives_reason and not reply.reason):
                raise SynthesisFailed("The chat model broke off its answer.")
            shown = thoughts.feed("", final=True)
            if shown and emit is not None:
                await emit(shown)

        try:
            await retried(read, deadline=until, attempts=ATTEMPTS, unless=lambda: reply.text != "")
        finally:
            for kind, count in reply.used.items():
                self.spent[kind] += count

"""Complete a prompt: model loaded, calls queued, streamed, time-limited and bounded; without the model's thoughts."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from app.providers.chat.completion import NANOSECONDS, Completion, repeats_itself
from app.providers.chat.model_queue import ModelPlace, ModelQueue
from app.providers.chat.pace import Pace
from app.providers.chat.thoughts import ThoughtFilter, without_thoughts
from app.providers.http.error_mapping import chat_error
from app.providers.http.retry import retried
from graph.errors import ModelLoading, ModelUnavailable, SynthesisFailed, SynthesisTimeout
from graph.ports import TokenCallback
from prompts import Prompt

MAX_CHARS_PER_TOKEN, MIN_READ_CHARS = 16, 8_000
"""Most characters read of a reply per allowed token (English has 4 to 5), and at least; a longer one is endless."""
ATTEMPTS = 2
"""Of a call in all: a chat model's time is short, and a second full wait would not fit."""
LOAD_SECONDS = 600.0
"""Most time that a model may take to load, or to read a prompt that its client has left."""
FIRST_LOAD_SECONDS = 5
"""``Retry-After`` of a model that is loading, where it is not known how long that takes."""
_BROKEN = frozenset({"error", "timeout", "load", "unload"})
log = logging.getLogger("garden.chat")


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
    instructions: Prompt | None = None
    """What the model is loaded with: the beginning of every question's prompt."""
    pace: Pace = field(default_factory=Pace)
    spent: dict[str, int] = field(default_factory=lambda: {"input": 0, "output": 0})
    """Tokens used since the start, as the model counts them."""
    queue: ModelQueue = field(init=False)
    _loaded_until: float = -math.inf
    _loading: "asyncio.Task[None] | None" = None
    _loading_since: float = 0.0
    _load_seconds: float = 0.0

    def __post_init__(self) -> None:
        """Make the queue."""
        self.queue = ModelQueue(self.places)

    @property
    def loading(self) -> bool:
        """Whether the model is being loaded."""
        return self._loading is not None and not self._loading.done()

    @property
    def loading_first(self) -> bool:
        """Whether the model is being loaded for the first time."""
        return self.loading and not self._load_seconds

    async def load(self) -> None:
        """Load the model with its instructions and one token, which tells its pace; no caller's leaving ends that.

        Returns when it is loaded. Raises ``ModelUnavailable`` or ``SynthesisFailed``.
        """
        if self.keep_alive is None or time.monotonic() < self._loaded_until:
            return
        if not self.loading:
            self._loading_since = time.monotonic()
            self._loading = asyncio.create_task(self._load())
            self._loading.add_done_callback(lambda task: task.cancelled() or task.exception())  # awaited or not
        assert self._loading is not None
        await asyncio.shield(self._loading)

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
        await self._until_loaded(deadline)
        text = f"{prompt.system}\n{user}"
        need = min(self.pace.seconds(text, max_tokens), self.seconds)
        async with self.queue.place(need, deadline) as place:
            until = min(deadline, time.monotonic() + self.seconds)
            reply = Completion(begun=time.monotonic())
            work = asyncio.create_task(self._attempts(prompt, user, emit, reply, until, max_tokens, options))
            try:
                async with asyncio.timeout(until - time.monotonic()):
                    await asyncio.shield(work)
            except TimeoutError as error:
                raise SynthesisTimeout("The chat model did not finish in time.") from error
            except ModelUnavailable:
                self._loaded_until = -math.inf
                raise
            finally:
                if not work.done():
                    self._leave(work, reply, place)
        self._finished(text, reply)
        reply.text = without_thoughts(reply.text)
        return reply

    async def _load(self) -> None:
        """Send the instructions alone, for one token."""
        prompt = self.instructions
        reply = Completion(begun=time.monotonic())
        system = prompt.system if prompt else "Answer."
        keywords = self.options(1)
        messages = [SystemMessage(system), HumanMessage("?")]
        async with asyncio.timeout(LOAD_SECONDS):
            try:
                async with aclosing(self.model.astream(messages, **keywords)) as stream:  # type: ignore[type-var]
                    async for piece in stream:
                        reply.add(piece)
                        if reply.pieces > 1:  # it keeps to no limit
                            break
            except Exception as error:
                raise chat_error(error, self.name) from error
        load_seconds = (reply.counts.get("load_duration") or 0) / NANOSECONDS
        self._load_seconds = load_seconds or time.monotonic() - reply.begun
        tokens, seconds = reply.read(system)
        if not reply.counts.get("prompt_eval_duration"):
            seconds -= load_seconds
        self.pace.observe(system, (tokens, seconds), (0, 0))
        self._loaded_until = time.monotonic() + (self.keep_alive or 0.0)

    async def _until_loaded(self, deadline: float) -> None:
        """Wait for the model, no longer than a call may take; raises ``ModelLoading`` past that."""
        until = min(deadline, time.monotonic() + self.seconds)
        try:
            async with asyncio.timeout(until - time.monotonic()):
                await self.load()
        except TimeoutError:
            left = self._load_seconds - (time.monotonic() - self._loading_since)
            raise ModelLoading(max(1, math.ceil(left)) if left > 0 else FIRST_LOAD_SECONDS) from None

    def _leave(self, work: "asyncio.Task[None]", reply: Completion, place: ModelPlace) -> None:
        """End a call that its caller has left; where the server reads on, hold the place until it has read."""
        if not self.reads_on or reply.first:
            work.cancel()
            return

        async def until_read() -> None:
            reading = asyncio.create_task(reply.started.wait())
            await asyncio.wait({work, reading}, timeout=LOAD_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            reading.cancel()
            work.cancel()
            await asyncio.gather(work, reading, return_exceptions=True)

        place.keep(asyncio.create_task(until_read()))

    def _finished(self, text: str, reply: Completion) -> None:
        """Take in what a call that ended well tells."""
        if self.keep_alive is not None:
            self._loaded_until = time.monotonic() + self.keep_alive
        if reply.first:
            self.pace.observe(text, reply.read(text), reply.written())

    async def _attempts(
        self,
        prompt: Prompt,
        user: str,
        emit: TokenCallback | None,
        reply: Completion,
        until: float,
        max_tokens: int,
        options: Mapping[str, Any],
    ) -> None:
        """Read the reply, trying again until it has begun."""
        most = max(MIN_READ_CHARS, max_tokens * MAX_CHARS_PER_TOKEN)
        messages = [SystemMessage(prompt.system), HumanMessage(user)]
        config: RunnableConfig = {"metadata": {"prompt": prompt.label, "prompt_sha256": prompt.sha256}}
        keywords = {**self.options(max_tokens), **(self.in_one_piece if emit is None else {}), **options}

        async def read() -> None:
            await self._read(self.model.astream(messages, config, **keywords), emit, reply, most)

        await retried(read, deadline=until, attempts=ATTEMPTS, unless=lambda: reply.text != "")

    async def _read(
        self, pieces: AsyncIterator[AIMessageChunk], emit: TokenCallback | None, reply: Completion, most: int
    ) -> None:
        """Read one stream into *reply*, up to *most* characters."""
        thoughts = ThoughtFilter()
        async with aclosing(pieces) as stream:  # type: ignore[type-var]  # it is a generator
            while (piece := await self._next(stream, reply)) is not None:
                if usage := piece.usage_metadata:
                    self.spent["input"] += usage["input_tokens"]
                    self.spent["output"] += usage["output_tokens"]
                shown = thoughts.feed(reply.add(piece))
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

    async def _next(self, stream: AsyncIterator[AIMessageChunk], reply: Completion) -> AIMessageChunk | None:
        """Return the next piece, None at the end; map only what the vendor's code raises."""
        try:
            return await anext(stream, None)
        except Exception as error:
            raise chat_error(error, self.name, begun=reply.text != "") from error

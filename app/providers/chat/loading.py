"""Load a chat model into its server's memory, once for all who wait, and know until when it stays there."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from app.providers.chat.completion import Completion
from app.providers.chat.pace import Pace
from graph.errors import ModelLoading

LOAD_SECONDS = 600.0
"""Most time that a model may take to load."""
FIRST_LOAD_SECONDS = 5
"""``Retry-After`` of a model that is loading, where it is not known how long that takes."""
ASK_AGAIN_SECONDS = 3.0
"""Seconds without an answer after which a load is asked for again; twice as long each time."""
KEPT_SHARE = 0.9
"""Share of ``keep_alive`` after which a model is loaded anew: its server counts from an earlier moment."""


@dataclass(slots=True)
class ModelLoader:
    """Loads *model*, whose first words of every prompt are *instructions*; the load tells its *pace*.

    ``keep_alive``: seconds that its server keeps it in memory after a call; None for one that need not be loaded.
    """

    name: str
    model: BaseChatModel
    options: Callable[[int], Mapping[str, Any]]
    pace: Pace
    keep_alive: float | None
    instructions: str = "Answer."
    _loaded_until: float = -math.inf
    _loading: "asyncio.Task[None] | None" = None
    _loading_since: float = 0.0
    _load_seconds: float = 0.0

    @property
    def loading(self) -> bool:
        return self._loading is not None and not self._loading.done()

    @property
    def loading_first(self) -> bool:
        return self.loading and not self._load_seconds

    async def load(self) -> None:
        """Load the model with its instructions and one token; no caller's leaving ends that.

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

    async def until_loaded(self, seconds: float) -> None:
        """Wait at most *seconds* for the model; raises ``ModelLoading`` past that."""
        try:
            async with asyncio.timeout(seconds):
                await self.load()
        except TimeoutError:
            left = self._load_seconds - (time.monotonic() - self._loading_since)
            raise ModelLoading(max(1, math.ceil(left)) if left > 0 else FIRST_LOAD_SECONDS) from None

    def used(self) -> None:
        """Take note that the model has answered, and stays in memory from now on."""
        if self.keep_alive is not None:
            self._loaded_until = time.monotonic() + KEPT_SHARE * self.keep_alive

    def lost(self) -> None:
        """Take note that the model is not there any more: the next call loads it."""
        self._loaded_until = -math.inf

    async def _load(self) -> None:
        """Send the instructions alone, for one token."""
        reply = await self._first_of_several()
        self._load_seconds = time.monotonic() - self._loading_since
        if reply.counts.get("prompt_eval_duration"):
            self.pace.observe(self.instructions, reply.read(self.instructions), (0, 0))
        else:  # the server does not tell how long it read and how long it loaded
            await self.measure()
        self.used()

    async def measure(self) -> None:
        """Measure the pace by a text that no prompt had, for one token. Raises as ``load``."""
        user = f"{time.time_ns()} {self.instructions}"
        reply = await self._one_token(user)
        text = f"{self.instructions}\n{user}"
        self.pace.observe(text, reply.read(text), (0, 0))

    async def _first_of_several(self) -> Completion:
        """Ask for one token, and again where none comes, without ending what was asked before: a request may be lost.

        A server that is loading answers them all when it has loaded.
        """
        asked: set[asyncio.Task[Completion]] = set()
        seconds = ASK_AGAIN_SECONDS
        try:
            while True:
                asked.add(asyncio.create_task(self._one_token("?")))
                done, _ = await asyncio.wait(asked, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    return done.pop().result()
                seconds *= 2.0
        finally:
            for task in asked:
                task.cancel()

    async def _one_token(self, user: str) -> Completion:
        reply = Completion(begun=time.monotonic())
        messages = [SystemMessage(self.instructions), HumanMessage(user)]
        pieces = self.model.astream(messages, **self.options(1))
        async with asyncio.timeout(LOAD_SECONDS), aclosing(reply.stream(pieces, self.name)) as texts:
            async for _ in texts:
                if reply.pieces > 1:  # it keeps to no limit
                    break
        return reply

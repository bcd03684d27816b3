"""Chat about tasks with a model: the prompt within its context window, and the streamed reply."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from app.pipeline.prompt_budget import tokens
from app.pipeline.quoted import harmless
from app.providers.chat.completion import ChatModel
from app.tasks.context import CONTEXT_BUDGET_ALLOCATION, CUT, NO_TASKS
from graph.errors import SynthesisFailed
from prompts import Prompt, load_prompt

TEMPLATE_TOKENS = 32
"""Tokens that a server's template puts around the messages."""


class LLMService(Protocol):
    """A chat model as document S has it: messages are ``{"role", "content"}``, the reply comes in pieces."""

    def stream_chat(self, messages: list[dict[str, str]]) -> Any:
        """Return an asynchronous iterator of text, or an awaitable of one."""
        ...


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """The prompt of one chat. Context and message are escaped, so that they cannot give instructions."""

    context: str
    message: str
    template: Prompt = field(default_factory=partial(load_prompt, "chat"))

    @property
    def user(self) -> str:
        """The user's part; a context without tasks is left out."""
        block = f"{harmless(self.context)}\n\n" if self.context and self.context != NO_TASKS else ""
        return self.template.user(context=block, message=harmless(self.message))


def fit_window(prompt: ChatPrompt, window: int) -> tuple[ChatPrompt, int]:
    """Drop lines of the context until the prompt fits; return it and the tokens left for the reply.

    A server cuts a prompt that is too long silently, the instructions first. Raises ``SynthesisFailed`` when the
    message alone does not fit.
    """
    reply = min(CONTEXT_BUDGET_ALLOCATION["llm_output"], window // 4)
    limit = window - reply - TEMPLATE_TOKENS - tokens(prompt.template.system)
    lines = prompt.context.split("\n")
    while tokens(prompt.user) > limit:
        if len(lines) < 2:
            raise SynthesisFailed("The message does not fit the chat model's context.")
        lines = [line for line in lines if line != CUT][:-1]
        prompt = replace(prompt, context="\n".join([*lines, CUT]) if len(lines) > 1 else "")
    return prompt, reply


async def reply_of(service: LLMService, prompt: ChatPrompt) -> str:
    """Return the whole reply of a caller's own model, whose exceptions pass through."""
    roles = (("system", prompt.template.system), ("user", prompt.user))
    stream = service.stream_chat([{"role": role, "content": content} for role, content in roles])
    if inspect.isawaitable(stream):
        stream = await stream
    return "".join([piece async for piece in stream])


async def reply_pieces(completion: ChatModel, prompt: ChatPrompt, *, deadline: float) -> AsyncGenerator[str]:
    """Yield the reply of the settings' chat model as it comes; closing the generator ends the call.

    Raises ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed`` (also for a blank reply).
    """
    prompt, max_tokens = fit_window(prompt, completion.context_tokens)
    pieces: asyncio.Queue[str | None] = asyncio.Queue()

    async def ask() -> None:
        try:
            await completion.complete(
                prompt.template, prompt.user, pieces.put, deadline=deadline, max_tokens=max_tokens
            )
        finally:
            pieces.put_nowait(None)

    asking = asyncio.create_task(ask())
    blank = True
    try:
        while (piece := await pieces.get()) is not None:
            blank = blank and not piece.strip()
            yield piece
        await asking
        if blank:
            raise SynthesisFailed("The chat model gave no answer.")
    finally:
        asking.cancel()
        await asyncio.wait([asking])

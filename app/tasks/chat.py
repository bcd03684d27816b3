"""A chat about tasks with a model: what it is told, within its context window, and its reply piece by piece."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.messages import HumanMessage, SystemMessage

from app.pipeline.prompt_budget import tokens
from app.pipeline.quoted import harmless
from app.providers.chat.completion import ChatCompletion
from app.tasks.context import CONTEXT_BUDGET_ALLOCATION, CUT, NO_TASKS
from graph.errors import SynthesisFailed
from prompts import Prompt, load_prompt

TEMPLATE_TOKENS = 32
"""Tokens that a server's template puts around the messages."""


class LLMService(Protocol):
    """A chat model as document S knows it: messages are ``{"role", "content"}``, the reply comes in pieces."""

    def stream_chat(self, messages: list[dict[str, str]]) -> Any:
        """An asynchronous iterator of text, or an awaitable of one."""
        ...


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """What one chat tells a model, context and message made harmless."""

    prompt: Prompt
    context: str
    message: str

    @property
    def user(self) -> str:
        """The user's part; a context of no tasks is left out."""
        block = f"{harmless(self.context)}\n\n" if self.context and self.context != NO_TASKS else ""
        return self.prompt.user(context=block, message=harmless(self.message))

    @property
    def messages(self) -> list[dict[str, str]]:
        """For an ``LLMService``."""
        return [{"role": "system", "content": self.prompt.system}, {"role": "user", "content": self.user}]


def chat_prompt(context: str, message: str) -> ChatPrompt:
    """The prompt of one chat, on the latest version of ``prompts/chat``."""
    return ChatPrompt(load_prompt("chat"), context, message)


async def reply_of(service: LLMService, told: ChatPrompt) -> str:
    """The whole reply of a caller's own model. What it raises is the caller's."""
    stream = service.stream_chat(told.messages)
    if inspect.isawaitable(stream):
        stream = await stream
    return "".join([piece async for piece in stream])


async def reply_pieces(completion: ChatCompletion, told: ChatPrompt, *, deadline: float) -> AsyncGenerator[str]:
    """The reply of the settings' chat model as it comes; closing the generator ends the call.

    Raises ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed`` (also for a reply without a word).
    """
    told, most = fit_window(told, completion.chat.context_tokens)
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    said = False

    async def ask() -> None:
        try:
            await completion.complete(
                [SystemMessage(told.prompt.system), HumanMessage(told.user)],
                pieces.put,
                deadline=deadline,
                max_tokens=most,
                trace={"prompt": told.prompt.label, "prompt_sha256": told.prompt.sha256},
            )
        finally:
            pieces.put_nowait(None)

    asking = asyncio.create_task(ask())
    try:
        while (piece := await pieces.get()) is not None:
            said = said or bool(piece.strip())
            yield piece
        await asking
        if not said:
            raise SynthesisFailed("The chat model gave no answer.")
    finally:
        asking.cancel()
        await asyncio.wait([asking])


def fit_window(told: ChatPrompt, window: int) -> tuple[ChatPrompt, int]:
    """*told* with as many lines of its context as fit, and the tokens left for the reply.

    A server that is given too much cuts silently, the instructions first. Raises ``SynthesisFailed`` when not even the
    bare message fits.
    """
    reply = min(CONTEXT_BUDGET_ALLOCATION["llm_output"], window // 4)
    room = window - reply - TEMPLATE_TOKENS - tokens(told.prompt.system)
    lines = told.context.split("\n")
    while tokens(told.user) > room:
        if len(lines) < 2:
            raise SynthesisFailed("The message does not fit the chat model's context.")
        lines = [line for line in lines if line != CUT][:-1]
        context = "\n".join([*lines, CUT]) if len(lines) > 1 else ""
        told = ChatPrompt(told.prompt, context, told.message)
    return told, reply

"""Chat about tasks: context in a token budget, prompt in the model's window, reply."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from app.pipeline.passages import TEMPLATE_TOKENS, harmless, tokens
from app.providers.chat.chat_model import ChatModel
from app.tasks.models import SearchResult
from graph.errors import SynthesisFailed
from prompts import Prompt, load_prompt

CONTEXT_BUDGET_ALLOCATION = {"system_prompt": 500, "rag_context": 1500, "user_message": 200, "llm_output": 800}
"""Tokens for each part of one chat."""
CHARS_PER_TOKEN = 4
CUT = "... [truncated]"
HEADING = "Relevant tasks:"
NO_TASKS = "No relevant tasks found."

MIN_SIMILARITY = 0.2
"""Similarity below which a task is not listed; with all-MiniLM-L6-v2, questions about something else stay under it."""

WITHOUT_TASKS = (
    "No chat model is set up here, so I can only speak of your tasks, and this message asks me not to look at them. "
    "Send it with use_rag, or set CHAT_MODEL."
)
NOTHING_FITS = "None of your tasks fits this message. Try other words."


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of *text*: four characters each, at least one."""
    return max(1, len(text) // CHARS_PER_TOKEN)


def truncate_to_budget(context: str, max_tokens: int) -> str:
    """Cut *context* to ``4 * max_tokens`` characters, the suffix ``... [truncated]`` included."""
    limit = max(0, max_tokens) * CHARS_PER_TOKEN
    if len(context) <= limit:
        return context
    return context[: max(0, limit - len(CUT))] + CUT[:limit]


def format_context(results: Sequence[SearchResult], *, metadata: bool = True, max_tokens: int | None = None) -> str:
    """Format the tasks as a numbered list under ``Relevant tasks:``, or ``No relevant tasks found.``

    Past the budget the last lines are dropped for ``... [truncated]``; only the first task is cut within its line.
    """
    if not results:
        return NO_TASKS
    lines = [HEADING, *(_line(number, result, metadata) for number, result in enumerate(results, 1))]
    context = "\n".join(lines)
    if max_tokens is None or len(context) <= max_tokens * CHARS_PER_TOKEN:
        return context
    for kept in range(len(results), 1, -1):
        shorter = "\n".join([*lines[:kept], CUT])
        if len(shorter) < max_tokens * CHARS_PER_TOKEN:
            return shorter
    return truncate_to_budget(context, max_tokens)


def _line(number: int, result: SearchResult, metadata: bool) -> str:
    snippet = " ".join(result.snippet.split())
    if not metadata:
        return f"{number}. [{result.task_id}] - {snippet}"
    state = f"(status: {result.status}, priority: {result.priority})"
    return f"{number}. [{result.task_id}] {state} - {snippet} (similarity: {result.similarity:.2%})"


def reply_without_model(results: Sequence[SearchResult], *, use_rag: bool) -> list[str]:
    """Return the reply, which lists the tasks that fit, in pieces; *use_rag* as in ``ChatRequest``."""
    if not use_rag:
        return [WITHOUT_TASKS]
    fitting = [result for result in results if result.similarity >= MIN_SIMILARITY]
    if not fitting:
        return [NOTHING_FITS]
    pieces = ["This task fits best:" if len(fitting) == 1 else "These tasks fit best:"]
    for number, result in enumerate(fitting, 1):
        title, _, description = result.document.partition("\n")
        about = f" {' '.join(description.split())}" if description.strip() else ""
        state = f"{result.status.replace('_', ' ')}, {result.priority} priority"
        pieces.append(f"\n{number}. {title} [{result.task_id}] ({state}).{about}")
    return pieces


class LLMService(Protocol):
    """A chat model as in document S: messages are ``{"role", "content"}``, replies are streamed."""

    def stream_chat(self, messages: list[dict[str, str]]) -> Any:
        """Return an asynchronous iterator of text, or an awaitable of one."""


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """The prompt of one chat; context and message are escaped against injected instructions."""

    context: str
    message: str
    template: Prompt = field(default_factory=partial(load_prompt, "chat"))

    @property
    def user(self) -> str:
        """The user's part; a context without tasks is left out."""
        block = f"{harmless(self.context)}\n\n" if self.context and self.context != NO_TASKS else ""
        return self.template.user(context=block, message=harmless(self.message))


def fit_window(prompt: ChatPrompt, window: int) -> tuple[ChatPrompt, int]:
    """Drop context lines until the prompt fits; return it and the reply's tokens.

    Servers truncate silently, instructions first. Raises ``SynthesisFailed`` when the message alone does not fit.
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
    """Yield the chat model's reply as it comes; closing the generator ends the call.

    Raises ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed`` (also for a blank reply).
    """
    prompt, max_tokens = fit_window(prompt, completion.context_tokens)
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    work = completion.complete(prompt.template, prompt.user, pieces.put, deadline=deadline, max_tokens=max_tokens)
    asking = asyncio.create_task(work)
    asking.add_done_callback(lambda _: pieces.put_nowait(None))
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        if not (await asking).text:
            raise SynthesisFailed("The chat model gave no answer.")
    finally:
        asking.cancel()
        await asyncio.wait([asking])

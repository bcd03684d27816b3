"""Tasks as text: context for a chat model within a token budget (document S), or the reply without a model."""

from __future__ import annotations

from collections.abc import Sequence

from app.tasks.models import SearchResult

CONTEXT_BUDGET_ALLOCATION = {
    "system_prompt": 500,
    "rag_context": 1500,
    "user_message": 200,
    "llm_output": 800,
}
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
    """Format the tasks as a numbered list under ``Relevant tasks:``, or return ``No relevant tasks found.``

    Past the budget, lines are dropped from the end and the list ends in ``... [truncated]``; only the first task is cut
    within its line.
    """
    if not results:
        return NO_TASKS
    lines = [HEADING, *(_line(number, result, metadata) for number, result in enumerate(results, 1))]
    context = "\n".join(lines)
    if max_tokens is None or len(context) <= max_tokens * CHARS_PER_TOKEN:
        return context
    while len(lines) > 2:
        lines.pop()
        shorter = "\n".join([*lines, CUT])
        if len(shorter) < max_tokens * CHARS_PER_TOKEN:
            return shorter
    return truncate_to_budget(context, max_tokens)


def _line(number: int, result: SearchResult, metadata: bool) -> str:
    snippet = " ".join(result.snippet.split())
    if not metadata:
        return f"{number}. [{result.task_id}] - {snippet}"
    state = f"(status: {result.status}, priority: {result.priority})"
    return f"{number}. [{result.task_id}] {state} - {snippet} (similarity: {result.similarity:.2%})"


def reply_without_model(results: Sequence[SearchResult]) -> list[str]:
    """Return the reply, which lists the tasks that fit, in pieces."""
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

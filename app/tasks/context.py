"""Tasks as a context for a chat model, inside a budget of tokens (document S, "Context Budgeting")."""

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


def estimate_tokens(text: str) -> int:
    """Tokens of *text*, roughly: four characters each, at least one."""
    return max(1, len(text) // CHARS_PER_TOKEN)


def truncate_to_budget(context: str, max_tokens: int) -> str:
    """*context*, cut so that with the suffix ``... [truncated]`` it has at most ``4 * max_tokens`` characters."""
    most = max(0, max_tokens) * CHARS_PER_TOKEN
    if len(context) <= most:
        return context
    return context[: max(0, most - len(CUT))] + CUT[:most]


def format_context(results: Sequence[SearchResult], *, metadata: bool = True, max_tokens: int | None = None) -> str:
    """The tasks as a numbered list under ``Relevant tasks:``, one line each, or ``No relevant tasks found.``

    Past the budget, whole lines go from the end, so that a task that is shown keeps its metadata; the first alone is
    cut within. What is cut ends in ``... [truncated]``.
    """
    if not results:
        return NO_TASKS
    lines = [HEADING, *(_line(place, result, metadata) for place, result in enumerate(results, 1))]
    context = "\n".join(lines)
    if max_tokens is None or len(context) <= max_tokens * CHARS_PER_TOKEN:
        return context
    while len(lines) > 2:
        lines.pop()
        shorter = "\n".join([*lines, CUT])
        if len(shorter) < max_tokens * CHARS_PER_TOKEN:
            return shorter
    return truncate_to_budget(context, max_tokens)


def _line(place: int, result: SearchResult, metadata: bool) -> str:
    parts = [f"{place}. [{result.task_id}]"]
    if metadata:
        parts.append(f"(status: {result.status}, priority: {result.priority})")
    parts.append(f"- {' '.join(result.snippet.split())}")
    if metadata:
        parts.append(f"(similarity: {result.similarity:.2%})")
    return " ".join(parts)

"""The chat reply without a model (``CHAT_MODEL=extractive``): a list of the fitting tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.tasks.models import SearchResult

MIN_SIMILARITY = 0.2
"""Similarity below which a task is not listed; with all-MiniLM-L6-v2, questions about something else stay under it."""

WITHOUT_TASKS = (
    "No chat model is set up here, so I can only speak of your tasks, and this message asks me not to look at them. "
    "Send it with use_rag, or set CHAT_MODEL."
)
NOTHING_FITS = "None of your tasks fits this message. Try other words, or ask for a status or a priority."

_STATUSES = {
    "pending": r"\b(pending|not started)\b",
    "in_progress": r"\b(in[ _-]progress|(?<!not )started)\b",
    "completed": r"\b(completed|finished)\b",
}
_PRIORITIES = {
    "critical": r"\bcritical\b",
    "high": r"\bhigh[- ]priority\b",
    "medium": r"\bmedium[- ]priority\b",
    "low": r"\blow[- ]priority\b",
}


def requested_filters(message: str) -> tuple[str | None, str | None]:
    """Return the status and the priority that *message* names; None for none, or for more than one."""
    return _only(_STATUSES, message), _only(_PRIORITIES, message)


def _only(patterns: dict[str, str], message: str) -> str | None:
    found = [name for name, pattern in patterns.items() if re.search(pattern, message, re.IGNORECASE)]
    return found[0] if len(found) == 1 else None


def reply_without_model(results: Sequence[SearchResult], *, filtered: bool) -> list[str]:
    """Return the reply in pieces; *filtered* tasks, which were asked for by status or priority, are all listed."""
    fitting = [result for result in results if filtered or result.similarity >= MIN_SIMILARITY]
    if not fitting:
        return [NOTHING_FITS]
    pieces = ["This task fits best:" if len(fitting) == 1 else "These tasks fit best:"]
    for number, result in enumerate(fitting, 1):
        title, _, description = result.document.partition("\n")
        about = f" {' '.join(description.split())}" if description.strip() else ""
        state = f"{result.status.replace('_', ' ')}, {result.priority} priority"
        pieces.append(f"\n{number}. {title} [{result.task_id}] ({state}).{about}")
    return pieces

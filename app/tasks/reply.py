"""The chat without a model (``CHAT_MODEL=extractive``): the fitting tasks themselves, in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.tasks.models import SearchResult

LEAST_SIMILARITY = 0.2
"""Similarity below which a task is not named: with all-MiniLM-L6-v2, questions about something else stay under it."""

WITHOUT_TASKS = (
    "No chat model is set up here, so I can only speak of your tasks, and this message asks me not to look at them. "
    "Send it with use_rag, or set CHAT_MODEL."
)
NOTHING_FITS = "None of your tasks fits this message. Try other words, or ask for a status or a priority."

_STATUS = re.compile(r"\b(?:(pending|not started)|(in[ _-]progress|started)|(completed|finished))\b", re.IGNORECASE)
_PRIORITY = re.compile(r"\b(?:(critical)|(high)[- ]priority|(medium)[- ]priority|(low)[- ]priority)\b", re.IGNORECASE)
_STATUSES = ("pending", "in_progress", "completed")
_PRIORITIES = ("critical", "high", "medium", "low")


def asked_for(message: str) -> tuple[str | None, str | None]:
    """The status and the priority that *message* names, None for what it does not, or not clearly."""
    return _only(_STATUS, _STATUSES, message), _only(_PRIORITY, _PRIORITIES, message)


def reply_without_model(results: Sequence[SearchResult], *, filtered: bool) -> Iterator[str]:
    """The reply piece by piece, the same for the same tasks; *filtered* tasks were asked for by status or priority."""
    fitting = [result for result in results if filtered or result.similarity >= LEAST_SIMILARITY]
    if not fitting:
        yield NOTHING_FITS
        return
    yield "This task fits best:" if len(fitting) == 1 else "These tasks fit best:"
    for place, result in enumerate(fitting, 1):
        title, _, description = result.document.partition("\n")
        about = f" {' '.join(description.split())}" if description.strip() else ""
        state = f"{result.status.replace('_', ' ')}, {result.priority} priority"
        yield f"\n{place}. {title} [{result.task_id}] ({state}).{about}"


def _only(pattern: re.Pattern[str], names: Sequence[str], message: str) -> str | None:
    found = {names[(match.lastindex or 1) - 1] for match in pattern.finditer(message)}
    return found.pop() if len(found) == 1 else None

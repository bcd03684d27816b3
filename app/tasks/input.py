"""What a caller gives door S, checked. Every function raises ``InvalidInput`` naming the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import ValidationError

from app.ingest.tasks import Task
from graph.errors import InvalidInput


def task_of(given: Task | Mapping[str, Any]) -> Task:
    """A task from a mapping, or from any object with its fields; in a mapping, None counts as left out."""
    fields: Any = given
    if isinstance(given, Mapping):
        fields = {name: value for name, value in given.items() if value is not None}
    try:
        return Task.model_validate(fields, from_attributes=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "task"
        raise InvalidInput(f"{field}: {first['msg']}.", field) from error


def text_of(value: Any, field: str) -> str:
    """A string that is not blank, without white space around it."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{field} must be a non-blank string.", field)
    return value.strip()


def one_of(value: Any, allowed: Any, field: str) -> str | None:
    """One of the values of a ``Literal``, or None."""
    names = get_args(allowed)
    if value is not None and value not in names:
        raise InvalidInput(f"{field} must be one of {', '.join(names)}.", field)
    return None if value is None else str(value)

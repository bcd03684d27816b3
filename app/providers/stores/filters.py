"""Metadata filters, read from LangChain's plain dict.

``{field: value}``, all of which must hold; a list of values means any of them; ``source`` also matches the names that
other pipelines give it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph.errors import InvalidInput

Where = Mapping[str, Any] | None
Value = str | int | None
SOURCES = ("source", "source_doc", "source_url")


@dataclass(frozen=True, slots=True)
class Condition:
    """One of ``fields`` has one of ``values``; None is "absent or null"; without values nothing matches."""

    fields: tuple[str, ...]
    values: tuple[Value, ...]


def conditions(where: Mapping[str, Any] | None) -> list[Condition]:
    """Read a filter. Raises ``InvalidInput``, naming the field, for a value that is no text, whole number or null."""
    found = []
    for name, value in (where or {}).items():
        values = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
        if any(isinstance(one, bool) or not isinstance(one, str | int | None) for one in values):
            raise InvalidInput("A filter compares with text, whole numbers or null.", field=name)
        found.append(Condition(SOURCES if name == SOURCES[0] else (name,), values))
    return found

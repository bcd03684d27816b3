"""Metadata filters, from LangChain's plain dict to what every remote store can be asked.

``{field: value}``, all of which must hold; a list of values means any of them; ``source`` also finds the names that
other pipelines give it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph.errors import InvalidInput

Value = str | int | None
SOURCES = ("source", "source_doc", "source_url")


@dataclass(frozen=True, slots=True)
class Condition:
    """One of ``fields`` has one of ``values``; None is "absent or null"; without values nothing fits."""

    fields: tuple[str, ...]
    values: tuple[Value, ...]


def conditions(where: Mapping[str, Any] | None) -> list[Condition]:
    """What must hold. Raises ``InvalidInput``, naming the field, for a value that is no text, whole number or null."""
    return [Condition(_fields(name), _values(name, value)) for name, value in (where or {}).items()]


def _fields(name: str) -> tuple[str, ...]:
    return SOURCES if name == SOURCES[0] else (name,)


def _values(name: str, value: object) -> tuple[Value, ...]:
    values = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
    for one in values:
        if isinstance(one, bool) or not (one is None or isinstance(one, str | int)):
            raise InvalidInput("A filter compares with text, whole numbers or null.", field=name)
    return values

"""Metadata filters, from LangChain's plain dict to the engine's own conditions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from app.providers.layout import METADATA
from graph.errors import InvalidInput

if TYPE_CHECKING:
    import qdrant_edge as edge

_PLAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def edge_filter(where: Mapping[str, Any] | None) -> edge.Filter | None:
    """The engine's filter for ``{field: value}``, all of which must hold; a list of values means any of them.

    Values are strings, integers, or None for "absent or null"; a dotted field is a path into nested metadata. Raises
    ``InvalidInput``, naming the field, for a value of another type: version 0.9 of the engine takes True for 1 and then
    finds nothing.
    """
    if not where:
        return None
    import qdrant_edge as edge

    return edge.Filter(must=[_condition(edge, name, value) for name, value in where.items()])


def metadata_path(name: str) -> str:
    """The engine's path to a metadata field, quoted where its name asks for it."""
    return f"{METADATA}.{name}" if _PLAIN.fullmatch(name) else f'{METADATA}."{name}"'


def _condition(edge: Any, name: str, value: object) -> Any:
    if '"' in name:
        raise InvalidInput("A field with a quotation mark in its name cannot be filtered by.", field=name)
    if isinstance(value, list | tuple | set | frozenset):
        return _any_of(edge, name, value)
    if value is None:
        return edge.IsEmptyCondition(metadata_path(name))
    if _compares(value):
        return edge.FieldCondition(metadata_path(name), match=edge.MatchValue(value))
    raise InvalidInput("A filter compares with text, whole numbers or null.", field=name)


def _any_of(edge: Any, name: str, values: Collection[object]) -> Any:
    """One condition per type of value: as one each, of hundreds, they would all be asked of every point."""
    if not values:
        return edge.HasIdCondition(set())
    by_type = [[value for value in values if _compares(value) and isinstance(value, kind)] for kind in (str, int)]
    plain = [edge.FieldCondition(metadata_path(name), match=edge.MatchAny(some)) for some in by_type if some]
    return edge.Filter(should=[*plain, *(_condition(edge, name, value) for value in values if not _compares(value))])


def _compares(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)

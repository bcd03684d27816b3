"""Metadata filters, from LangChain's plain dict to the engine's own conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.providers.layout import METADATA
from graph.errors import InvalidInput

if TYPE_CHECKING:
    import qdrant_edge as edge


def edge_filter(where: Mapping[str, Any] | None) -> edge.Filter | None:
    """The engine's filter for ``{field: value}``, all of which must hold; a list of values means any of them.

    Values are strings, integers, booleans, or None for "absent or null". Raises ``InvalidInput`` for another type.
    """
    if not where:
        return None
    import qdrant_edge as edge

    return edge.Filter(must=[_condition(edge, f"{METADATA}.{name}", value) for name, value in where.items()])


def _condition(edge: Any, key: str, value: object) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        if not value:
            return edge.HasIdCondition(set())
        return edge.Filter(should=[_condition(edge, key, one) for one in value])
    if value is None:
        return edge.IsEmptyCondition(key)
    if isinstance(value, str | int):
        return edge.FieldCondition(key, match=edge.MatchValue(value))
    raise InvalidInput("A filter compares with text, whole numbers, booleans or null.", field=key.partition(".")[2])

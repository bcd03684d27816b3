"""Filters in the language of a Qdrant server."""

import re
from collections.abc import Sequence
from typing import Any

from qdrant_client import models

from app.providers.stores.filters import AFTER_LAST_DAY, FIRST_DAY, SOURCES, Condition
from app.providers.stores.layout import METADATA
from app.providers.stores.payloads import NESTED

_PLAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def qdrant_filter(conditions: Sequence[Condition], *, nested: bool) -> models.Filter | None:
    """The server's filter. Where metadata is not known to be *nested*, all places are asked."""
    return models.Filter(must=[_any(condition, nested) for condition in conditions]) if conditions else None


def present(field: str, *, nested: bool) -> models.Filter:
    """The filter for points that have a metadata field; *nested* as for ``qdrant_filter``."""
    paths = _paths([field], nested=nested)
    empty = [models.IsEmptyCondition(is_empty=models.PayloadField(key=path)) for path in paths]
    return models.Filter(should=[models.Filter(must_not=[field]) for field in empty])


def _any(condition: Condition, nested: bool) -> Any:
    tests = [{"match": match} for match in _matches(condition)]
    tests += [{"range": models.Range(gte=value, lte=value)} for value in condition.values if isinstance(value, float)]
    if condition.days:
        first, end = (None if day in (FIRST_DAY, AFTER_LAST_DAY) else day for day in condition.days)
        tests.append({"range": models.DatetimeRange.model_validate({"gte": first, "lt": end})})
    if not tests:
        return models.HasIdCondition(has_id=[])
    fields = [field for field in condition.fields if not nested or field not in SOURCES[1:]]
    paths = _paths(fields, nested=nested)
    return models.Filter(should=[models.FieldCondition(key=path, **test) for path in paths for test in tests])


def _matches(condition: Condition) -> list[Any]:
    """The exact matches of a condition: the server has one for all texts, one for all whole numbers."""
    texts: list[Any] = [value for value in condition.values if isinstance(value, str)]
    numbers: list[Any] = [value for value in condition.values if isinstance(value, int) and not isinstance(value, bool)]
    flags = [models.MatchValue(value=value) for value in condition.values if isinstance(value, bool)]
    return [*(models.MatchAny(any=some) for some in (texts, numbers) if some), *flags]


def _paths(fields: Sequence[str], *, nested: bool) -> list[str]:
    quoted = [name if _PLAIN.fullmatch(name) else f'"{name}"' for name in fields]
    paths = [f"{parent}.{name}" for parent in ((METADATA,) if nested else NESTED) for name in quoted]
    return paths if nested else [*paths, *fields]

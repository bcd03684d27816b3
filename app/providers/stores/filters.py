"""Filters of a search: ``Where`` as callers write it, read into conditions that each store runs in its own language."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Any

from graph.errors import InvalidInput

Scalar = str | int | float | bool
Where = Mapping[str, Any] | None
"""A filter: ``{field: value}``, all of which must hold; a list of values means any of them.

``source`` matches a document's id and its name, in any Unicode form, also under the names that other pipelines give
it; ``*`` at the end of a value stands for any ending. A mapping of ``gte``, ``gt``, ``lte`` and ``lt`` to days
(``2024-01-31``) is a range.
"""
SOURCES = ("source", "source_doc", "source_url", "file_name", "file_path")
NAMES = ("document_id", *SOURCES)
"""The metadata fields that ``source`` is compared with."""
MAX_NEAREST = 3
MAX_COMPARED = 5_000
"""Most names that are compared with an unknown one."""
FIRST_DAY, AFTER_LAST_DAY = "0000-00-00", "9999-99-99"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Condition:
    """One of ``fields`` has one of ``values``, or text with one of ``prefixes``, or a day in ``days``.

    ``days`` is [first, after the last), as ISO text. Of a list, one element is enough. Nothing given, nothing matches.
    """

    fields: tuple[str, ...]
    values: tuple[Scalar, ...] = ()
    prefixes: tuple[str, ...] = ()
    days: tuple[str, str] | None = None

    def matches(self, value: object) -> bool:
        """Tell whether a stored *value*, or an element of it, passes."""
        return any(map(self._matches, value if isinstance(value, list) else [value]))

    def _matches(self, value: object) -> bool:
        if any(value == wanted and isinstance(value, bool) == isinstance(wanted, bool) for wanted in self.values):
            return True
        if not isinstance(value, str):
            return False
        in_days = self.days and _DAY.match(value) and self.days[0] <= value[:10] < self.days[1]
        return bool(in_days) or value.startswith(self.prefixes)


def conditions(where: Where) -> list[Condition]:
    """Read a filter. Raises ``InvalidInput``, naming the field, for one that cannot be compared."""
    return [_condition(name, value) for name, value in (where or {}).items()]


def _condition(name: str, value: object) -> Condition:
    if '"' in name:
        raise InvalidInput("A field with a quotation mark in its name cannot be filtered by.", field=name)
    if isinstance(value, Mapping):
        return Condition((name,), days=_days(name, value))
    values = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
    if not all(isinstance(value, Scalar) for value in values):
        raise InvalidInput(f"{name}: a filter compares with text, numbers, true and false, or with days.", field=name)
    if name != SOURCES[0]:
        return Condition((name,), values)
    # An id is stored in its composed form (``app.ingest.documents.nfc``); another pipeline's may be in any.
    values += tuple(unicodedata.normalize("NFC", value) for value in values if isinstance(value, str))
    prefixes = tuple(value[:-1] for value in values if isinstance(value, str) and value.endswith("*"))
    exact = tuple(value for value in values if value != "" and not (isinstance(value, str) and value.endswith("*")))
    return Condition(NAMES, exact, prefixes)


def _days(name: str, bounds: Mapping[Any, Any]) -> tuple[str, str]:
    """Return the days [first, after the last) between *bounds*."""
    first, end = FIRST_DAY, AFTER_LAST_DAY
    if not bounds or bounds.keys() - {"gte", "gt", "lte", "lt"}:
        raise InvalidInput(f"{name}: a range has gte, gt, lte or lt.", field=name)
    for bound, value in bounds.items():
        try:
            day = date.fromisoformat(value if isinstance(value, str) and _DAY.fullmatch(value) else "")
            limit = (day + timedelta(days=bound in ("gt", "lte"))).isoformat()
        except (ValueError, OverflowError):
            raise InvalidInput(f"{name}: {bound} must be a day such as 2024-01-31.", field=name) from None
        if bound in ("gte", "gt"):
            first = max(first, limit)
        else:
            end = min(end, limit)
    return first, end


def nearest(unknown: str, names: Iterable[str]) -> list[str]:
    """Return at most ``MAX_NEAREST`` of *names* that look like *unknown*, best first."""
    sought = unknown.rstrip("*").lower()
    ordered = sorted(names, key=lambda name: (sought not in name.lower(), name))
    containing = [name for name in ordered[:MAX_NEAREST] if sought and sought in name.lower()]
    by_lower = {name.lower(): name for name in ordered[:MAX_COMPARED]}
    alike = [by_lower[match] for match in get_close_matches(sought, by_lower, MAX_NEAREST, 0.5)]
    return list(dict.fromkeys([*containing, *alike]))[:MAX_NEAREST]

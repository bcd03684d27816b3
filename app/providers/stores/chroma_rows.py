"""A chunk as Chroma stores it: id, document, and flat metadata of text, numbers and booleans.

Other values are stored as JSON text under their own name (``spans`` is), and ``json_fields`` lists those names.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from app.providers.stores.hybrid import Condition
from app.providers.stores.layout import CONTENT, METADATA

JSON_FIELDS = "json_fields"
_NO_CHUNK = {"garden_nowhere": "nothing"}
"""A condition that matches no chunk."""


def flat(metadata: Mapping[str, Any], stored: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Flatten *metadata*. Chroma's upsert merges: what only *stored* has is set to null, which deletes it."""
    row = {name: value for name, value in metadata.items() if value is not None}
    packed = {name: orjson.dumps(its).decode() for name, its in row.items() if not isinstance(its, str | int | float)}
    if packed:
        row |= {**packed, JSON_FIELDS: orjson.dumps(list(packed)).decode()}
    return dict.fromkeys(stored or ()) | row


def payload(document: str | None, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read a stored row, whoever wrote it, as ``payloads`` expects it."""
    metadata = dict(row or {})
    listed = _unpacked(metadata.pop(JSON_FIELDS, None))
    for name in {"spans", *(listed if isinstance(listed, list) else ())} & metadata.keys():
        metadata[name] = _unpacked(metadata[name])
    return {CONTENT: document, METADATA: metadata} if document else metadata


def chroma_where(conditions: list[Condition]) -> dict[str, Any] | None:
    """Chroma's ``where``."""
    rows = [_any(condition) for condition in conditions]
    return None if not rows else rows[0] if len(rows) == 1 else {"$and": rows}


def _any(condition: Condition) -> dict[str, Any]:
    rows = [{name: {"$in": list(condition.values)}} for name in condition.fields if condition.values]
    return _NO_CHUNK if not rows else rows[0] if len(rows) == 1 else {"$or": rows}


def _unpacked(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value

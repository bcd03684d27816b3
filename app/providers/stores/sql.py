"""Filters in the language of SQLite, over the table of chunks of an embedded collection."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import orjson

from app.providers.stores.filters import Condition, Scalar, Where, conditions

COLUMNS = ("chunk_id", "document_id", "source")
"""The metadata fields that have an indexed column, which holds them as text."""
FIELD_NAMES = "SELECT DISTINCT key FROM chunks, json_each(metadata) WHERE atom IS NOT NULL OR type = 'array'"
"""Selects the names of the metadata fields that chunks have."""
LAST = "\U0010ffff"
"""Sorts after any other character."""


def condition(where: Where) -> tuple[str, list[Any]]:
    """Return *where* as an SQL condition and its parameters."""
    clauses, parameters = ["TRUE"], []
    for condition in conditions(where):
        columns = [field for field in condition.fields if field in COLUMNS]  # ``source`` holds the first of ``SOURCES``
        clause, values = _text(columns, condition) if columns else _metadata(condition)
        clauses.append(f"({clause})")
        parameters += values
    return " AND ".join(clauses), parameters


def values_of(fields: Sequence[str], connection: sqlite3.Connection) -> list[Any]:
    """Select the values that chunks have in *fields*, distinct for each; nested ones are left out."""
    values = []
    for field in dict.fromkeys(fields):
        if field in COLUMNS:
            select = f"SELECT DISTINCT {field} FROM chunks WHERE {field} IS NOT NULL"
        else:
            each = f"json_each(metadata, {json_path(field)})"
            select = f"SELECT DISTINCT value FROM chunks, {each} WHERE atom IS NOT NULL"
        values += [value for (value,) in connection.execute(select)]
    return values


def json_path(field: str) -> str:
    """Return the path of a metadata field, nested where its name has dots, as an SQL literal."""
    return "'$." + ".".join(f'"{part}"' for part in field.replace("'", "''").split(".")) + "'"


def _text(columns: Sequence[str], condition: Condition) -> tuple[str, list[Any]]:
    """Compare indexed columns: ranges of text find prefixes by the index."""
    clauses, parameters = [], []
    for column in columns:
        clauses.append(f"{column} IN (SELECT value FROM json_each(?))")
        parameters.append(_json([str(value) for value in condition.values]))
        for prefix in condition.prefixes:
            clauses.append(f"({column} >= ? AND {column} <= ?)")
            parameters += [prefix, prefix + LAST]
    return " OR ".join(clauses), parameters


def _metadata(condition: Condition) -> tuple[str, list[Any]]:
    """Compare ``value`` and ``type`` of a row of ``json_each``: a field's value, or an element of its list."""
    (field,) = condition.fields
    texts_and_numbers = [value for value in condition.values if not isinstance(value, bool)]
    types = [str(value).lower() for value in condition.values if isinstance(value, bool)]
    clauses = [
        "(type NOT IN ('true', 'false') AND value IN (SELECT value FROM json_each(?)))",
        "type IN (SELECT value FROM json_each(?))",
    ]
    parameters: list[Any] = [_json(texts_and_numbers), _json(types)]
    if condition.days:
        clauses.append("(type = 'text' AND value GLOB ? AND substr(value, 1, 10) >= ? AND substr(value, 1, 10) < ?)")
        parameters += ["[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*", *condition.days]
    return f"EXISTS (SELECT 1 FROM json_each(metadata, {json_path(field)}) WHERE {' OR '.join(clauses)})", parameters


def _json(values: Sequence[Scalar]) -> str:
    return orjson.dumps(values).decode()

"""A chunk as a row of the database, and back."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from app.providers.embeddings.vectors import unit
from app.providers.stores.bm25 import document_weights
from app.providers.stores.filters import SOURCES, Condition
from app.providers.stores.hybrid import Candidate
from app.providers.stores.layout import CONTENT, METADATA, Point, indexed_text_of
from app.providers.stores.packed_vectors import NOT_FINITE, packed_rows, unpacked_rows
from app.providers.stores.payloads import chunk_from_payload, chunk_index_of
from app.providers.stores.segments import WORD
from graph.errors import InvalidInput

COLUMNS = "id, chunk_id, checksum, metadata, words, dense, text, sentences"
"""What is read of a chunk, in this order; the checksum is of all that follows it."""
ABOUT_ONE = 1e-4
"""What rounding may have made of a length of 1: such a vector stays what it is."""


def row_of(point: Point) -> tuple[Any, ...]:
    """The columns of a chunk but its id. Raises ``ValueError`` for a vector that is not of finite numbers."""
    weights = document_weights(indexed_text_of(point.metadata, point.text)) if point.sparse is None else point.sparse
    dense = point.dense if abs(float(np.linalg.norm(point.dense)) - 1.0) < ABOUT_ONE else unit(point.dense)
    if not np.isfinite(dense).all():
        raise ValueError(NOT_FINITE)
    stored = (
        orjson.dumps(point.metadata).decode(),
        np.array(list(weights.items()), WORD).tobytes(),
        dense.astype("<f4").tobytes(),
        point.text,
        packed_rows(point.sentences),
    )
    document, hash_ = (str(point.metadata.get(name) or "") for name in ("document_id", "content_hash"))
    source = next((str(point.metadata[name]) for name in SOURCES if point.metadata.get(name) is not None), None)
    return (point.chunk_id, document, chunk_index_of(point.metadata), hash_, source, checksum(stored), *stored)


def checksum(values: Iterable[str | bytes]) -> int:
    """CRC-32 of what is stored of a chunk, so that damage is seen when it is read."""
    total = 0
    for value in values:
        total = zlib.crc32(value.encode() if isinstance(value, str) else value, total)
    return total


def payload(row: Sequence[Any]) -> dict[str, Any]:
    """Text and metadata, as ``payloads`` reads them."""
    return {CONTENT: row[6], METADATA: orjson.loads(row[3])}


def point_of(row: Sequence[Any]) -> Point:
    """The chunk as it was given."""
    words, dense = np.frombuffer(row[4], WORD), np.frombuffer(row[5], "<f4")
    sparse = dict(zip(words["term"].tolist(), words["weight"].tolist(), strict=True))
    return Point(row[1], row[6], orjson.loads(row[3]), dense, unpacked_rows(row[7], len(dense)), sparse)


def candidate_of(row: Sequence[Any]) -> Candidate:
    """The chunk as a candidate."""
    point = point_of(row)
    return Candidate(row[0], chunk_from_payload(row[1], payload(row)), point.dense, point.sparse, point.sentences)


def as_json(values: Iterable[Any]) -> str:
    """The parameter of ``among``."""
    return orjson.dumps(list(values)).decode()


def among(column: str) -> str:
    """A condition on a column: that it has one of any number of values, which are one parameter, ``as_json``."""
    return f"{column} IN (SELECT value FROM json_each(?))"


def allowed(connection: sqlite3.Connection, wanted: Sequence[Condition]) -> NDArray[np.int64] | None:
    """The ids of the chunks that fulfil every condition, ascending; None where there is no condition."""
    if not wanted:
        return None
    clauses, given = [], []
    for condition in wanted:
        name, values = condition.fields[0], [value for value in condition.values if value is not None]
        if '"' in name:
            raise InvalidInput("A field with a quotation mark in its name cannot be filtered by.", field=name)
        path = "'$.{}'".format(".".join(f'"{part}"' for part in name.replace("'", "''").split(".")))
        column = "source" if name == SOURCES[0] else f"json_extract(metadata, {path})"
        clause = among(column)
        if any(isinstance(value, int) for value in values) and column != "source":  # SQLite has 1 for true
            clause += f" AND json_type(metadata, {path}) NOT IN ('true', 'false')"
        clauses.append(f"({clause}{f' OR {column} IS NULL' if None in condition.values else ''})")
        given.append(as_json(map(str, values) if column == "source" else values))
    found = connection.execute(f"SELECT id FROM chunks WHERE {' AND '.join(clauses)} ORDER BY id", given)
    return np.fromiter((own for (own,) in found), np.int64)

"""A chunk as a row of the embedded database, and metadata filters as SQL."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from app.providers.embeddings.vectors import Vectors, unit
from app.providers.stores.bm25 import document_weights
from app.providers.stores.filters import SOURCES, Condition
from app.providers.stores.hybrid import Candidate
from app.providers.stores.layout import CONTENT, METADATA, Point, indexed_text_of
from app.providers.stores.payloads import chunk_from_payload, chunk_index_of
from app.providers.stores.segments import WORD
from graph.errors import InvalidInput

COLUMNS = "id, chunk_id, checksum, metadata, words, dense, text, sentences"
"""The columns read of a chunk, in this order; the checksum covers all that follow it."""
HASHES = "document_id, content_hash, min(position)", "GROUP BY document_id"
SUMMARIES = (
    """document_id, count(*), (SELECT json_extract(first.metadata, '$.title') FROM chunks AS first
    WHERE first.document_id = chunks.document_id ORDER BY first.position LIMIT 1)""",
    "GROUP BY document_id",
)
"""Columns and grouping: each document's first content hash; its number of chunks and the title of its first."""


def row_of(point: Point) -> tuple[Any, ...]:
    """The columns of a chunk except its id. Raises ``ValueError`` for a vector with values that are not finite."""
    dense, sentences = _unit(point.dense, 1e-4), _unit(point.sentences, 1e-3)
    if not (np.isfinite(dense).all() and np.isfinite(sentences).all()):
        raise ValueError("a vector holds a value that is not a finite number")
    weights = document_weights(indexed_text_of(point.metadata, point.text)) if point.sparse is None else point.sparse
    stored = (
        orjson.dumps(point.metadata).decode(),
        np.array(list(weights.items()), WORD).tobytes(),
        dense.astype("<f4").tobytes(),
        point.text,
        sentences.astype("<f2").tobytes(),
    )
    document, hash_ = (str(point.metadata.get(name) or "") for name in ("document_id", "content_hash"))
    source = next((str(point.metadata[name]) for name in SOURCES if point.metadata.get(name) is not None), None)
    return (point.chunk_id, document, chunk_index_of(point.metadata), hash_, source, checksum(stored), *stored)


def _unit(vectors: Vectors, tolerance: float) -> Vectors:
    """Rows scaled to length 1; rows that are that already, except for rounding, keep their exact values."""
    return vectors if (np.abs(np.linalg.norm(vectors, axis=-1) - 1.0) < tolerance).all() else unit(vectors)


def checksum(values: Iterable[str | bytes]) -> int:
    """CRC-32 of the stored columns of a chunk."""
    total = 0
    for value in values:
        total = zlib.crc32(value.encode() if isinstance(value, str) else value, total)
    return total


def payload(text: str, metadata: str) -> dict[str, Any]:
    """Text and metadata columns as ``payloads`` reads them."""
    return {CONTENT: text, METADATA: orjson.loads(metadata)}


def point_of(row: Sequence[Any]) -> Point:
    """The chunk of a row of ``COLUMNS``, as it was stored."""
    words, dense = np.frombuffer(row[4], WORD), np.frombuffer(row[5], "<f4")
    sparse = dict(zip(words["term"].tolist(), words["weight"].tolist(), strict=True))
    sentences = np.frombuffer(row[7], "<f2").astype(np.float32).reshape(-1, len(dense))
    return Point(row[1], row[6], orjson.loads(row[3]), dense, sentences, sparse)


def candidate_of(row: Sequence[Any]) -> Candidate:
    """The chunk of a row of ``COLUMNS`` as a candidate."""
    point, stored = point_of(row), payload(row[6], row[3])
    return Candidate(row[0], chunk_from_payload(row[1], stored), point.dense, point.sparse, point.sentences, stored)


def stored_size(connection: sqlite3.Connection) -> int | None:
    """The dimension of the stored vectors; None where there are none."""
    size: int | None = connection.execute("SELECT value FROM meta WHERE name = 'size'").fetchone()[0]
    return size


def remove(connection: sqlite3.Connection, column: str | None, values: Sequence[str]) -> int:
    """Delete the chunks with these values in a column, all of them without one; return how many."""
    where, parameters = ("", ()) if column is None else (f"WHERE {among(column)}", (as_json(values),))
    now = "(SELECT value + 1 FROM meta WHERE name = 'writes')"
    connection.execute(f"INSERT INTO removed SELECT id, {now} FROM chunks {where}", parameters)
    return connection.execute(f"DELETE FROM chunks {where}", parameters).rowcount


def as_json(values: Iterable[Any]) -> str:
    """The SQL parameter of ``among``."""
    return orjson.dumps(list(values)).decode()


def among(column: str) -> str:
    """SQL condition: the column has one of the values of one ``as_json`` parameter."""
    return f"{column} IN (SELECT value FROM json_each(?))"


def allowed(connection: sqlite3.Connection, wanted: Sequence[Condition]) -> NDArray[np.int64] | None:
    """The ids of the chunks that fulfil every condition, ascending; None where there is no condition."""
    if not wanted:
        return None
    clauses, parameters = [], []
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
        parameters.append(as_json(map(str, values) if column == "source" else values))
    found = connection.execute(f"SELECT id FROM chunks WHERE {' AND '.join(clauses)} ORDER BY id", parameters)
    return np.fromiter((own for (own,) in found), np.int64)

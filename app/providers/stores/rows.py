"""A chunk as a row of the embedded database, and metadata filters as SQL."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from app.providers.stores.hybrid import SOURCES, Candidate, Condition, document_weights
from app.providers.stores.layout import CONTENT, METADATA, Point, indexed_text_of
from app.providers.stores.payloads import chunk_from_payload, chunk_index_of

COLUMNS = "id, chunk_id, checksum, metadata, words, dense, text, sentences"
"""The columns read of a chunk, in this order; the checksum covers all that follow it."""
WORD = np.dtype([("term", "<u4"), ("weight", "<f4")])
"""A BM25 dimension of a chunk and its weight there (``app.providers.stores.hybrid``)."""


def row_of(point: Point) -> tuple[Any, ...]:
    """The columns of a chunk except its id."""
    weights = document_weights(indexed_text_of(point.metadata, point.text)) if point.sparse is None else point.sparse
    stored = (
        orjson.dumps(point.metadata).decode(),
        np.array(list(weights.items()), WORD).tobytes(),
        point.dense.astype("<f4").tobytes(),
        point.text,
        point.sentences.astype("<f2").tobytes(),
    )
    document, hash_ = (str(point.metadata.get(name) or "") for name in ("document_id", "content_hash"))
    source = next((str(point.metadata[name]) for name in SOURCES if point.metadata.get(name) is not None), None)
    return (point.chunk_id, document, chunk_index_of(point.metadata), hash_, source, checksum(stored), *stored)


def checksum(values: Sequence[str | bytes]) -> int:
    """CRC-32 of the stored columns of a chunk."""
    return zlib.crc32(b"".join(value.encode() if isinstance(value, str) else value for value in values))


def point_of(row: Sequence[Any]) -> Point:
    """The chunk of a row of ``COLUMNS``, as it was stored."""
    words, dense = np.frombuffer(row[4], WORD), np.frombuffer(row[5], "<f4")
    sparse = dict(zip(words["term"].tolist(), words["weight"].tolist(), strict=True))
    sentences = np.frombuffer(row[7], "<f2").astype(np.float32).reshape(-1, len(dense))
    return Point(row[1], row[6], orjson.loads(row[3]), dense, sentences, sparse)


def candidate_of(row: Sequence[Any]) -> Candidate:
    """The chunk of a row of ``COLUMNS`` as a candidate."""
    point = point_of(row)
    stored = {CONTENT: point.text, METADATA: point.metadata}
    return Candidate(row[0], chunk_from_payload(row[1], stored), point.dense, point.sparse, point.sentences, stored)


def stored_size(connection: sqlite3.Connection) -> int | None:
    """The dimension of the stored vectors; None where there are none."""
    first = connection.execute("SELECT length(dense) / 4 FROM chunks LIMIT 1").fetchone()
    return first[0] if first else None


def among(column: str) -> str:
    """SQL condition: the column has one of the values of one JSON parameter."""
    return f"{column} IN (SELECT value FROM json_each(?))"


def remove(connection: sqlite3.Connection, column: str, values: Sequence[str]) -> int:
    """Delete the chunks with these values in a column; return how many."""
    where, parameters = f"FROM chunks WHERE {among(column)}", (as_json(values),)
    connection.execute(f"INSERT INTO removed SELECT id {where}", parameters)
    return connection.execute(f"DELETE {where}", parameters).rowcount


def as_json(values: Iterable[Any]) -> str:
    """The SQL parameter of ``among``."""
    return orjson.dumps(list(values)).decode()


def allowed(connection: sqlite3.Connection, wanted: Sequence[Condition]) -> NDArray[np.int64] | None:
    """The ids of the chunks that fulfil every condition; None where there is no condition."""
    if not wanted:
        return None
    clauses, parameters = [], []
    for condition in wanted:
        path = ".".join(f'"{part}"' for part in condition.fields[0].replace("'", "''").split("."))
        by_source = condition.fields == SOURCES
        clauses.append(among("source" if by_source else f"json_extract(metadata, '$.{path}')"))
        parameters.append(as_json(map(str, condition.values) if by_source else condition.values))
    found = connection.execute(f"SELECT id FROM chunks WHERE {' AND '.join(clauses)}", parameters)
    return np.fromiter((own for (own,) in found), np.int64)

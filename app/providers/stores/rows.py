"""A chunk as a row of the embedded database, and metadata filters as SQL."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from app.providers.stores.hybrid import SOURCES, Candidate, Where, conditions
from app.providers.stores.layout import CONTENT, METADATA, Point
from app.providers.stores.payloads import chunk_from_payload, chunk_index_of

COLUMNS = "id, chunk_id, checksum, metadata, words, dense, text, sentences"
"""The columns read of a chunk, in this order; the checksum covers all that follow it."""
TEXT_COLUMNS = ("chunk_id", "document_id", "source")
"""Metadata that filters find in columns; the source also where other pipelines put it."""
WORD = np.dtype([("term", "<u4"), ("weight", "<f4")])
"""A BM25 dimension of a chunk and its weight there (``app.providers.stores.hybrid``)."""


def row_of(point: Point) -> tuple[Any, ...]:
    """The columns of a chunk except its id."""
    metadata = orjson.dumps(point.metadata).decode()
    words = np.array(list(point.weights().items()), WORD).tobytes()
    dense, sentences = point.dense.astype("<f4").tobytes(), point.sentences.astype("<f2").tobytes()
    stored = metadata, words, dense, point.text, sentences
    document, hash_ = (str(point.metadata.get(name) or "") for name in ("document_id", "content_hash"))
    source = next((str(point.metadata[name]) for name in SOURCES if point.metadata.get(name) is not None), None)
    return (point.chunk_id, document, chunk_index_of(point.metadata), hash_, source, checksum(stored), *stored)


def checksum(values: Sequence[str | bytes]) -> int:
    """CRC-32 of the stored columns of a chunk."""
    return zlib.crc32(b"".join(value.encode() if isinstance(value, str) else value for value in values))


def point_of(row: Sequence[Any], damaged: Callable[[str], Exception]) -> Point:
    """The chunk of a row of ``COLUMNS``, as it was stored. Raises *damaged* when its checksum is wrong."""
    if checksum(row[3:]) != row[2]:
        raise damaged(f"the checksum of chunk {row[1]!r} is wrong")
    words, dense = np.frombuffer(row[4], WORD), np.frombuffer(row[5], "<f4")
    sentences = np.frombuffer(row[7], "<f2").astype(np.float32).reshape(-1, len(dense))
    return Point(row[1], row[6], orjson.loads(row[3]), dense, sentences, dict(words.tolist()))


def candidate_of(own: int, point: Point) -> Candidate:
    """A stored chunk as a candidate."""
    payload = {CONTENT: point.text, METADATA: point.metadata}
    chunk = chunk_from_payload(point.chunk_id, payload)
    return Candidate(own, chunk, point.dense, point.sparse, point.sentences, payload)


def stored_size(connection: sqlite3.Connection) -> int | None:
    """The dimension of the stored vectors; None where there are none."""
    first = connection.execute("SELECT length(dense) / 4 FROM chunks LIMIT 1").fetchone()
    return first[0] if first else None


def as_json(values: Iterable[Any]) -> str:
    """The parameter of ``IN (SELECT value FROM json_each(?))``."""
    return orjson.dumps(list(values)).decode()


def select(connection: sqlite3.Connection, columns: str, where: Where = None, rest: str = "") -> sqlite3.Cursor:
    """Select columns of the chunks that pass a filter."""
    condition, values = _condition(where)
    return connection.execute(f"SELECT {columns} FROM chunks WHERE {condition} {rest}", values)


def remove(connection: sqlite3.Connection, where: Where) -> int:
    """Delete the chunks that pass a filter; return how many."""
    condition, values = _condition(where)
    connection.execute(f"INSERT INTO removed SELECT id FROM chunks WHERE {condition}", values)
    return connection.execute(f"DELETE FROM chunks WHERE {condition}", values).rowcount


def ids_of(found: Iterable[tuple[int]]) -> NDArray[np.int64]:
    """The only column of what was selected."""
    return np.fromiter((own for (own,) in found), np.int64)


def _condition(where: Where) -> tuple[str, list[str]]:
    """A filter as an SQL condition and its parameters."""
    clauses, parameters = ["TRUE"], []
    for wanted in conditions(where):
        name = wanted.fields[0]
        path = ".".join(f'"{part}"' for part in name.replace("'", "''").split("."))
        column = name if name in TEXT_COLUMNS else f"json_extract(metadata, '$.{path}')"
        clauses.append(f"{column} IN (SELECT value FROM json_each(?))")
        parameters.append(as_json(map(str, wanted.values) if name in TEXT_COLUMNS else wanted.values))
    return " AND ".join(clauses), parameters

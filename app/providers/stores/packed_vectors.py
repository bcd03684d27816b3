"""The vectors of a chunk as one field of its payload, so that they come out of a store with its text, as bytes.

The engine hands vectors over as a Python float per dimension, a server as digits in JSON, and most of the time of
reading a chunk went into that (``bench/NOTES.md``). The field is base64 (RFC 4648) of, little-endian and each after the
other: d, uint16; a step, float32; the chunk's vector, float16 [d]; and those of its sentences in such steps, int8
[n_spans, d]. All have length 1. With the local model's vectors a cosine with the chunk is within 0.0001 of the exact
one, with a sentence within 0.003; where one dimension has most of a vector's length, within 0.01.
"""

from __future__ import annotations

import binascii
import math
from collections.abc import Mapping
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.providers.embeddings.vectors import Vectors, unit

VECTORS = "vectors"
"""The payload's field, beside langchain-qdrant's two."""
_SIZE, _STEP = Struct("<H"), Struct("<f")
_CHUNK, _SENTENCES = np.dtype("<f2"), np.dtype("i1")
_MOST_STEPS = 127
NOT_FINITE = "a vector holds a value that is not a finite number"
_ABOUT_ONE = 0.03
"""What rounding may have made of a length of 1."""


class Unpacked(NamedTuple):
    """``dense`` float32 [d]; ``sentences`` float32 [n_spans, d], or [0, d] where a chunk is stored without them."""

    dense: Vectors
    sentences: Vectors


def packed(dense: Vectors, sentences: Vectors) -> str:
    """The field's value for float32 [d] and float32 [n_spans, d], of any length.

    Raises ``ValueError`` for a value that is not a finite number.
    """
    rows = packed_rows(sentences.reshape(-1, len(dense)))
    if not np.isfinite(dense).all():
        raise ValueError(NOT_FINITE)
    with np.errstate(over="ignore"):  # what is too large for float16 is not of length 1
        chunk = dense if _is_packed(dense, dense.astype(_CHUNK)) else unit(dense)
    parts = (_SIZE.pack(len(dense)), rows[: _STEP.size], chunk.astype(_CHUNK).tobytes(), rows[_STEP.size :])
    return binascii.b2a_base64(b"".join(parts), newline=False).decode("ascii")


def packed_rows(rows: Vectors) -> bytes:
    """float32 [n, d], of any length, as a step and int8 [n, d].

    The step is a power of two, so that float16, as exports hold vectors of sentences, has every multiple exactly.
    Raises ``ValueError`` for a value that is not a finite number.
    """
    if not np.isfinite(rows).all():
        raise ValueError(NOT_FINITE)
    if not _is_packed(rows, _step(rows) * np.rint(rows / _step(rows))):
        rows = unit(rows)
    step = _step(rows)
    steps: bytes = np.rint(rows / step).astype(_SENTENCES).tobytes()
    return _STEP.pack(step) + steps


def unpacked_rows(stored: bytes, size: int) -> Vectors:
    """What ``packed_rows`` made, as float32 [n, size]."""
    (step,) = _STEP.unpack_from(stored)
    return (np.frombuffer(stored, _SENTENCES, -1, _STEP.size) * np.float32(step)).reshape(-1, size)


def unpacked(payload: Mapping[str, Any] | None, size: int) -> Unpacked | None:
    """The vectors, *size* being d; None where the payload has no such field, or another size's."""
    field = payload.get(VECTORS) if payload else None
    if not isinstance(field, str):
        return None
    try:
        stored = binascii.a2b_base64(field)
    except ValueError:
        return None
    head = _SIZE.size + _STEP.size
    begin = head + _CHUNK.itemsize * size
    if len(stored) < begin or (len(stored) - begin) % size:
        return None
    if _SIZE.unpack_from(stored) != (size,):
        return None
    return Unpacked(
        np.frombuffer(stored, _CHUNK, size, head).astype(np.float32),
        unpacked_rows(stored[_SIZE.size : head] + stored[begin:], size),
    )


def _step(rows: Vectors) -> float:
    most = float(np.abs(rows).max(initial=0.0))
    return 2.0 ** math.ceil(math.log2(most / _MOST_STEPS)) if most else 1.0


def _is_packed(rows: Vectors, rounded: NDArray[np.floating[Any]]) -> bool:
    """Whether rows were rounded before, and so had length 1 before that: then they stay what they are."""
    lengths = np.linalg.norm(rows, axis=-1)
    return bool((rows == rounded).all() and ((lengths == 0.0) | (np.abs(lengths - 1.0) < _ABOUT_ONE)).all())

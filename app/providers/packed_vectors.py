"""The vectors of a chunk as one field of its payload, so that they come out of a store with its text, as bytes.

The engine hands vectors over as a Python float per dimension, a server as digits in JSON, and most of the time of
reading a chunk went into that (``bench/NOTES.md``). The field is base64 (RFC 4648) of, little-endian, the chunk's
vector, float16 [d]; a step, float32; and the vectors of its sentences in such steps, int8 [n_spans, d]. All have
length 1. Of 384 dimensions a cosine with the chunk is within 0.0001 of the exact one, with a sentence within 0.003.
"""

from __future__ import annotations

import binascii
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from app.providers.vectors import Vectors, unit

VECTORS = "vectors"
"""The payload's field, beside langchain-qdrant's two."""
_CHUNK, _STEP, _SENTENCES = np.dtype("<f2"), np.dtype("<f4"), np.dtype("i1")
_MOST_STEPS = 127
_ABOUT_ONE = 0.02
"""Vectors so near to length 1 are taken as they are: those that were packed before stay what they were."""


class Unpacked(NamedTuple):
    """``dense`` float32 [d] and ``sentences`` float32 [n_spans, d]."""

    dense: Vectors
    sentences: Vectors


def packed(dense: Vectors, sentences: Vectors) -> str:
    """The field's value for float32 [d] and float32 [n_spans, d], of any length.

    The step is a power of two, so that float16, as exports hold vectors of sentences, has every multiple exactly.
    """
    rows = _about_unit(sentences.reshape(-1, len(dense)))
    most = float(np.abs(rows).max(initial=0.0))
    step = 2.0 ** math.ceil(math.log2(most / _MOST_STEPS)) if most else 1.0
    parts = (_about_unit(dense).astype(_CHUNK), np.array(step, _STEP), np.rint(rows / step).astype(_SENTENCES))
    return binascii.b2a_base64(b"".join(part.tobytes() for part in parts), newline=False).decode("ascii")


def unpacked(payload: Mapping[str, Any] | None, size: int) -> Unpacked | None:
    """The vectors, *size* being d; None where the payload has no such field, or another size's."""
    field = payload.get(VECTORS) if payload else None
    if not isinstance(field, str):
        return None
    try:
        stored = binascii.a2b_base64(field)
    except ValueError:
        return None
    begin = _CHUNK.itemsize * size + _STEP.itemsize
    if len(stored) < begin or (len(stored) - begin) % size:
        return None
    step = np.frombuffer(stored, _STEP, 1, begin - _STEP.itemsize)
    return Unpacked(
        np.frombuffer(stored, _CHUNK, size).astype(np.float32),
        (np.frombuffer(stored, _SENTENCES, -1, begin) * step).reshape(-1, size),
    )


def _about_unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    kept: Vectors = np.where(np.abs(lengths - 1.0) < _ABOUT_ONE, rows, unit(rows))
    return kept

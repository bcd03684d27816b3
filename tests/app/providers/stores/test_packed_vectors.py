"""Vectors that are packed into a payload, and read out of one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.embeddings.vectors import unit
from app.providers.stores.packed_vectors import VECTORS, Unpacked, packed, unpacked

sizes = st.sampled_from([1, 3, 8, 384, 1024])


def rows(seed: int, count: int, size: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)


def read(field: object, size: int) -> Unpacked:
    found = unpacked(json.loads(json.dumps({VECTORS: field})), size)
    assert found
    return found


@given(st.integers(0, 99), st.integers(0, 9), sizes, st.floats(1e-6, 1e6))
def test_cosines_with_what_was_packed_are_those_of_what_was_given(
    seed: int, count: int, size: int, length: float
) -> None:
    """Of any number of sentences and any length, as near as the few dimensions allow."""
    given_rows = np.float32(length) * rows(seed, 1 + count, size)
    found = read(packed(given_rows[0], given_rows[1:]), size)
    assert (found.dense.dtype, found.sentences.dtype, found.sentences.shape) == (np.float32, np.float32, (count, size))
    exact, question = unit(given_rows), unit(rows(seed + 100, 1, size))[0]
    assert float(found.dense @ question) == pytest.approx(float(exact[0] @ question), abs=5e-4)
    np.testing.assert_allclose(found.sentences @ question, exact[1:] @ question, atol=0.02)


def test_with_the_local_models_dimensions_they_are_as_near_as_is_said() -> None:
    """Within 0.0001 for chunks and 0.003 for sentences, near ones and far ones."""
    some, questions = rows(1, 300, 384), rows(2, 300, 384)
    questions[:100] = some[:100] + 0.5 * questions[:100]
    found = read(packed(some[0], some), 384)
    exact = unit(some) @ unit(questions).T
    assert np.abs(found.dense @ unit(questions).T - exact[0]).max() < 1e-4
    assert np.abs(found.sentences @ unit(questions).T - exact).max() < 3e-3


@given(st.integers(0, 99), st.integers(0, 9), sizes)
def test_packed_again_they_stay_what_they_were(seed: int, count: int, size: int) -> None:
    """By way of float16 too, as an export holds them."""
    some = rows(seed, 1 + count, size)
    first = packed(some[0], some[1:])
    found = read(first, size)
    assert packed(found.dense, found.sentences.astype(np.float16).astype(np.float32)) == first


def test_vectors_of_nothing_stay_at_zero() -> None:
    """As another pipeline may have left them."""
    found = read(packed(np.zeros(8, np.float32), np.zeros((2, 8), np.float32)), 8)
    assert not found.dense.any()
    assert not found.sentences.any()


OTHERS = [None, 7, [1.0], {"a": 1}, "", "é", "A", "AAAA", "not base64!", "A" * 4000, "A" * 1032]


@pytest.mark.parametrize("field", OTHERS)
def test_what_others_keep_under_that_name_is_left_alone(field: object) -> None:
    """A field of another type, of another size, or in another writing holds no vectors; one of zeros neither."""
    assert unpacked({VECTORS: field}, 384) is None
    assert unpacked({}, 384) is None
    assert unpacked(None, 384) is None


def test_another_sizes_vectors_are_not_taken_apart() -> None:
    """Even where the numbers of bytes would allow it: four sentences of 768 are no eight of 384 and more."""
    some = rows(3, 5, 768)
    field = packed(some[0], some[1:])
    assert read(field, 768).sentences.shape == (4, 768)
    for size in (1, 2, 3, 256, 384, 1000, 1024, 1536):
        assert unpacked({VECTORS: field}, size) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_refused(bad: float) -> None:
    """In the chunk's vector and in a sentence's."""
    some = rows(4, 2, 8)
    some[0, 3] = bad
    for dense, sentences in ((some[0], some[1:]), (some[1], some[:1])):
        with pytest.raises(ValueError, match="not a finite number"):
            packed(dense, sentences)

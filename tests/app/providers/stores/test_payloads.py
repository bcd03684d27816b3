"""Payloads that other pipelines wrote are read as they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.stores.payloads import chunk_from_payload, metadata_of, text_of


@pytest.mark.parametrize(
    "payload",
    [
        {
            "page_content": "It is so.",
            "metadata": {"source": "m.pdf", "page": 5, "section": "Acids", "title": "M", "document_id": "m"},
        },
        {
            "text": "It is so.",
            "source_doc": "m.pdf",
            "page_number": "5",
            "section_title": "Acids",
            "title": "M",
            "doc_id": "m",
        },
        {
            "document": "It is so.",
            "metadata": {"source_doc": "m.pdf", "page_number": 5.0, "section_title": "Acids", "title": "M"},
            "document_id": "m",
        },
    ],
)
def test_ours_flat_and_chromas_shapes_give_the_same_chunk(payload: dict[str, Any]) -> None:
    """Our payload, a flat one and Chroma's are read as the same chunk."""
    chunk = chunk_from_payload("p1", payload)
    assert (chunk.chunk_id, chunk.document_id, chunk.title) == ("p1", "m", "M")
    assert (chunk.text, chunk.source, chunk.page, chunk.section) == ("It is so.", "m.pdf", 5, "Acids")


def test_an_address_serves_as_document_source_and_url() -> None:
    """A payload's address stands in for document id, source and URL."""
    chunk = chunk_from_payload("7", {"text": "x", "source_url": "https://e.org/a", "chapter": "One", "chunk_index": 3})
    assert (chunk.document_id, chunk.source, chunk.url) == ("https://e.org/a",) * 3
    assert (chunk.chapter, chunk.chunk_index, chunk.title) == ("One", 3, "https://e.org/a")


def test_the_points_id_stands_in_for_ids_that_are_missing() -> None:
    """Missing ids are replaced by the point's id."""
    chunk = chunk_from_payload("p1", {"text": "x"})
    assert (chunk.chunk_id, chunk.document_id, chunk.title) == ("p1", "p1", "")


@pytest.mark.parametrize("spans", [[[0, 3], [2, 5]], [[0, 99]], [[3, 3]], [["a", "b"]], "none", [[1]], [[-1, 2]]])
def test_spans_that_do_not_fit_the_text_are_not_believed(spans: object) -> None:
    """Stored spans that do not fit the text are ignored."""
    assert chunk_from_payload("p", {"text": "It is so.", "metadata": {"spans": spans}}).spans == ()
    assert chunk_from_payload("p", {"text": "It is so.", "spans": [[0, 2], [3, 9]]}).spans == ((0, 2), (3, 9))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    [
        "page_content",
        "text",
        "document",
        "metadata",
        "source",
        "page",
        "spans",
        "title",
        "chunk_id",
        "url",
        "chunk_index",
    ]
)


@given(st.dictionaries(fields, json_values | st.dictionaries(fields, json_values)) | st.none())
def test_any_payload_can_be_read(payload: dict[str, Any] | None) -> None:
    """Any payload, however malformed, is read without an error."""
    chunk = chunk_from_payload("p", payload)
    assert chunk.chunk_id
    assert chunk.document_id
    assert all(0 <= start < end <= len(chunk.text) for start, end in chunk.spans)
    assert isinstance(text_of(payload), str)
    assert isinstance(metadata_of(payload), dict)

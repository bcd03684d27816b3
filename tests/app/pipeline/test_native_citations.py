"""A model's own citation spans become markers behind what they cite."""

from __future__ import annotations

from typing import Any

import pytest

from app.pipeline.chat import with_markers

TEXT = "The tower is in Paris. It was built in 1889 by Eiffel."


def cite(fragment: str, *documents: str) -> dict[str, Any]:
    start = TEXT.index(fragment)
    return {"start": start, "end": start + len(fragment), "sources": [{"id": name} for name in documents]}


def test_a_marker_follows_its_span() -> None:
    """The id of a document is its number."""
    assert with_markers(TEXT, [cite("in Paris", "1")]) == "The tower is in Paris [1]. It was built in 1889 by Eiffel."


def test_spans_of_one_sentence_and_source_share_a_marker() -> None:
    """Two spans in a row from one document leave one marker, after the last; another document's stands by itself."""
    spans = [cite("The tower", "2"), cite("in Paris", "2"), cite("1889", "1"), cite("Eiffel", "3", "1")]
    assert with_markers(TEXT, spans) == "The tower is in Paris [2]. It was built in 1889 [1] by Eiffel [3][1]."


def test_equal_sources_in_two_sentences_are_two_markers() -> None:
    """Every sentence keeps its own marker."""
    assert with_markers(TEXT, [cite("Paris", "1"), cite("Eiffel", "1")]).count("[1]") == 2


@pytest.mark.parametrize(
    "citation",
    [
        {},
        {"start": 0, "end": 10_000, "sources": [{"id": "1"}]},
        {"start": 0, "end": 0, "sources": [{"id": "1"}]},
        {"start": 0, "end": 3, "sources": []},
        {"start": 0, "end": 3, "sources": [{"id": "tool"}, {"id": None}]},
        {"start": 0, "end": "3", "sources": None},
    ],
)
def test_spans_that_make_no_sense_are_left_out(citation: dict[str, Any]) -> None:
    """A span outside the text, or without a numbered document, adds nothing."""
    assert with_markers(TEXT, [citation]) == TEXT

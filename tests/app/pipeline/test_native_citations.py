"""A model's own citation spans become the sources of the sentences they stand in."""

from __future__ import annotations

from typing import Any

import pytest

from answering.types import Draft
from app.pipeline.chat import sentences_with
from tests.support.synthesis import marked

TEXT = "The tower is in Paris. It was built in 1889 by Eiffel."


def cite(fragment: str, *documents: str) -> dict[str, Any]:
    start = TEXT.index(fragment)
    return {"start": start, "end": start + len(fragment), "sources": [{"id": name} for name in documents]}


def cited(*citations: dict[str, Any]) -> str:
    """TEXT with the number of its chunk where it cites one."""
    return marked(Draft(sentences_with(TEXT, citations, 3)))


def test_a_source_stands_behind_its_span() -> None:
    """The id of a document is its number."""
    assert cited(cite("in Paris", "1")) == "The tower is in Paris [1]. It was built in 1889 by Eiffel."


def test_spans_of_one_sentence_and_source_share_a_place() -> None:
    """Two spans in a row from one document leave one source, at the last; another document's stands by itself."""
    spans = [cite("The tower", "2"), cite("in Paris", "2"), cite("1889", "1"), cite("Eiffel", "3")]
    assert cited(*spans) == "The tower is in Paris [2]. It was built in 1889 [1] by Eiffel [3]."


def test_equal_sources_in_two_sentences_are_two() -> None:
    """Every sentence keeps its own source."""
    assert cited(cite("Paris", "1"), cite("Eiffel", "1")).count("[1]") == 2


@pytest.mark.parametrize(
    "citation",
    [
        {},
        {"start": 0, "end": 10_000, "sources": [{"id": "1"}]},
        {"start": 0, "end": 0, "sources": [{"id": "1"}]},
        {"start": 0, "end": 3, "sources": []},
        {"start": 0, "end": 3, "sources": [{"id": "tool"}, {"id": None}, {"id": "4"}]},
        {"start": 0, "end": "3", "sources": None},
    ],
)
def test_spans_that_make_no_sense_are_left_out(citation: dict[str, Any]) -> None:
    """A span outside the text, or without the number of a document that was given, adds nothing."""
    assert cited(citation) == TEXT

"""Dates of headings: which of two sections is the later one."""

import pytest

from answering.relevance.dates import LATER_SHARE, later_section
from answering.types import Chunk


def chunk(section: str, answers: float = 1.0, document: str = "d", chapter: str | None = None) -> Chunk:
    return Chunk(section, document, "", "It is so.", chapter=chapter, section=section, answers=answers, scores=(1.0,))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Meeting of 11 February 2025", "Meeting of 13 May 2025"),
        ("2.3.1 (22 August 2024)", "2.4.0 (14 January 2025)"),
        ("[1.0.0] - 2024-12-31", "[1.1.0] - 2025-01-02"),
        ("May 3rd, 2025", "3 June 2025"),
        ("30. April 2025", "1st May 2025"),
    ],
)
def test_the_later_date_is_found_in_any_writing(earlier: str, later: str) -> None:
    """Day and month in either order, or as ISO writes it; never the other way round."""
    one, other = chunk(earlier), chunk(later)
    assert later_section([one, other], one) is other
    assert later_section([one, other], other) is None
    assert later_section([chunk("Fixed", chapter=later)], chunk("Added", chapter=earlier)) is not None


def test_it_is_of_the_same_document_and_may_answer() -> None:
    """Another document, a section without a date, and one that hardly answers, take nothing back."""
    best = chunk("11 February 2025")
    assert later_section([chunk("13 May 2025", document="other"), chunk("Notes")], best) is None
    assert later_section([chunk("13 May 2025", answers=LATER_SHARE - 0.01)], best) is None
    assert later_section([chunk("13 May 2025")], chunk("Notes")) is None

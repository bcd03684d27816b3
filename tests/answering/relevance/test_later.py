"""Dates of headings: which of two sections is the later one."""

from dataclasses import replace

import pytest

from answering.relevance.later import LATER_SHARE, later_section, later_than, with_later
from answering.types import Chunk, ReadPassage

QUESTION = "Is the boathouse open?"


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
    assert later_section(QUESTION, [one, other], one) is other
    assert later_section(QUESTION, [one, other], other) is None
    assert later_section(QUESTION, [chunk("Fixed", chapter=later)], chunk("Added", chapter=earlier)) is not None


def test_it_is_of_the_same_document_and_may_answer() -> None:
    """Another document, a section without a date, and one that hardly answers, take nothing back."""
    best = chunk("11 February 2025")
    assert later_section(QUESTION, [chunk("13 May 2025", document="other"), chunk("Notes")], best) is None
    assert later_section(QUESTION, [chunk("13 May 2025", answers=LATER_SHARE - 0.01)], best) is None
    assert later_section(QUESTION, [chunk("13 May 2025")], chunk("Notes")) is None


def decided(text: str, section: str = "", answers: float = 1.0, document: str = "other", title: str = "") -> Chunk:
    """A chunk of another document, whose only sentence is *text*."""
    return Chunk(text, document, title, text, section=section, answers=answers, scores=(1.0,), spans=((0, len(text)),))


@pytest.mark.parametrize(
    "later",
    [
        decided("The fee goes up from 55 to 60 euros.", "9 April 2024"),
        decided("Grilling now ends at 9 pm instead of 10.", title="Minutes of 15 June 2024"),
        replace(decided("Only one dog is allowed from now on."), source="minutes-2024-06-general.txt"),
        decided("From October a member can bring one guest.", "9 September 2024"),
        decided("It was resolved to close on Saturdays.", "Meeting of 2024-09-10"),
    ],
)
@pytest.mark.parametrize("best", [chunk("Rules"), chunk("12 March 2023")])
def test_a_later_document_may_change_what_another_says(later: Chunk, best: Chunk) -> None:
    """What a handbook without a date says, too; the date is in a heading, the title or the name of the file."""
    assert later_section(QUESTION, [best, later], best) is later


@pytest.mark.parametrize(
    "other",
    [
        decided("The fee is 60 euros.", "9 April 2024"),
        decided("The fee goes up to 60 euros.", "Fees"),
        decided("The fee goes up to 60 euros.", "9 April 2022"),
        decided("The fee goes up to 60 euros.", "9 April 2024", LATER_SHARE - 0.01),
    ],
)
def test_another_document_changes_nothing_without_saying_so(other: Chunk) -> None:
    """It tells of a change, has a later date, and may answer."""
    best = chunk("12 March 2023")
    assert later_section(QUESTION, [best, other], best) is None


def test_of_several_later_ones_the_last_counts() -> None:
    """Whichever answers more surely: it was decided last."""
    first, last = decided("It is closed now.", "3 May 2024", 0.9), decided("It is open again.", "7 June 2024", 0.5)
    assert later_section(QUESTION, [last, first], chunk("Rules", 0.9)) is last


@pytest.mark.parametrize(
    "said",
    ["Ines Bell takes over from Gareth Pell in May.", "From May on Gareth Pell is no longer captain; Ines Bell is."],
)
def test_a_change_may_answer_less_well_where_it_repeats_what_was_so(said: str) -> None:
    """Nothing else says so clearly that it is about the same thing."""
    best = replace(decided("The captain is Gareth Pell.", "Officers"), similarity=0.6)
    assert later_section(QUESTION, [best, decided(said, "9 April 2024", LATER_SHARE - 0.2)], best) is not None
    other = decided("Ines Bell takes over from Ann Day in May.", "9 April 2024", LATER_SHARE - 0.2)
    assert later_section(QUESTION, [best, other], best) is None


def test_a_later_passage_that_answers_needs_no_word_of_change() -> None:
    """Where the reader finds its answer in it."""
    later = decided("A place costs 1,040 pounds.", "9 April 2024")
    assert later_section(QUESTION, [later], chunk("Fees")) is None
    answering = replace(later, reading=ReadPassage((1.0,), 0.0, 1.0))
    assert later_section(QUESTION, [answering], chunk("Fees")) is answering


def policy(title: str, dated: str, answers: float = 1.0) -> Chunk:
    return replace(
        decided(f"Up to {len(dated)} euros of {title}.", answers=answers, document=title, title=title), dated=dated
    )


OLD, NOW = policy("Travel policy 2022", "2022-01"), policy("Travel policy 2025", "2025-03", 0.9)
DRAFT = policy("Travel policy 2026 (draft)", "~2026-01", 0.95)


def test_what_is_not_in_force_is_never_the_later_one() -> None:
    """A draft of next year takes nothing back; what is in force does, beside a draft, whatever their dates are."""
    assert later_section(QUESTION, [DRAFT], NOW) is None
    assert later_section(QUESTION, [replace(NOW, section="Corrections")], DRAFT) is not None
    assert [chunk.title for chunk in later_than([OLD, NOW, DRAFT], [OLD])] == [NOW.title]


def test_further_candidates_are_kept_that_are_later() -> None:
    """Later than the nearest ones with a date, a few; none where these have none."""
    chunks = [OLD, policy("Notes", ""), NOW, DRAFT, policy("News", "2026-05"), policy("News", "2021")]
    assert with_later(chunks, 1) == [0, 2, 4]
    assert with_later([policy("Notes", ""), *chunks], 1) == [0, 3, 5]
    assert with_later([policy("Notes", "")] * 4 + chunks, 4) == [0, 1, 2, 3]


def test_a_version_that_is_asked_for_is_not_taken_back() -> None:
    """What was decided later is of no use to who asks for what version 2 said."""
    asked = replace(decided("The limit is 20 euros.", document="v2"), source="rules_v2.md", dated="~2021")
    later = decided("The limit goes up to 30 euros.", "9 April 2024")
    assert later_section("What is the limit?", [asked, later], asked) is later
    assert later_section("What was the limit in version 2?", [asked, later], asked) is None

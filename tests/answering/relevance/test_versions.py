"""Which version of a document answers: the last one in force, or the one that is asked for."""

from dataclasses import replace

import pytest

from answering.relevance.versions import date_of, in_force, is_outdated
from answering.types import Chunk


def policy(title: str, dated: str, answers: float = 1.0, source: str = "") -> Chunk:
    text = f"Up to {len(dated)} euros of {title}."
    chunk = Chunk(text, title, title, text, section="", source=source, dated=dated)
    return replace(chunk, answers=answers, scores=(1.0,), spans=((0, len(text)),))


OLD, NOW = policy("Travel policy 2022", "2022-01"), policy("Travel policy 2025", "2025-03", 0.9)
DRAFT = policy("Travel policy 2026 (draft)", "~2026-01", 0.95)


def test_of_versions_the_last_one_in_force_answers() -> None:
    """Not a later draft, nor an earlier version, however probably these answer; unless one of these is asked for."""
    chunks = [OLD, NOW, DRAFT]
    assert in_force("What is the limit?", chunks, OLD) is NOW
    assert in_force("What is the limit?", [OLD, DRAFT], DRAFT) is OLD
    assert in_force("What is the limit?", [DRAFT], DRAFT) is DRAFT
    assert in_force("What is the limit?", [replace(NOW, answers=0.49), DRAFT], DRAFT) is DRAFT
    assert in_force("What was the limit previously?", chunks, OLD) is OLD
    assert in_force("What is the limit in the draft?", chunks, DRAFT) is DRAFT
    assert in_force("What is the limit of 2022?", chunks, OLD) is OLD


def test_another_document_is_no_version() -> None:
    """It has another title, no date, or hardly answers."""
    best = policy("Travel policy 2022", "2022-01")
    for other in (
        policy("Fees 2025", "2025-03"),
        policy("Travel policy", ""),
        policy("Travel policy 2025", "2025", 0.7),
    ):
        assert in_force("What is the limit?", [best, other], best) is best


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("What was the limit in version 2 of the rules?", "old/rules_v2.md"),
        ("How high was the limit of v2?", "rules, version 2.txt"),
        ("Which limit did the rules of 2017 have?", "archive/rules_2017.md"),
        ("Which limit did the draft contain?", "rules_DRAFT.docx"),
    ],
)
def test_the_version_that_is_asked_for_answers(question: str, source: str) -> None:
    """By its number, its year or its state, in the name of the file; unless it hardly answers, or none has these."""
    asked, other = policy("Rules", "~2019-05", 0.75, source), policy("House rules", "2024", 0.9, "rules_v3.md")
    assert in_force(question, [other, asked], other) is asked
    assert in_force(question, [other, replace(asked, answers=0.4)], other) is other
    assert in_force("What is the limit?", [other, asked], other) is other
    assert not is_outdated(question, asked)
    assert is_outdated("What is the limit?", asked)


def test_the_date_of_a_document_counts_unless_its_headings_have_one() -> None:
    """It is stored when the document is ingested; a text in its place counts for nothing."""
    assert date_of(policy("Rules", "2025-05")) == (2025, 5)
    assert date_of(replace(policy("Rules", "2025-05"), section="Meeting of 3 June 2024")) == (2024, 6, 3)
    assert date_of(policy("Rules", "in May")) == ()


@pytest.mark.parametrize(
    ("question", "best", "other"),
    [
        ("How much is a draft beer?", ("Bar", "2024", ""), ("Bar", "~2023", "bar_old.md")),
        ("Who was the captain in 2019?", ("Captains of 2019", "", ""), ("Letter", "2019-05-02", "letter_2019-05.md")),
        ("When does the pool close on 3 May 2024?", ("Handbook", "", ""), ("Re: parking", "2024-11-02", "mail.eml")),
    ],
)
def test_a_year_that_is_asked_about_is_no_version(
    question: str, best: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    """Nor is a draft beer a draft: what answers surely answers, whatever the date of another document is."""
    surest = policy(best[0], best[1], 0.95, best[2])
    assert in_force(question, [surest, policy(other[0], other[1], 0.6, other[2])], surest) is surest

"""A section that is asked for by its number: which questions do, and which headings it is."""

import pytest

from answering.questions.sections import (
    BARE,
    MAX_SENTENCES,
    NO_FIT,
    WITH_NOUN,
    asked_section,
    document_with,
    sentences_of_section,
)
from answering.text.sentences import sentence_spans
from answering.types import Chunk


def chunk(section: str, text: str = "It is so.", document: str = "d", index: int = 0, **headings: str) -> Chunk:
    spans = sentence_spans(text)
    fields = {"title": document, "chapter": None, **headings}
    return Chunk(f"{document}#{index}", document, text=text, section=section, spans=spans, chunk_index=index, **fields)


@pytest.mark.parametrize(
    ("question", "kind", "label"),
    [
        ("What does article 4 say?", "article", "4"),
        ("What is in section 2.1?", "section", "2.1"),
        ("what's in chapter IV", "chapter", "iv"),
        ("§ 12a", "section", "12a"),
        ("Show me Annex B", "appendix", "b"),
        ("Summarise clause no. 7, please", None, None),
        ("Summarise clause no. 7", "clause", "7"),
        ("What does art. 3 of the statutes say about fees?", "article", "3"),
        ("What do the statutes say in article 3?", "article", "3"),
        ("What was fixed in Quill 2.3.1?", "version", "2.3.1"),
        ("known issues of 2.2.0", "version", "2.2.0"),
        ("What changed in 2025?", None, None),
        ("What does part 4711 cost?", None, None),
        ("When does section 2.1 apply?", None, None),
        ("According to article 3, when is the fee due?", None, None),
        ("What does an article say?", None, None),
    ],
)
def test_a_question_for_all_of_a_section_is_told_from_one_about_it(
    question: str, kind: str | None, label: str | None
) -> None:
    """It names the kind and the number, and asks for nothing else."""
    asked = asked_section(question)
    assert (asked.kind, asked.label) == (kind, label) if asked else kind is None


@pytest.mark.parametrize(
    ("question", "heading", "fit"),
    [
        ("article 4", "Article 4 Board", WITH_NOUN),
        ("article 4", "Art. 4: Board", WITH_NOUN),
        ("article 4", "4. Board", BARE),
        ("article 4", "4.1 Elections", NO_FIT),
        ("article 4", "Section 4 Board", NO_FIT),
        ("article 4", "Article 14 Seat", NO_FIT),
        ("section 2.1", "2.1 Leave", BARE),
        ("section 2.1", "2.10 Sabbatical", NO_FIT),
        ("§ 7", "§ 7 Notice", WITH_NOUN),
        ("appendix A", "Appendix A", WITH_NOUN),
        ("appendix A", "A day out", NO_FIT),
        ("What changed in 2.3?", "2.3.0 (30 June 2025)", BARE),
        ("What changed in 2.3?", "Version 2.3", WITH_NOUN),
        ("What changed in 2.3?", "2.3.1 (22 August)", NO_FIT),
        ("What changed in version 2.3.0?", "[v2.3.0] - 2025-06-30", WITH_NOUN),
    ],
)
def test_a_heading_fits_by_its_number(question: str, heading: str, fit: int) -> None:
    """The whole number; best with its noun, not at all with another one, and a letter never without."""
    asked = asked_section(question)
    assert asked
    assert asked.fit(chunk(heading)) == fit
    assert asked.fit(chunk("Anything", chapter=heading)) == fit


def test_one_document_has_it() -> None:
    """Of two documents with the same number the one is meant that is named, or whose heading has the noun."""
    statutes, manual, leaflet = (
        chunk("Article 4 Board", document="statutes"),
        chunk("4 Pumps", document="manual"),
        chunk("4 Hours", document="leaflet"),
    )
    asked, named = asked_section("What does article 4 say?"), asked_section("What does article 4 of the manual say?")
    assert asked
    assert named
    assert document_with(asked, [statutes, manual]) == "statutes"
    assert document_with(asked, [manual, leaflet]) is None
    assert document_with(named, [statutes, manual, leaflet]) == "manual"


def test_its_first_sentences_answer_in_reading_order() -> None:
    """Of all chunks of the section, without its heading, up to the most that is quoted."""
    asked = asked_section("article 4")
    assert asked
    chunks = [
        chunk("Article 4 Board", "It has a chair. " * MAX_SENTENCES, index=2),
        chunk("Article 5 Seat", "It is here.", index=3),
        chunk("Article 4 Board", "Article 4 Board\n\nThe board has five members. They serve two years.", index=1),
    ]
    first, second = sentences_of_section(asked, chunks)
    assert [first.chunk.sentences[n] for n in first.numbers] == ["The board has five members.", "They serve two years."]
    assert second.chunk.chunk_index == 2
    assert len(second.numbers) == MAX_SENTENCES - 2


def test_a_clause_within_a_section_is_found_by_the_number_that_opens_it() -> None:
    """To the next clause that is not below it; a heading with the number comes first."""
    text = "4.1 Pay is monthly. 4.2 The firm may deduct:\n\n4.2.1 loans. This is rare.\n\n4.3 Reviews are in April."
    asked = asked_section("What does clause 4.2 say?")
    assert asked
    (found,) = sentences_of_section(asked, [chunk("4. Pay", text), chunk("Notes", "4.2 million use it.", index=1)])
    assert " ".join(found.chunk.sentences[n] for n in found.numbers).startswith("4.2 The firm may deduct")
    assert "4.3" not in " ".join(found.chunk.sentences[n] for n in found.numbers)
    headed = chunk("4.2 Deductions", "The firm may deduct loans.", index=2)
    assert sentences_of_section(asked, [chunk("4. Pay", text), headed]) == ((headed, (0,)),)


def test_of_a_version_the_part_that_is_asked_for_is_quoted() -> None:
    """What was fixed is not what was added; "changed" asks for all of it."""
    chunks = [
        chunk("Added", "A dark theme.", chapter="2.3.0 (June)", index=0),
        chunk("Bug fixes", "No crash on start.", chapter="2.3.0 (June)", index=1),
        chunk("Fixed", "Spelling.", chapter="2.3.1 (August)", index=2),
    ]

    def quoted(question: str) -> list[str]:
        asked = asked_section(question)
        found = sentences_of_section(asked, chunks) if asked else ()
        return [part.chunk.sentences[n] for part in found for n in part.numbers]

    assert quoted("What was fixed in 2.3?") == ["No crash on start."]
    assert quoted("What's new in version 2.3?") == ["A dark theme."]
    assert quoted("What changed in 2.3?") == ["A dark theme.", "No crash on start."]
    assert quoted("What was removed in 2.3?") == []

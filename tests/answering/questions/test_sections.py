"""A section that is asked for by its number: which questions do, and which headings it is."""

import pytest

from answering.questions.sections import MAX_SENTENCES, asked_section, document_with, sentences_of_section
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
        ("article 4", "Article 4 Board", 2),
        ("article 4", "Art. 4: Board", 2),
        ("article 4", "4. Board", 1),
        ("article 4", "4.1 Elections", 0),
        ("article 4", "Section 4 Board", 0),
        ("article 4", "Article 14 Seat", 0),
        ("section 2.1", "2.1 Leave", 1),
        ("section 2.1", "2.10 Sabbatical", 0),
        ("§ 7", "§ 7 Notice", 2),
        ("appendix A", "Appendix A", 2),
        ("appendix A", "A day out", 0),
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

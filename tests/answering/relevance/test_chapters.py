"""Chapters that have sections of the same heading: which of them a question names."""

import pytest

from answering.relevance.alternatives import compared
from answering.relevance.chapters import rival_chapters
from answering.relevance.named_things import content
from answering.text.sentences import sentence_spans
from answering.types import About, Chunk, Passage

OFFICES = {
    "Hamburg depot": {"Manager": "Anke Lorenz manages the depot.", "Keys": "The keys are kept by Selma Aydin."},
    "Kiel depot": {"Manager": "Ruth Claasen manages the depot. She works from Tuesday."},
}


def chunk_of(chapter: str, section: str, text: str, document: str = "d") -> Chunk:
    spans = sentence_spans(text)
    return Chunk(f"{chapter} {section}", document, "Staff", text, chapter=chapter, section=section, spans=spans)


CHUNKS = [chunk_of(chapter, *pair) for chapter, sections in OFFICES.items() for pair in sections.items()]


@pytest.mark.parametrize(
    "question",
    ["Who manages the Kiel depot?", "Who is the manager in Kiel?", "On which days does the manager of Kiel work?"],
)
def test_a_chapter_that_is_named_is_the_one_that_is_asked_for(question: str) -> None:
    """By a word of its heading, with its noun or without; all that stands in the others is about another."""
    about = {chunk.chunk_id: set(chunk.about) for chunk in compared(question, CHUNKS)}
    assert About.ANOTHER not in about["Kiel depot Manager"]
    assert about["Hamburg depot Manager"] == about["Hamburg depot Keys"] == {About.ANOTHER}


def test_what_a_named_chapter_lacks_is_not_taken_from_another() -> None:
    """Of the Kiel depot no keys are spoken of: those of Hamburg are another's."""
    about = {chunk.chunk_id: set(chunk.about) for chunk in compared("Who keeps the keys in Kiel?", CHUNKS)}
    assert about["Hamburg depot Keys"] == {About.ANOTHER}


@pytest.mark.parametrize(
    ("question", "chunks"),
    [
        ("Who manages the depots?", CHUNKS),
        ("Do Hamburg and Kiel have a manager?", CHUNKS),
        ("Who is in Kiel?", [CHUNKS[0], chunk_of("Kiel depot", "Parking", "Ten cars may stand there.")]),
        ("Who is in Kiel?", [CHUNKS[0], chunk_of("Kiel depot", "Manager", "Ruth Claasen does.", "other")]),
    ],
)
def test_chapters_are_no_rivals_without_a_name_or_a_common_heading(question: str, chunks: list[Chunk]) -> None:
    """Nor where both are named, or they are of two documents."""
    assert list(rival_chapters(content(question), chunks)) == []


def test_the_reader_reads_the_chapter_of_one_of_several_alike() -> None:
    """Its sections have the same headings as those of the others; elsewhere the section alone is read."""
    _, _, kiel = compared("Who manages the Kiel depot?", CHUNKS)
    assert Passage.of(kiel, ()).title == "Staff > Kiel depot > Manager"
    assert Passage.of(CHUNKS[2], ()).title == "Staff > Manager"

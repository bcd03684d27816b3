"""Rare words of a question that the documents have: a sentence elsewhere that lacks them hardly answers."""

from dataclasses import replace

import pytest

from answering.questions.definitions import KEY_MISSING_FACTOR, key_words, lacks_key_word
from answering.relevance.graders import assess, calibration_for, load_calibrations
from answering.text.sentences import sentence_spans
from answering.types import Chunk, ReadPassage, SubqueryResults

LIFTS = "The filters are changed every 18 months.\n\nGarage\n\nThe gearbox is oiled in May. It is checked every week."


def chunk_of(text: str, name: str = "c", section: str | None = None) -> Chunk:
    return Chunk(name, "d", "", text, section=section, spans=sentence_spans(text))


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("How often is the gearbox changed?", ("gearbox",)),
        ("How often is the gearbox changed by default?", ("gearbox",)),
        ("How often is the turbine changed?", ()),
        ("What is done every week?", ()),
    ],
)
def test_a_rare_word_that_a_document_has_is_a_key(question: str, keys: tuple[str, ...]) -> None:
    """One that no document has may be said in other words, and a common one says little."""
    assert key_words(question, [chunk_of(LIFTS)]) == keys


def test_a_paragraph_and_its_headings_have_the_key_for_each_sentence() -> None:
    """What is before a sentence in its paragraph counts, and so does its section; what is beside it does not."""
    chunk = chunk_of(LIFTS)
    lacking = [text for n, text in enumerate(chunk.sentences) if lacks_key_word(("gearbox",), chunk, n)]
    assert lacking == ["The filters are changed every 18 months.", "Garage"]
    assert not lacks_key_word(("gearbox",), chunk_of("Oiled in May.", section="Gearbox"), 0)
    assert not lacks_key_word(("gearbox",), chunk_of("Gearbox:\n\n- oiled in May\n- checked every week"), 1)


def test_without_its_key_a_chunk_keeps_a_share_of_its_probability() -> None:
    """So a doubtful answer about something else is declined."""
    read = ReadPassage((2.0,), 0.0, 2.0)
    other = replace(chunk_of("Ours are changed every 18 months."), reading=read, span_similarities=(0.5,))
    named = replace(chunk_of("The gearbox stands in the hall.", "b"), span_similarities=(0.2,))
    calibration = calibration_for("all-MiniLM-L6-v2", load_calibrations())
    alone = assess(SubqueryResults("How often is the gearbox changed?", (other,)), calibration).chunks[0]
    beside = assess(SubqueryResults("How often is the gearbox changed?", (other, named)), calibration).chunks[0]
    assert alone.answers
    assert beside.answers == pytest.approx(KEY_MISSING_FACTOR * alone.answers)

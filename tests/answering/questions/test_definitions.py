"""Terms whose meaning is asked for, and the sentences that define them, in the layouts that documents have."""

import pytest

from answering.questions.definitions import asked_term, definition_of
from answering.text.sentences import sentence_spans
from answering.types import Chunk


def chunk_of(text: str, section: str | None = None) -> Chunk:
    return Chunk("c", "d", "Handbook", text, section=section, spans=sentence_spans(text))


@pytest.mark.parametrize(
    "question",
    ["What is a hopper?", "what's hopper", "Define hopper", "hopper", "What does hopper mean?", "Meaning of hopper?"],
)
def test_a_question_for_a_term_is_recognised(question: str) -> None:
    """However a newcomer asks for the meaning of a word, the word is found."""
    term = asked_term(question)
    assert term is not None
    assert term.stems == ("hopper",)


@pytest.mark.parametrize("question", ["use or lose", "Terms of use", "right to roam"])
def test_a_term_alone_may_have_a_stop_word_within(question: str) -> None:
    """A question is not taken for one: "open on Sunday" asks what is open."""
    assert asked_term(question) is not None
    assert asked_term(f"What is {question}?") is None
    assert asked_term("is it open") is None


@pytest.mark.parametrize(
    "question",
    ["What is the fee for a hopper?", "What is the hopper?", "Is a hopper safe?", "How do I clean a hopper?", "Why?"],
)
def test_a_question_for_something_else_asks_for_no_term(question: str) -> None:
    """A price, a certain thing, a yes or no, and steps are no meaning of a word."""
    assert asked_term(question) is None


@pytest.mark.parametrize(
    ("text", "definition"),
    [
        (
            "Belt. It moves parts.\n\nHopper. A bin that feeds the press. Hoppers are red.",
            "A bin that feeds the press.",
        ),
        ("Hoppers are heavy.\n\nA hopper is a bin that feeds the press.", "A hopper is a bin that feeds the press."),
        ("- Belt: moves parts\n- Hopper: a bin that feeds the press\n", "Hopper: a bin that feeds the press"),
        ("| Word | Meaning |\n|---|---|\n| Hopper | a bin |\n", "| Hopper | a bin |"),
        ("A hopper takes 20 kg.\n\nHoppers are open bins above the press.", "Hoppers are open bins above the press."),
    ],
)
def test_a_term_is_answered_by_its_definition(text: str, definition: str) -> None:
    """A glossary entry, a sentence that says what it is, an item, a row and a plural all define; use of it does not."""
    chunk, term = chunk_of(text), asked_term("What is a hopper?")
    assert term is not None
    found = definition_of(term, chunk)
    assert found is not None
    assert chunk.sentences[found.sentence] == definition


@pytest.mark.parametrize(
    "text",
    [
        "A hopper takes effect after 30 seconds.",
        "The hopper is cleaned weekly.",
        "Hoppers are painted by the workshop.",
        "Before the hopper: wash your hands.",
    ],
)
def test_what_is_said_about_a_term_defines_it_not(text: str) -> None:
    """A sentence about a thing does not say what the thing is."""
    term = asked_term("What is a hopper?")
    assert term is not None
    assert definition_of(term, chunk_of(text)) is None


def test_a_section_named_by_the_term_opens_with_its_definition() -> None:
    """Without a sentence that defines it, the first one below its heading tells what a term is, if that is asked."""
    chunk = chunk_of("Members may pause if they travel. They tell the secretary.", section="Hiatus")
    asked, named = asked_term("What is hiatus?"), asked_term("hiatus")
    assert asked is not None
    assert named is not None
    found = definition_of(asked, chunk)
    assert found is not None
    assert (found.sentence, found.stated) == (0, False)
    assert definition_of(named, chunk) is None

"""What a question asks to be defined, and which sentence defines it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.relevance.definitions import UNSURE, asked_subject, defined


def alike(_: str) -> float:
    return 1.0


def share(question: str, *sentences: str) -> tuple[float, ...]:
    return defined(question, alike).shares(sentences)


@pytest.mark.parametrize(
    "question",
    [
        "What is mulch?",
        "what's mulch",
        "What does mulch do?",
        "What does the word mulch mean?",
        "What is the meaning of mulch?",
        "What is meant by mulch?",
        "Define mulch.",
        "mulch definition",
    ],
)
def test_however_it_is_asked_the_subject_is_the_same(question: str) -> None:
    """Every way to ask for a definition names the same subject."""
    assert asked_subject(question) == ("mulch",)


@pytest.mark.parametrize(
    "question",
    ["When is kale sown?", "What is the book about?", "What is it?", "mulch", "", "How do roses grow?"],
)
def test_other_questions_ask_for_no_definition(question: str) -> None:
    """What asks for a time, a topic, a pronoun, or gives a bare word, asks for no definition."""
    assert asked_subject(question) == ()
    assert share(question, "Mulch is a layer.") == (0.0,)


@pytest.mark.parametrize(
    "sentence",
    [
        "Mulch is a layer of straw.",
        "The mulch (also: cover) is a layer.",
        "In gardening, mulch means a cover.",
        "Mulch: a cover of straw.",
        "Mulch, a cover of straw, keeps water in.",
        "Mulch stands for a cover.",
    ],
)
def test_a_sentence_with_that_subject_defines_it(sentence: str) -> None:
    """A sentence says what a thing is when that thing is its subject."""
    assert share("What is mulch?", sentence) == (1.0,)


@pytest.mark.parametrize(
    "sentence",
    [
        "Mulch is not food.",
        "No mulch is needed.",
        "Mulch is needed in May.",
        "Straw is a kind of mulch.",
        "A wheelbarrow full of old mulch is heavy.",
        "Mulch",
    ],
)
def test_a_sentence_that_only_has_the_word_does_not(sentence: str) -> None:
    """A denial, an event, another subject or the bare word defines nothing."""
    assert share("What is mulch?", sentence) == (0.0,)


def test_what_is_no_noun_counts_for_less() -> None:
    """A quality or an event ("is sown") is less of a definition than a noun, and more than nothing."""
    assert share("What is kale?", "Kale is hardy.", "Kale is sown in May.") == (UNSURE, UNSURE)


def test_a_headword_makes_the_next_sentence_the_definition() -> None:
    """In a glossary the sentence after the headword defines it, not the headword and not the entry after."""
    assert share("What is mulch?", "Mulch.", "A cover of straw.", "It keeps water in.") == (0.0, 1.0, 0.0)
    assert share("What is mulch?", "We love mulch.", "It keeps water in.") == (0.0, 0.0)


def test_a_subject_that_says_more_counts_for_less() -> None:
    """The share falls with every word that only one of the two subjects has."""
    less, least = share(
        "What is straw mulch?", "Old straw mulch is a cover.", "Grandmother's old straw mulch is a cover."
    )
    assert 0.0 <= least < less < 1.0


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=4))
def test_a_share_is_a_share(question: str, sentences: list[str]) -> None:
    """Any strings give one share in [0, 1] per sentence."""
    found = defined(question, alike).shares(sentences)
    assert len(found) == len(sentences)
    assert all(0.0 <= one <= 1.0 for one in found)

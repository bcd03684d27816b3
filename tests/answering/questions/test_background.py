"""The question in a text, told from what is said around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.questions.compound import without_background


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("I was asked about this yesterday. How long is the warranty?", "How long is the warranty?"),
        ("Hi team, hope you are well. How long is the warranty? Thanks!", "How long is the warranty?"),
        ("Hello! How are you?\n\nHow long is the warranty?\n\nBest regards,\nAda", "How long is the warranty?"),
        ("Good morning. how do I claim the warranty", "how do I claim the warranty"),
        ("I bought the green kettle. How often must it be cleaned?", "How often must the green kettle be cleaned?"),
        ("Hi. What are clades? And who named the first one", "What are clades? And who named the first one"),
    ],
)
def test_the_question_alone_is_found(text: str, asked: str) -> None:
    """Greetings, thanks and background are left out; a question that lost its subject to them gets it back."""
    assert without_background(text) == asked


@pytest.mark.parametrize(
    "text",
    [
        "How long is the warranty?",
        "How long is the warranty? And what are its limits?",
        "warranty of the kettle",
        "The kettle is broken. The lamp is, too.",
        "It broke. What does it mean?",
        "Tell me about the kettle. List its parts.",
    ],
)
def test_a_text_without_background_stays_as_it_is(text: str) -> None:
    """A text that only asks, asks nothing, or whose question cannot stand alone is left whole."""
    assert without_background(text) == text


@given(st.text(alphabet=st.sampled_from("what is it rose? .\nThe"), max_size=80))
def test_any_text_has_a_question(text: str) -> None:
    """Whatever the text, something is left of it."""
    assert without_background(text).strip() or not text.strip()

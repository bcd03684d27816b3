"""Whether there is what a question asks for."""

import pytest

from answering.relevance.possible_answers import possible_answers
from answering.text.sentences import sentence_spans
from answering.types import Chunk


def chunk_of(text: str, name: str = "c") -> Chunk:
    return Chunk(name, "d", "", text, spans=sentence_spans(text))


@pytest.mark.parametrize(
    ("question", "text", "can"),
    [
        ("Is there a shower on the campsite?", "The campsite is open from May.", False),
        ("Is there a shower on the campsite?", "Two showers stand behind the campsite's kiosk.", True),
        ("Do you have bicycles for hire?", "Tents are for hire at the desk.", False),
        ("Are there lockers at the pool?", "Are there lockers? Yes, in the hall.", True),
        ("Is there a ramp?", "Is there a ramp? The lift is out of order.", False),
    ],
)
def test_what_is_asked_to_exist_is_named(question: str, text: str, can: bool) -> None:
    """By the sentence, or by the question that it says yes or no to."""
    assert possible_answers(question, chunk_of(text))[-1] == can

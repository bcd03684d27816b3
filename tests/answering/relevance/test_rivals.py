"""What a question names stands where a sentence names something else, for the reader of statements to judge."""

import pytest

from answering.relevance.rivals import MAX_CONTENT, names_unknown, with_thing_asked_for
from answering.text.sentences import sentence_spans
from answering.types import Chunk


def statements(question: str, text: str, section: str | None = None) -> list[str]:
    """What is made of the last sentence of *text*."""
    spans = sentence_spans(text)
    return with_thing_asked_for(question, Chunk("c", "d", "", text, section=section, spans=spans), len(spans) - 1)


@pytest.mark.parametrize(
    ("question", "text", "statement"),
    [
        (
            "How much does the cat vaccination cost?",
            "The dog vaccination costs 46 pounds.",
            "The cat vaccination costs 46 pounds.",
        ),
        (
            "How many books can lecturers borrow?",
            "Students may borrow up to 12 books.",
            "lecturers may borrow up to 12 books.",
        ),
        (
            "How much is the deposit for a locker?",
            "The deposit for a shelf is 12 pounds.",
            "The deposit for a locker is 12 pounds.",
        ),
        (
            "How long are the logs of staging kept?",
            "Logs of prod are kept for 60 days.",
            "Logs of staging are kept for 60 days.",
        ),
        (
            "How wide is the dish of Marrick station?",
            "Fenwick station is on a hill. Its dish is 13 metres wide.",
            "The marrick station's dish is 13 metres wide.",
        ),
        ("How much can the crane lift?", "The forklift lifts 900 kilograms.", "The crane lifts 900 kilograms."),
        ("Which rooms have lunch included?", "Breakfast included: yes.", "lunch included: yes."),
    ],
)
def test_the_thing_asked_for_stands_in_the_place_of_its_rival(question: str, text: str, statement: str) -> None:
    """Before the same word, after the same noun and preposition, or for a pronoun."""
    assert statement in statements(question, text)


@pytest.mark.parametrize(
    ("question", "text", "section"),
    [
        ("How much does the dog vaccination cost?", "The dog vaccination costs 46 pounds.", None),
        ("How much does the cat vaccination cost?", "The vaccination costs 46 pounds.", "Cats"),
        ("How much does the cat vaccination cost?", "Our nurse gives it on Tuesdays, for 46 pounds.", None),
        ("How wide is the dish of Fenwick station?", "Fenwick station is old. Its dish is 13 metres wide.", None),
        ("When should the vote for sessions stop?", "A hard stop is at eight.", None),
        ("cat vaccination cost", "The dog vaccination costs 46 pounds.", None),
    ],
)
def test_what_has_the_thing_or_no_rival_of_it_is_left(question: str, text: str, section: str | None) -> None:
    """The sentence, its headings or what it refers to have it; a noun is no verb; key words name nothing."""
    assert statements(question, text, section) == []


def test_a_long_question_names_things_in_passing() -> None:
    """Beyond the bound on its content words nothing is exchanged."""
    question = "How much does the cat vaccination cost {} on a cold Sunday morning in the northern surgery?"
    assert len(question.split()) > MAX_CONTENT
    assert statements(question.format("us"), "The dog vaccination costs 46 pounds.") == []


WARD = Chunk("c", "d", "Ward", "Corvalin is given at night. The usual dose is 5 mg, in Room Larch.", section="Doses")


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("What is the usual dose of Hepatril?", True),
        ("What is the usual dose of Corvalin?", False),
        ("What is the usual dose of Corvallin?", False),
        ("Is the usual dose given in Larch?", False),
        ("Is the usual dose given in R4?", True),
        ("Is the dose shown on TV?", False),
        ("Hepatril usual dose", False),
        ("May a patient of Doctor Weber on the northern ward have the usual dose twice a night?", False),
    ],
)
def test_a_name_that_no_passage_has_is_unknown(question: str, unknown: bool) -> None:
    """A code has no slips; an abbreviation and key words are none, nor is a name said in passing."""
    assert names_unknown(question, [WARD]) == unknown

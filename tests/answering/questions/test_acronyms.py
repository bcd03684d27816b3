"""An acronym of a question is written in full, as the passages write it."""

import pytest

from answering.questions.acronyms import in_full

TEXTS = [
    "Heat interface unit\nEvery flat has a heat interface unit behind the hall cupboard.",
    "The Recovery Time Objective of the ledger is four hours.",
    "Requests go through the point of contact (POC) of each team. Another point of call is the desk.",
    "New opening times. New opening times. Visitors pay nothing. Visitors pay nothing on Sundays.",
    "We have in use the old unit. He is unwell. An SLA applies.",
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How often is the HIU serviced?", "How often is the heat interface unit serviced?"),
        ("What is the RTO of the ledger?", "What is the recovery time objective of the ledger?"),
        ("Who is the POC of the team?", "Who is the point of contact of the team?"),
    ],
)
def test_an_acronym_is_written_in_full(question: str, expected: str) -> None:
    """A long form that is repeated, written as a name, or defined in parentheses stands for its letters."""
    assert in_full(question, TEXTS) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What does HIU stand for?",  # its meaning is asked
        "Which SLA applies?",  # stands nowhere in full
        "Is the BMS on?",  # unknown
        "is the hiu on?",  # no capitals
        "Which rooms are NOT open?",  # a word
        "Do I get the invoice as a PDF?",  # hardly ever written in full
        "How do I set up a VPN?",
        "",
    ],
)
def test_other_questions_stay(question: str) -> None:
    """What asks for a meaning, is nowhere in full, or has no capitals is left as it is."""
    assert in_full(question, TEXTS) == question


def test_an_acronym_that_the_texts_use_stays() -> None:
    """Two texts that have the acronym itself are searched by it."""
    texts = ["The heat interface unit (HIU) is warm.", "The HIU is serviced yearly."]
    assert in_full("Who services the HIU?", texts) == "Who services the HIU?"

"""A row is looked up by its first cell, where the rest of the question stands around it."""

import pytest

from answering.relevance.alternatives import compared
from answering.text.sentences import sentence_spans
from answering.types import About, Chunk

DATA = """| Item | PB 16 | PB 24 |
|---|---|---|
| Nominal output | 16 kW | 24 kW |
| Minimum output | 4.8 kW | 7.2 kW |
| Maximum operating pressure | 3 bar | 3 bar |
| Capacity of ash box | 18 litres | 24 litres |"""


def about_of(question: str) -> dict[str, About]:
    chunk = Chunk("c", "d", "Manual of the boiler PB 16 and PB 24", DATA, spans=sentence_spans(DATA))
    (found,) = compared(question, [chunk])
    return dict(zip(found.sentences, found.about, strict=True))


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("What is the nominal output of the PB 24?", "| Nominal output"),
        ("What is the maximum operating pressure of the boiler?", "| Maximum operating pressure"),
        ("ash box capacity PB 16", "| Capacity of ash box"),
        ("How much is the minimum output of the PB 16?", "| Minimum output"),
    ],
)
def test_a_row_is_looked_up(question: str, key: str) -> None:
    """The row that the question names is looked up, and another one is about something else."""
    about = about_of(question)
    assert [row for row, mark in about.items() if mark is About.LOOKED_UP and row.startswith(key)]
    assert not [row for row, mark in about.items() if mark is About.LOOKED_UP and not row.startswith((key, "| Item"))]


@pytest.mark.parametrize(
    "question",
    [
        "Where is the ash box?",
        "Who empties the ash box?",
        "What is the nominal output of the turbine?",
        "Which inspector certified the guarantee of the PB 24's nominal output in Hamburg?",
    ],
)
def test_what_else_is_asked_is_not_looked_up(question: str) -> None:
    """A place or a person, a thing that is nowhere around the row, or much else than it says."""
    assert About.LOOKED_UP not in about_of(question).values()

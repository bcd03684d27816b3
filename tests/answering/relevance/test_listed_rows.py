"""Rows that a question asks for by a value, over the chunks of one document."""

from __future__ import annotations

import pytest

from answering.relevance.listed_rows import ASKS_LIST, MAX_LISTED, listed_rows, may_list
from answering.text.sentences import sentence_spans
from answering.types import Chunk

ALLERGENS = (
    "| Product | Gluten | Milk | Egg |\n| Loaf | yes | no | no |\n| Roll | yes | yes | no |\n| Knot | yes | yes | yes |"
)
TOOLS = "| Tool | Dust mask | Gloves |\n| Sander | x | x |\n| Drill |  | x |\n| Saw | x |  |"
ROOMS = (
    "| Room | Floor | Seats |\n| Attic | third floor | 12 |\n| Hall | ground floor | 80 |\n| Bar | ground floor | 30 |"
)


def rows(question: str, title: str, text: str) -> list[str]:
    assert ASKS_LIST.search(question)
    chunk = Chunk("c", "d", title, text, chunk_index=0, spans=sentence_spans(text))
    found = listed_rows(question, [chunk])
    assert bool(found) == may_list(question, chunk)
    return [chunk.sentences[n].split(" | ")[0].strip("| ") for sentences in found for n in sentences.numbers]


@pytest.mark.parametrize(
    ("question", "title", "text", "found"),
    [
        ("Which products contain egg?", "Allergens", ALLERGENS, ["Knot"]),
        ("What products contain milk?", "Allergens", ALLERGENS, ["Roll", "Knot"]),
        ("List all tools that need a dust mask.", "Tools", TOOLS, ["Sander", "Saw"]),
        ("Which of the tools need gloves?", "Tools", TOOLS, ["Sander", "Drill"]),
        ("Which rooms are on the ground floor?", "Rooms", ROOMS, ["Hall", "Bar"]),
        ("Which tools demand a dust mask?", "Tools", TOOLS, ["Sander", "Saw"]),
        ("Which products contain no milk?", "Allergens", ALLERGENS, ["Loaf"]),
        ("Which products never contain egg?", "Allergens", ALLERGENS, ["Loaf", "Roll"]),
        ("Which products cannot contain milk?", "Allergens", ALLERGENS, ["Loaf"]),
        ("Which products are free of egg?", "Allergens", ALLERGENS, ["Loaf", "Roll"]),
        ("Which tools do not need gloves?", "Tools", TOOLS, ["Saw"]),
    ],
)
def test_all_rows_with_the_value_are_found(question: str, title: str, text: str, found: list[str]) -> None:
    """Of a column of yes and no, or of another; its name may stand in the value."""
    assert rows(question, title, text) == found


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        ("Which products contain no nuts?", "Allergens", ALLERGENS),
        ("Which products contain sesame?", "Allergens", ALLERGENS),
        ("Which products lack milk?", "Allergens", ALLERGENS),
        ("Which products hardly contain egg?", "Allergens", ALLERGENS),
        ("Which products spoil milk?", "Allergens", ALLERGENS),
        ("Which tools do not need gloves but a dust mask?", "Tools", TOOLS),
        ("Which room is for the ground crew?", "Rooms", ROOMS),
    ],
)
def test_in_doubt_no_row_is_listed(question: str, title: str, text: str) -> None:
    """A denial, a column or a word that the table does not have."""
    assert rows(question, title, text) == []


def test_more_rows_than_a_list_may_have_are_not_listed() -> None:
    """The reader of the answer would not see which matter."""
    text = "| Tool | Gloves |\n" + "\n".join(f"| Tool {n} | x |" for n in range(MAX_LISTED + 1))
    chunk = Chunk("c", "d", "Tools", text, chunk_index=0, spans=sentence_spans(text))
    assert listed_rows("Which tools need gloves?", [chunk]) == ()


def test_what_something_is_asks_for_no_rows() -> None:
    """An auxiliary verb follows at once."""
    assert not ASKS_LIST.search("What is the dust mask for?")
    assert not ASKS_LIST.search("Which are the tools of the workshop?")

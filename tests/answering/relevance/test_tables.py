"""Rows of tables as answers: which header a row is read below, and what it must not be empty of."""

from __future__ import annotations

import pytest

from answering.relevance.counted_rows import count_rows
from answering.relevance.possible_answers import are_of_kind, possible_answers
from answering.text.blocks import row_with_column_names
from answering.text.sentences import sentence_spans
from answering.types import Chunk

TENTS = "| Tent | Price per night | Price per week |\n|---|---|---|\n| Alpine | 8 EUR | 45 EUR |"
CANOES = "| Canoe | Deposit | Fee per day |\n|---|---|---|\n| Otter | 60 EUR | 12 EUR |"
TWO_TABLES = f"{TENTS}\n\n{CANOES}"
PLANTS = "| Plant | Output 2024 | Output 2025 |\n|---|---|---|\n| Harrow | 1850 | 2210 |\n| Linde | 2410 | 2660 |"
FAQ = "| Question | Answer |\n| Can I park a trailer? | |\n| Can I park a car? | Yes, behind the hall. |"
VANS = "| Depot | Van | Driver |\n|---|---|---|\n| East | V-7 | Ola Berg |\n| | V-8 | Nils Roe |"
MEMBERS = "| Member | State |\n|---|---|\n| Ada | active |\n| Bo | active |\n| Cy | left |\n| Total | active |"


def chunk_of(text: str) -> Chunk:
    return Chunk("c", "d", "", text, chunk_index=0, spans=sentence_spans(text))


def test_a_row_is_read_below_the_header_of_its_own_table() -> None:
    """A blank line parts two tables, whose rows have other columns."""
    chunk = chunk_of(TWO_TABLES)
    assert [row_with_column_names(chunk, n) for n in range(4)][1::2] == [
        "Tent: Alpine; Price per night: 8 EUR; Price per week: 45 EUR",
        "Canoe: Otter; Deposit: 60 EUR; Fee per day: 12 EUR",
    ]
    assert not possible_answers("Which canoes are there?", chunk)[2]


@pytest.mark.parametrize(
    ("question", "text", "row", "can"),
    [
        ("What is the price per night of the Alpine?", TWO_TABLES, 1, True),
        ("What is the fee per week of the Otter?", TWO_TABLES, 3, False),
        ("What was the output of Harrow in 2025?", PLANTS, 1, True),
        ("What was the output of Harrow in 2023?", PLANTS, 1, False),
        ("In which depot is the van V-7?", VANS, 1, True),
        ("In which depot is the van V-8?", VANS, 2, False),
        ("Who is the driver of the van V-8?", VANS, 2, True),
        ("Is there parking for a trailer?", FAQ, 1, False),
        ("Is there parking for a car?", FAQ, 2, True),
    ],
)
def test_a_row_answers_by_its_columns(question: str, text: str, row: int, can: bool) -> None:
    """By a period or a year in its header; a first cell that is asked for, or an answer, is not empty."""
    assert possible_answers(question, chunk_of(text))[row] == can


def test_a_row_that_sums_others_up_is_not_counted() -> None:
    """Of three rows with the value two are members."""
    (counted,) = count_rows("How many members are active?", [chunk_of(MEMBERS)])
    assert [counted.chunk.sentences[n] for n in counted.numbers] == ["| Ada | active |", "| Bo | active |"]


def test_days_in_the_names_of_columns_are_read_in_full() -> None:
    """A question names Wednesday, and may ask on which day something is; a single "Sat" may be another word."""
    rota = chunk_of("|  | Mon | Tue. | Wed 14 |\n| Early | Ann | closed | Bo |")
    assert row_with_column_names(rota, 1) == "Early; Monday: Ann; Tuesday: closed; Wednesday 14: Bo"
    assert are_of_kind("On which day is the early shift closed?", rota)[1]
    single = chunk_of("| Room | Sat |\n| Hall | twelve |")
    assert row_with_column_names(single, 1) == "Room: Hall; Sat: twelve"

"""Questions that count the rows of a table, over the chunks of one document."""

from __future__ import annotations

import pytest

from answering.relevance.counted_rows import count_rows, may_count
from answering.text.sentences import sentence_spans
from answering.types import Chunk

LOANS = [
    "| Loan | Item | Borrower | State | Insured |\n| 1 | cello | Ada | late | yes |\n| 2 | oboe | Bo | returned | no |",
    "| Loan | Item | Borrower | State | Insured |\n| 3 | viola | Ada | late | no |\n| 4 | oboe | Cy | lent | yes |",
]
CREW = "| Person | City | Joined |\n| Ann | Oslo | May |\n| Bob | Oslo | June |\n| Cid | Bergen | June |"
LAMPS = "| Lamp | Colour | State |\n| 1 | red | on |\n| 2 | red | off |\n| 3 | blue | on |"
STOCK = "| Warehouse | City | Trucks |\n| Elbe | Hamburg | 12 |\n| Isar | Munich | 7 |\n| Alster | Hamburg | 3 |"
REVIEWS = "| Article | Author | Reviewer |\n| Moss | Maria | Jon |\n| Fern | Ines | Maria |\n| Kelp | Maria | Ines |"
VAGUE = "| Claim | State |\n| 1 | open |\n| 2 | open until the rest has been paid |\n| 3 | closed |"


def chunks_of(title: str, *texts: str, page: int | None = None) -> list[Chunk]:
    return [
        Chunk(str(n), "d", title, text, chunk_index=n, page=page and page + n, spans=sentence_spans(text))
        for n, text in enumerate(texts)
    ]


def rows(question: str, chunks: list[Chunk]) -> list[str]:
    return [found.chunk.sentences[n] for found in count_rows(question, chunks) for n in found.numbers]


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("How many loans are late?", 2),
        ("How many of the loans are late?", 2),
        ("How many loans are late or lent?", 3),
        ("How many late loans has Ada?", 2),
        ("How many loans are insured?", 2),
        ("What is the number of insured loans that are late?", 1),
        ("How many items are late?", 2),
    ],
)
def test_rows_with_the_values_of_the_question_are_counted_over_all_chunks(question: str, count: int) -> None:
    """Values of one column count together, those of two must both be there; "yes" below the column that is named."""
    assert len(rows(question, chunks_of("Loans", *LOANS))) == count


@pytest.mark.parametrize(
    ("question", "title", "texts"),
    [
        ("How many loans are overdue?", "Loans", LOANS),
        ("How many loans are not late?", "Loans", LOANS),
        ("How many late loans are older than a week?", "Loans", LOANS),
        ("How many loans will be returned?", "Loans", LOANS),
        ("How many violins are late?", "Loans", LOANS),
        ("How many items has Ada, late ones apart?", "Loans", LOANS),
        ("How many trucks are in Hamburg?", "Warehouses and trucks", [STOCK]),
        ("How many drivers are in Hamburg?", "Warehouses", [STOCK]),
        ("How many people from Oslo joined in May?", "People", [CREW]),
        ("How many red lamps are on?", "Lamps", [LAMPS]),
        ("How many articles are by Maria?", "Articles", [REVIEWS]),
        ("How many claims are open?", "Claims", [VAGUE]),
    ],
)
def test_in_doubt_nothing_is_counted(question: str, title: str, texts: list[str]) -> None:
    """Not by half of a question's words, nor where a cell may be meant or not, nor what the rows are not."""
    assert rows(question, chunks_of(title, *texts)) == []


def test_a_table_that_may_not_be_whole_is_not_counted() -> None:
    """A missing chunk, a part without its header, or the same columns on a next page: there may be more rows."""
    _, second = chunks_of("Loans", *LOANS)
    assert may_count("How many loans are late?", second)
    assert rows("How many loans are late?", [second]) == []
    bare = chunks_of("Loans", LOANS[0], "| 3 | viola | Ada | late | no |\n| 4 | oboe | Cy | lent | yes |")
    assert rows("How many loans are late?", bare) == []
    pages = chunks_of("Loans", LOANS[0], "| 3 | viola | Ada | late | no |\n| 4 | oboe | Cy | lent | yes |", page=1)
    assert rows("How many loans are late?", pages) == []

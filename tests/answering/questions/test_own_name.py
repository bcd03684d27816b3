"""The name of those whose documents are asked is left out of what is read in a passage without it."""

import pytest

from answering.questions.own_name import NAMED, without_own_name
from answering.types import Chunk


def chunk(number: int, text: str) -> Chunk:
    return Chunk(f"{number}#0", str(number), f"Page {number}", text)


NOTICE = chunk(0, "Your notice period is one month.")
CHUNKS = [NOTICE, *(chunk(n, f"Larkfield and the Hive {n} are remote.") for n in range(1, 4))]


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("What is the notice period at Larkfield?", "What is the notice period?"),
        ("What is the notice period if I resign from Larkfield?", "What is the notice period if I resign?"),
        ("At Larkfield, how long is the notice period?", "How long is the notice period?"),
        ("How long is it in Larkfield if I resign?", "How long is it if I resign?"),
    ],
)
def test_the_common_name_is_left_out(question: str, read: str) -> None:
    """Of a passage that lacks it, where half of the documents that are near have it, and three at least."""
    assert NAMED.search(question)
    assert without_own_name(question, NOTICE, CHUNKS) == read


@pytest.mark.parametrize(
    ("question", "chunks"),
    [
        ("What is the notice period at Larkfield?", CHUNKS[:3]),  # two documents have it
        ("What is the notice period at Kestrel?", CHUNKS),  # none has it
        ("What is the notice period in March?", [NOTICE, *(chunk(n, "In March it rains.") for n in range(1, 4))]),
        ("How do I import contacts from Larkfield?", [chunk(0, "Import contacts in Thunderbird."), *CHUNKS[1:]]),
        ("Does Larkfield pay a pension?", CHUNKS),  # no preposition before it
        ("What is the notice period of Larkfield interns?", CHUNKS),  # a name before a noun
    ],
)
def test_other_names_stay(question: str, chunks: list[Chunk]) -> None:
    """A name of few documents or of none, a word of every day, a subject, and a name of something else."""
    assert without_own_name(question, chunks[0], chunks) == question


def test_a_passage_with_the_name_is_asked_by_it() -> None:
    """There the name may tell it from others."""
    question = "Who is remote at Larkfield?"
    assert without_own_name(question, CHUNKS[1], CHUNKS) == question

"""Questions that name one of several alike, over records in five layouts."""

import pytest

from answering.relevance.entities import of_others
from answering.relevance.possible_answers import possible_answers
from answering.text.sentences import sentence_spans
from answering.types import Chunk

LAYOUTS = {
    "headings": "## Article 4713\n\nPrice: 21. Tool: a drill.\n\n## Article 4714\n\nPrice: 9. Tool: a level.",
    "a list": "- Article 4713 costs 21 euros and needs a drill.\n- Article 4714 costs 9 euros and needs a level.",
    "a table": "| Article | Price | Tool |\n|---|---|---|\n| 4713 | 21 | a drill |\n| 4714 | 9 | a level |",
    "another column": "| No. | Price | Tool |\n|---|---|---|\n| 4713 | 21 | a drill |\n| 4714 | 9 | a level |",
    "a linking word": "Article number 4713 costs 21 euros and needs a drill. Article No. 4714 needs a level.",
    "prose": "Article 4713 is red. It is mounted with a drill. Article 4714 is blue. It is mounted with a level.",
}


def chunk_of(text: str, section: str | None = None) -> Chunk:
    return Chunk("c", "d", "Records", text, section=section, spans=sentence_spans(text))


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_sentences_of_another_record_are_told(text: str) -> None:
    """Whatever the layout, what stands in the record of another article is of another, and the right one is not."""
    chunk = chunk_of(text)
    others = of_others("Which tool is needed to mount article 4714?", chunk)
    for sentence, other in zip(chunk.sentences, others, strict=True):
        assert other or "drill" not in sentence
        assert not other or "level" not in sentence


@pytest.mark.parametrize(
    ("question", "section", "text", "other"),
    [
        ("When does the north depot open?", None, "The south depot opens at 9.", True),
        ("When does the south depot open?", None, "The south depot opens at 9.", False),
        ("When does the depot open?", None, "The south depot opens at 9.", False),
        ("In which safe is the alarm code of room 103?", "Room 104", "The alarm code is in the safe Alder.", True),
        ("In which safe is the alarm code of room 103?", "Room 103", "The alarm code is in the safe Cedar.", False),
        ("What is the code of locker 13?", None, "Lockers 10 to 20 open with the code 2956.", False),
        ("What do I pay after 10 days?", None, "After 7 days half of the fee is due.", False),
    ],
)
def test_only_what_is_named_otherwise_is_of_another(question: str, section: str | None, text: str, other: bool) -> None:
    """A direction, a heading and a label tell one from others alike; ranges and amounts exclude nothing."""
    assert of_others(question, chunk_of(text, section)) == (other,)


@pytest.mark.parametrize(
    ("question", "can"),
    [
        ("How many orders are open?", [False, False, False, False]),
        ("How many items has order 18?", [False, False, True, False]),
        ("Which orders are open?", [False, True, True, True]),
    ],
)
def test_rows_that_would_have_to_be_counted_answer_nothing(question: str, can: list[bool]) -> None:
    """Some of the rows are no number; the row that alone is asked for answers, and all where they are listed."""
    chunk = chunk_of(
        "| Order | State | Items |\n|---|---|---|\n| 17 | open | 3 |\n| 18 | open | 5 |\n| 19 | sent | 2 |"
    )
    assert list(possible_answers(question, chunk)) == can

"""Questions over small files, joined with their passages, and asked over their files alone."""

from __future__ import annotations

import asyncio
from typing import Any

from training.small_files import (
    HELD,
    asked,
    folders,
    how_it_ended,
    is_line,
    joined,
    labelled_rows,
    labelled_sentences,
    stated,
)

KILNS = """# Kilns

| Kiln | Volume (l) | Price |
|---|---|---|
| Large | 180 | £38 |
| Small | | £12 |

The large kiln is loaded by Oonagh.
"""
FOLDER: dict[str, Any] = {
    "maker": "own",
    "folder": "f01",
    "files": {"kilns.md": KILNS, "hours.txt": "The pottery is in Mill Lane. It opens at ten.\n"},
    "questions": [
        {
            "question": "Price of the small kiln?",
            "answerable": True,
            "gold": "| Small | | £12 |",
            "answers": ["£12"],
            "said": ["It costs 12 pounds.", "It costs 38 pounds."],
        },
        {"question": "volume small kiln", "answerable": False, "near": "| Large | 180 | £38 |", "why": "empty"},
        {
            "question": "When does the pottery open?",
            "answerable": True,
            "gold": "It opens at ten.",
            "answers": ["ten"],
        },
    ],
}


def test_a_passage_has_what_it_answers_and_what_it_nearly_answers() -> None:
    """Rows stand with the names of their columns, as the reader reads them; the other passages are neighbours."""
    (kilns,) = [row for row in joined(FOLDER) if row["title"] == "Kilns"]
    ((question, gold, near),) = kilns["questions"]
    assert (question, near) == ("Price of the small kiln?", [0])
    assert kilns["sentences"][gold[0]] == "Kiln: Small; Volume (l): –; Price: £12"
    assert kilns["near_misses"] == ["volume small kiln"]
    assert kilns["neighbours"][0].sentences[-1] == "It opens at ten."


def test_a_sentence_of_an_answer_stands_with_its_line() -> None:
    """The true and the false one are about the same line, after their question, and looked for in all files."""
    (row,) = stated(FOLDER)
    question = FOLDER["questions"][0]["question"]
    (true,), (false,) = row["true"], row["false"]
    assert (true, false[0]) == (["It costs 12 pounds.", [2], question], "It costs 38 pounds.")
    assert row["sentences"][2] == "| Small |  | £12 |"
    assert [(said.true, len(said.chunks)) for said in labelled_sentences(FOLDER)] == [(True, 2), (False, 2)]


def test_a_line_is_found_whatever_its_markup() -> None:
    """An item and a row are the line as the writer copied it; a line that only shares words is another."""
    assert is_line("Wear *goggles* at the saw.", "- Wear goggles at the saw.")
    assert is_line("| Small | | £12 |", "|Small||£12|")
    assert not is_line("| Large | 180 | £38 |", "| Small | | £12 |")


def test_questions_are_asked_over_their_folder_alone() -> None:
    """Each ends as right, wrong or declined by what its writer says."""
    ends = asyncio.run(asked(FOLDER))
    assert ends[0] == ends[2] == "right"
    assert ends[1] in ("rightly declined", "wrongly answered")
    right = FOLDER["questions"][0]
    assert (how_it_ended(right, "It is £38."), how_it_ended(right, None)) == ("wrong", "declined")


def test_every_right_answer_stands_in_its_files() -> None:
    """Of every packed question that has an answer the line is in a file and holds it; the held makers are there."""
    everything = folders()
    assert {folder["maker"] for folder in everything} > HELD
    for folder in everything:
        for row, question in zip(labelled_rows(folder), folder["questions"], strict=True):
            assert bool(row["gold"]) == row["answerable"], question
            line = " ".join(question.get("gold", "").split()).lower()
            assert not row["answerable"] or any(form.lower() in line for form in question["answers"]), question

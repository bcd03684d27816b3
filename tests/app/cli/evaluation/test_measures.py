"""The measures of ``garden eval``, on cases worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from answering.types import Chunk, Citation
from app.cli.evaluation.measures import (
    EvalQuestion,
    EvalResult,
    calibration_error,
    folded,
    measure,
    read_questions,
    reliability,
    right_outcome,
)
from app.cli.evaluation.run import draw_report, summarise
from graph.errors import InvalidInput
from graph.state import Result


def chunk(name: str, relevance: float) -> Chunk:
    return Chunk(name, name.partition("#")[0], "T", f"Text of {name}.", relevance=relevance)


def cited(name: str) -> Citation:
    text = f"Text of {name}."
    return Citation(1, name.partition("#")[0], name, text, text, 0, len(text), 1.0, "T", name.partition("#")[0])


def question(answerable: bool = True) -> EvalQuestion:
    return EvalQuestion(
        id="q",
        question="?",
        answerable=answerable,
        gold_chunks=("a#1",) if answerable else (),
        answers=(("Text of a",),),
    )


def answered(*names: str, by: str = "a#1") -> EvalResult:
    chunks = [chunk(name, 0.9 - i / 10) for i, name in enumerate(names)]
    result = Result(
        "answered", "r", 1, answer=f"Text of {by} [1].", citations=[cited(by)], chunks=chunks, confidence=0.9
    )
    return EvalResult(question(), result)


def declined(answerable: bool) -> EvalResult:
    return EvalResult(question(answerable), Result("no_relevant_chunks", "r", 1, chunks=[chunk("b#1", 0.2)]))


def test_rank_measures_follow_the_first_gold_chunk() -> None:
    """hit@k and MRR are those of the gold chunk's rank: second of three is 0, 1 and .5."""
    found = measure([answered("b#1", "a#1", "c#1")], 0.8)
    assert (found["hit@1"], found["hit@5"], found["mrr@10"]) == (0.0, 1.0, 0.5)


def test_right_outcome_wants_a_right_source_or_a_decline() -> None:
    """Right is: answered from the gold chunk alone, or declined where there is no answer."""
    assert right_outcome(answered("a#1"))
    assert not right_outcome(answered("a#1", by="b#1"))
    assert right_outcome(declined(answerable=False))
    assert not right_outcome(declined(answerable=True))


def test_abstention_and_false_abstention_are_distinguished() -> None:
    """Declining what cannot be answered, and declining what can, are two rates."""
    found = measure([declined(False), declined(True), answered("a#1"), answered("a#1")], 0.8)
    assert found["abstention"] == 1.0
    assert found["false abstention"] == pytest.approx(1 / 3, abs=1e-4)


def test_reliability_sets_what_is_stated_against_what_is_right() -> None:
    """Bins are of equal count, least confident first; the error weighs the distance of each by its count."""
    sure, unsure = [(0.9, n < 15) for n in range(20)], [(0.6, n < 10) for n in range(20)]
    rows, error = reliability([*sure, *unsure])
    assert [(row.least, row.right, row.size) for row in rows] == [(0.6, 0.5, 20), (0.9, 0.75, 20)]
    assert [row.stated for row in rows] == pytest.approx([0.6, 0.9])
    assert error == pytest.approx((0.1 + 0.15) / 2)
    assert reliability([]) == ([], None)


def test_reliability_has_ten_bins_at_most_and_no_small_one() -> None:
    """A share of a few answers says little: of 39 there is one bin, of 1,000 there are ten."""
    assert [row.size for row in reliability([(0.7, True)] * 39)[0]] == [39]
    assert [row.size for row in reliability([(0.7, True)] * 1_000)[0]] == [100] * 10


def test_precision_of_what_passes_counts_only_passing_chunks() -> None:
    """Of chunks at or above the threshold, the share that is gold; what falls below does not count."""
    assert measure([answered("a#1", "b#1", "c#1")], 0.75)["precision of what passes"] == 0.5


def test_quotes_are_checked_against_the_chunk() -> None:
    """A quote that is not at its offsets lowers the rate."""
    assert measure([answered("a#1")], 0.8)["quotes verbatim"] == 1.0
    assert measure([answered("b#1")], 0.8)["quotes verbatim"] == 0.0  # cites a#1, whose text was not retrieved


def test_calibration_error_is_the_gap_of_stated_and_found() -> None:
    """Ten answers at .75 of which 5 hold are .25 off; perfectly calibrated ones are 0 off; none is None."""
    assert calibration_error([(0.75, i < 5) for i in range(10)]) == 0.25
    assert calibration_error([(0.5, i < 5) for i in range(10)]) == 0.0
    assert calibration_error([(1.0, True)]) == 0.0
    assert calibration_error([]) is None


def test_answers_are_compared_without_case_markers_or_punctuation() -> None:
    """``Forty-two [1].`` and ``forty two`` are the same answer."""
    assert folded("Forty-two [1].") == folded("forty two") == "forty two"


def test_questions_of_both_shapes_are_read(tmp_path: Path) -> None:
    """JSON Lines with gold chunks, and a JSON list with expected sources, become the same objects."""
    lines = tmp_path / "q.jsonl"
    lines.write_text('{"question": "A?", "answerable": true, "gold_chunk": "a#1", "answers": ["x", "y"]}\n\n')
    listed = tmp_path / "q.json"
    listed.write_text(
        '[{"question": "B?", "expected_sources": ["b.pdf"]}, {"question": "C?", "expected_answer": null}]'
    )
    (one,) = read_questions(lines)
    assert (one.gold_chunks, one.answers) == (("a#1",), (("x", "y"),))
    assert [q.answerable for q in read_questions(listed)] == [True, False]
    lines.write_text("{nonsense\n")
    with pytest.raises(InvalidInput, match="line 1"):
        read_questions(lines)


def test_picture_shows_the_rates() -> None:
    """The picture is a well-formed SVG that names the measures it shows."""
    from xml.etree import ElementTree as ET

    text = draw_report(summarise([answered("a#1"), declined(False)], 0.8), "a <test>")
    assert ET.fromstring(text).tag.endswith("svg")
    assert "right&#160;outcome" in text

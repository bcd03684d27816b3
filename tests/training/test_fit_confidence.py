"""``training.fit_confidence``: the slopes that it finds, what it calls right, and what is held out."""

import asyncio
import random
import subprocess
from pathlib import Path

import pytest

from answering.relevance.graders import Slopes
from answering.types import Chunk, Citation
from graph.state import Result
from training.fit_confidence import Judged, fit_slopes, held_out, is_right, judge_written
from training.passages import chunks_of, fingerprint

TEXT = "The pump is oiled every second Monday. Gloves are worn."


def answered(answer: str) -> Result:
    chunk = Chunk("a#1", "a", "A", TEXT)
    cited = Citation(1, "a", "a#1", answer, answer, 0, len(answer), 1.0, "A", "a")
    return Result("answered", "r", 1, answer=answer, citations=[cited], chunks=[chunk], confidence=0.9)


def test_the_slopes_that_made_the_answers_are_found() -> None:
    """Of 8,000 answers drawn with slopes of .5 and 1.5 the fit finds both, within .1."""
    draw, true = random.Random(1), Slopes(0.5, 1.5)
    stated = [draw.uniform(0.02, 0.98) for _ in range(8_000)]
    found = fit_slopes([Judged("a", p, draw.random() < true.calibrated(p)) for p in stated])
    assert found == pytest.approx(true, abs=0.1)


def test_documents_are_measured_with_slopes_fitted_to_others() -> None:
    """Answers that are all right count for the confidence of other documents' answers, and not for their own."""
    sure = [Judged("sure", 0.9, True) for _ in range(50)]
    unsure = [Judged("unsure", 0.9, right) for right in (True, False) for _ in range(25)]
    stated = held_out([*sure, *unsure])
    assert stated[0] == pytest.approx(0.5, abs=0.01)  # as of the others, of which half are right
    assert stated[-1] > 0.9


def test_what_is_right_is_an_accepted_answer_or_the_passage_of_one() -> None:
    """Accepted words in the answer, most of a gold sentence, or its passage cited; nothing where nothing answers."""
    pump = {"gold": [{"file": "a", "sentence": "The pump is oiled every second Monday."}], "answerable": True}
    assert is_right(pump, answered("Every second Monday the pump is oiled."))
    assert is_right(pump, answered("Gloves are worn."))  # the next sentence of the same passage
    assert not is_right({"gold": [{"file": "b", "sentence": "Valves are closed."}], "answerable": True}, answered(TEXT))
    assert is_right({"answers": ["second monday"], "answerable": True}, answered("Every second Monday [1]."))
    assert not is_right({"answers": ["Tuesday"], "answerable": True}, answered(TEXT))
    assert not is_right({"gold": [], "answerable": False}, answered(TEXT))


def test_a_models_answer_is_measured_as_the_service_does(tmp_path: Path) -> None:
    """What is verified over its passages is judged; an answer that nothing supports is left out."""
    clone = tmp_path / "club+manual"
    clone.mkdir()
    (clone / "pump.md").write_text(f"# Pump\n\n{TEXT}\n", encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The manual"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, check=True, text=True).stdout.strip()
    (chunk,) = chunks_of((clone / "pump.md").read_bytes(), "pump.md")
    kept = ["When is the pump oiled?", [["The pump is oiled every second Monday.", True]]]
    beside = ["What colour is the pump?", [["The pump is oiled every second Monday.", True]]]
    lost = ["Who may oil the pump?", [["Only licensed electricians from Berlin may oil it.", False]]]
    row = {
        "repository": "club/manual", "commit": commit, "held": False, "answers": [kept, beside, lost],
        "passages": [["pump.md", [fingerprint(sentence) for sentence in chunk.sentences]]], "beside": [beside[0]],
    }  # fmt: skip
    first, second = asyncio.run(judge_written([row], tmp_path))
    assert (first.name, first.right, second.right) == ("club/manual", True, False)
    assert first.measured > second.measured

"""The study: cross-validated relevance, judged by what the whole service answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.evaluation.study import main
from tests.evaluation.test_fit import QUESTIONS, ROWS


@pytest.mark.long
def test_the_study_asks_every_question_of_a_service_that_was_not_fitted_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every question is asked once, in the form that is wanted, of a garden with every chunk twice."""
    corpus, questions = tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    questions.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS), encoding="utf-8")
    assert main(["--set", str(corpus), str(questions), "--twice", "--keywords"]) == 0
    shown = capsys.readouterr().out
    assert f"│ questions                     │ {len(QUESTIONS)}" in shown
    assert "│ hit@1                         │ 1 " in shown

"""The whole walk over the sample garden: every question of ``knowledge/questions.jsonl``, on the real parts."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from app.bootstrap.compose import build_container
from app.cli.evaluation.measures import EvalQuestion, EvalResult, measure, read_questions
from app.cli.evaluation.run import ask_all, summarise
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.support.paths import KNOWLEDGE

FIRST_MINUTE = {
    "How do I change the port?": ("quick-start.md", "make run PORT=9000"),
    "Which file formats are supported?": ("ingest-formats.md", "HTML, PDF and JSON Lines, and also Word, PowerPoint"),
    "What happens if Ollama is down?": ("providers.md", "503 and the code SYNTHESIS_FAILED"),
}
"""What people ask before anything else: the document to cite, and what the answer must say."""


@pytest.fixture(scope="module")
def everything(
    sample_data: Path, embedding: EmbeddingModel, tmp_path_factory: pytest.TempPathFactory
) -> list[EvalResult]:
    """The answer to each of the sample questions, of those of the first minute and of the start page."""
    folder = tmp_path_factory.mktemp("walk") / "data"
    shutil.copytree(sample_data, folder)
    shown = [*FIRST_MINUTE, *json.loads((KNOWLEDGE / "examples.json").read_text(encoding="utf-8"))]
    others = [EvalQuestion(id=text, question=text, answerable=True) for text in shown]

    async def ask() -> list[EvalResult]:
        container = build_container(load_settings(data_dir=folder), embedding=embedding)
        try:
            return await ask_all(
                container.service, [*read_questions(KNOWLEDGE / "questions.jsonl"), *others], lambda _: None
            )
        finally:
            await container.aclose()

    return asyncio.run(ask())


@pytest.fixture(scope="module")
def asked(everything: list[EvalResult]) -> list[EvalResult]:
    """Those of ``knowledge/questions.jsonl``."""
    return [result for result in everything if result.question.id != result.question.question]


def test_questions_shown_to_people_are_answered(everything: list[EvalResult]) -> None:
    """The sample documents answer every example of the start page, and rightly what is asked in the first minute."""
    shown = {
        result.question.id: result.result for result in everything if result.question.id == result.question.question
    }
    assert len(shown) > len(FIRST_MINUTE)
    assert [text for text, result in shown.items() if not result.answered] == []
    for text, (source, said) in FIRST_MINUTE.items():
        assert {citation.source for citation in shown[text].citations} == {source}
        assert said in (shown[text].answer or "")


def test_the_file_asks_enough(asked: list[EvalResult]) -> None:
    """There are at least forty sample questions, a quarter of which the documents cannot answer."""
    declined = [result for result in asked if not result.question.answerable]
    assert len(asked) >= 40
    assert len(declined) * 4 >= len(asked)


def test_no_question_fails(asked: list[EvalResult]) -> None:
    """Every sample question ends in an answer or a decline, never in a failure."""
    assert {result.result.outcome for result in asked} <= {
        "answered", "no_relevant_chunks", "low_confidence", "no_citations",
    }  # fmt: skip


def test_answers_come_from_expected_sources(asked: list[EvalResult]) -> None:
    """An answer to an answerable question cites a document the file expects; at most WRONG_SOURCE do not."""
    wrong = [
        result.question.id
        for result in asked
        if result.question.answerable
        and result.result.answered
        and not {c.source for c in result.result.citations} & set(result.question.expected_sources)
    ]
    assert len(wrong) <= WRONG_SOURCE, wrong


def test_unanswerable_questions_are_declined(asked: list[EvalResult]) -> None:
    """What the documents do not say is declined: off-topic questions all, near-topic ones but WRONGLY_ANSWERED."""
    answered = [result.question.id for result in asked if not result.question.answerable and result.result.answered]
    assert not [name for name in answered if name.startswith("off-")]
    assert len(answered) <= WRONGLY_ANSWERED, answered


def test_floor_of_the_sample_measures(asked: list[EvalResult]) -> None:
    """The measures ``make eval`` prints over the sample questions do not fall below what was reached."""
    found = measure(asked, 0.8)
    low = {name: found[name] for name, least in FLOOR.items() if (found[name] or 0) < least}
    assert not low
    assert found["quotes verbatim"] == 1.0


def test_summary_names_what_went_wrong(asked: list[EvalResult]) -> None:
    """The summary lists exactly the questions whose outcome was not right, and times every stage."""
    summary = summarise(asked, 0.8)
    right = summary["measures"]["right outcome"]
    assert len(summary["wrong"]) == round((1 - right) * len(asked))
    assert {"validate", "retrieve", "grade"} <= set(summary["stage_ms_p50"])


WRONG_SOURCE = 0
WRONGLY_ANSWERED = 3
FLOOR = {
    "hit@5": 0.95,
    "mrr@10": 0.9,
    "abstention": 0.88,
    "cited source right": 0.96,
    "right outcome": 0.875,
}
"""A little below what ``make eval`` printed when these were set; raise them with it."""

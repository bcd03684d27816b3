"""One question gives the same answer, citations and outcome through every door (contract, "One graph")."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.settings import load_settings
from rag_service import RAGService

from .conftest import KNOWLEDGE
from .test_query_stream import events

Told = tuple[str, str, list[tuple[str, str]]]
"""Outcome, answer without markers, and the chunk and quote of every citation."""


def sample_questions() -> list[str]:
    """Thirty of the sample questions, every third one unanswerable."""
    rows = [json.loads(line) for line in (KNOWLEDGE / "questions.jsonl").read_text().splitlines()]
    can = [row["question"] for row in rows if row["answerable"]]
    cannot = [row["question"] for row in rows if not row["answerable"]]
    return can[:20] + cannot[:10]


def plain(answer: str | None) -> str:
    """The answer without its markers, in either writing."""
    return re.sub(r"\s*\[(?:\d+|[^\[\]]+\.(?:md|html|pdf|rst|txt)[^\[\]]*)\]", "", answer or "")


def of_body(body: dict[str, Any]) -> Told:
    cited = [(row["chunkId"], row["quote"]) for row in body["evidence"]]
    return body["metadata"]["outcome"], plain(body["answer"]) if cited else "", cited


@pytest.fixture(scope="module")
def library(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RAGService]:
    """The library over a copy of the garden that the server holds."""
    folder = tmp_path_factory.mktemp("same") / "data"
    shutil.copytree(planted, folder)
    with RAGService(settings=load_settings(data_dir=folder, max_retrieval_results=10)) as made:
        yield made


def test_thirty_questions_through_every_door(http: httpx.Client, library: RAGService) -> None:
    """/query, /query/stream, /rag/invoke, /rag/batch, /rag/stream and RAGService tell the same of thirty questions."""
    questions = sample_questions()
    assert len(questions) == 30
    asked = [{"query": question, "includeEvidence": True} for question in questions]
    batch = http.post("/rag/batch", json={"inputs": asked}).json()["output"]
    outcomes = set()
    for fields, batched in zip(asked, batch, strict=True):
        expected = of_body(http.post("/query", json=fields).json())
        outcomes.add(expected[0])
        assert of_body(events(http.post("/query/stream", json=fields))[-1][1]) == expected
        assert of_body(http.post("/rag/invoke", json={"input": fields}).json()["output"]) == expected
        assert of_body(batched) == expected
        last = [
            line for line in http.post("/rag/stream", json={"input": fields}).text.splitlines() if '"answer"' in line
        ]
        assert of_body(json.loads(last[-1].removeprefix("data: "))) == expected
        answer = library.query(str(fields["query"]))
        cited = [(citation.chunk_id, citation.quote) for citation in answer.citations]
        assert (plain(answer.answer), cited) == expected[1:]
        assert (answer.answer is None) == (expected[0] != "answered")
    assert "answered" in outcomes
    assert len(outcomes) > 1

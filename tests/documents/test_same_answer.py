"""One question gives the same answer, citations and outcome through every interface (contract, "One graph")."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from typer.testing import CliRunner

from app.api.studio import make_graph, open_container
from app.cli.main import app as command
from app.settings import load_settings
from rag_service import RAGService
from tests.app.api.test_query_stream import events
from tests.support.paths import KNOWLEDGE

Comparable = tuple[str, str, list[tuple[str, str]]]
"""Outcome, answer without markers, and the chunk and quote of every citation."""


def sample_questions() -> list[str]:
    """Thirty of the sample questions, every third one unanswerable."""
    rows = [json.loads(line) for line in (KNOWLEDGE / "questions.jsonl").read_text().splitlines()]
    can = [row["question"] for row in rows if row["answerable"]]
    cannot = [row["question"] for row in rows if not row["answerable"]]
    return can[:20] + cannot[:10]


def without_markers(answer: str | None) -> str:
    """The answer without its markers, in either writing."""
    return re.sub(r"\s*\[(?:\d+|[^\[\]]+\.(?:md|html|pdf|rst|txt)[^\[\]]*)\]", "", answer or "")


def of_body(body: dict[str, Any]) -> Comparable:
    cited = [(row["chunkId"], row["quote"]) for row in body["evidence"]]
    return body["metadata"]["outcome"], without_markers(body["answer"]) if cited else "", cited


@pytest.fixture(scope="module")
def library(sample_data: Path) -> Iterator[RAGService]:
    """The library over the collection that the server serves."""
    with RAGService(settings=load_settings(data_dir=sample_data, max_retrieval_results=10)) as made:
        yield made


@pytest.fixture(scope="module")
def studio(sample_data: Path) -> list[Comparable]:
    """What Studio's graph, made as ``langgraph.json`` has it made, returns for the thirty questions."""

    async def ask_all() -> list[Comparable]:
        graph = await make_graph()
        found = [of_state(await graph.ainvoke({"query": question})) for question in sample_questions()]
        await open_container().aclose()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATA_DIR", str(sample_data))
        return asyncio.run(ask_all())


def of_state(state: dict[str, Any]) -> Comparable:
    citations = state["citations"] if state["outcome"] == "answered" else []
    cited = [(citation.chunk_id, citation.quote) for citation in citations]
    return state["outcome"], without_markers(state["answer"]) if cited else "", cited


async def asked_by_an_agent(address: str, questions: list[str]) -> list[Comparable]:
    """What the tool ``ask`` of the Model Context Protocol returns for *questions*."""
    async with Client(f"{address.rstrip('/')}/mcp") as client:
        results = [await client.call_tool("ask", {"query": question}) for question in questions]
    return [of_body(result.structured_content or {}) for result in results]


@pytest.mark.long
def test_thirty_questions_through_every_interface(
    http: httpx.Client, library: RAGService, studio: list[Comparable]
) -> None:
    """/query, its stream, /v1, /mcp, /rag/invoke, batch and stream, RAGService and Studio: the same for all thirty."""
    questions = sample_questions()
    assert len(questions) == 30
    asked = [{"query": question, "includeEvidence": True} for question in questions]
    agent = asyncio.run(asked_by_an_agent(str(http.base_url), questions))
    batch = http.post("/rag/batch", json={"inputs": asked}).json()["output"]
    outcomes = set()
    for fields, batched, in_studio, found in zip(asked, batch, studio, agent, strict=True):
        expected = of_body(http.post("/query", json=fields).json())
        outcomes.add(expected[0])
        assert of_body(events(http.post("/query/stream", json=fields))[-1][1]) == expected
        chat = {"model": "knowledge-garden", "messages": [{"role": "user", "content": fields["query"]}]}
        completion = http.post("/v1/chat/completions", json=chat).json()
        assert of_body(completion["knowledge_garden"]) == expected
        assert completion["choices"][0]["message"]["content"].startswith(completion["knowledge_garden"]["answer"])
        assert of_body(http.post("/rag/invoke", json={"input": fields}).json()["output"]) == expected
        assert of_body(batched) == expected
        assert in_studio == expected
        assert found == expected
        last = [
            line for line in http.post("/rag/stream", json={"input": fields}).text.splitlines() if '"answer"' in line
        ]
        assert of_body(json.loads(last[-1].removeprefix("data: "))) == expected
        answer = library.query(str(fields["query"]))
        cited = [(citation.chunk_id, citation.quote) for citation in answer.citations]
        assert (without_markers(answer.answer), cited) == expected[1:]
        assert (answer.answer is None) == (expected[0] != "answered")
    assert "answered" in outcomes
    assert len(outcomes) > 1


def test_the_command_line_tells_the_same(
    http: httpx.Client, sample_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``garden ask --json`` prints what /query returns, beside the server over the same collection."""
    monkeypatch.setenv("DATA_DIR", str(sample_data))
    for question in [sample_questions()[place] for place in (0, 7, -1)]:
        asked = CliRunner().invoke(command, ["ask", question, "--json"])
        assert asked.exit_code == 0, asked.output
        expected = of_body(http.post("/query", json={"query": question, "includeEvidence": True}).json())
        assert of_body(json.loads(asked.stdout)) == expected

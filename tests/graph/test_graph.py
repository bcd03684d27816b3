"""The ways a question takes through the graph, and their ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from answering.types import Chunk, Draft, Question, SubqueryResults, TokenCallback
from graph.build import build_graph
from graph.errors import ModelUnavailable, StoreUnavailable
from graph.policy import Policy
from graph.ports import Ports
from tests.contract.scripted_graph import Finds, Passes, Says, ask, chunk, run

GRASS = chunk("grass", "Grass is green. It is wet in the morning.")
SAID = Says("Grass is green [1].")


class Down:
    """A part that is down, whichever port it stands for."""

    async def retrieve(self, question: Question) -> tuple[SubqueryResults, ...]:
        raise StoreUnavailable("The vector store cannot be reached.")

    async def synthesize(
        self,
        question: Question,
        chunks: Sequence[Chunk],
        retrieved: Sequence[SubqueryResults],
        emit: TokenCallback | None,
    ) -> Draft:
        raise ModelUnavailable("The chat model cannot be reached.")


class Refuses:
    """Lets no chunk through."""

    async def grade(self, question: Question, retrieved: Sequence[SubqueryResults]) -> list[Chunk]:
        return []


def parts(**others: Any) -> Ports:
    """Scripted parts, some of them other ones."""
    chosen: dict[str, Any] = {"retriever": Finds([GRASS]), "grader": Passes(), "synthesizer": SAID} | others
    return Ports(**chosen)


WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "answered": ({}, "answered"),
    "nothing retrieved": ({"retriever": Finds([])}, "no_relevant_chunks"),
    "nothing relevant": ({"grader": Refuses()}, "no_relevant_chunks"),
    "the model does not know": ({"synthesizer": Says("")}, "no_citations"),
    "no marker holds": ({"synthesizer": Says("The moon is cheese [1].")}, "no_citations"),
    "the store is down": ({"retriever": Down()}, "retrieval_failed"),
    "the model is down": ({"synthesizer": Down()}, "synthesis_failed"),
}
GIVEN = {"query": "What is grass?", "maxSources": 3, "maxTokens": None, "source": None, "requestId": "r"}


async def test_a_defect_is_raised() -> None:
    """An error outside our own tree becomes no answer: the run raises it."""

    class Broken:
        async def retrieve(self, question: Question) -> tuple[SubqueryResults, ...]:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await build_graph(parts(retriever=Broken()), Policy()).ainvoke(GIVEN)


async def test_a_check_that_takes_too_long_is_a_timeout_and_no_lack_of_an_answer() -> None:
    """Past the request's time the checking of citations ends, and the end says so."""
    text = " ".join(f"Pump {n} of hall {n % 7} delivers {n * 3} litres each minute." for n in range(1500))
    pumps = chunk("pumps", text)
    reply = " ".join(f"Pump {n} in hall {n % 7} gives about {n * 3} litres a minute [1]." for n in range(1000))
    ports, policy = parts(retriever=Finds([pumps]), synthesizer=Says(reply)), Policy(request_timeout=0.5)
    end: Any = await run(build_graph(ports, policy), GIVEN)
    assert (end["outcome"], end["answer"], end["citedDocuments"]) == ("synthesis_timeout", None, [])
    assert end["failure"].error_type == "SynthesisTimeout"


@pytest.mark.parametrize(("others", "outcome"), WAYS.values(), ids=WAYS)
async def test_every_end_of_the_graph_is_an_outcome(others: dict[str, Any], outcome: str) -> None:
    """Whatever a part does, a run ends in its outcome; a blank question ends in ``invalid_input`` before any part."""
    graph = build_graph(parts(**others), Policy())
    assert (await graph.ainvoke(GIVEN))["outcome"] == outcome
    assert (await graph.ainvoke({**GIVEN, "query": " "}))["outcome"] == "invalid_input"


async def test_who_stops_listening_ends_the_run() -> None:
    """A stream that is closed cancels the node that works, and waits until it has ended."""
    ended: list[str] = []

    class Long(Says):
        async def synthesize(
            self,
            question: Question,
            chunks: Sequence[Chunk],
            retrieved: Sequence[SubqueryResults],
            emit: TokenCallback | None,
        ) -> Draft:
            assert emit
            await emit("Grass is ")
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")
            raise AssertionError

    stream: Any = build_graph(parts(synthesizer=Long("")), Policy()).astream(GIVEN, stream_mode="custom")
    assert [(await anext(stream)).keys() for _ in range(2)] == [{"retrieval"}, {"token"}]
    await stream.aclose()
    assert ended == ["cancelled"]


class Quotes(Says):
    """Answers in the passages' own sentences."""

    async def synthesize(
        self,
        question: Question,
        chunks: Sequence[Chunk],
        retrieved: Sequence[SubqueryResults],
        emit: TokenCallback | None,
    ) -> Draft:
        return replace(await super().synthesize(question, chunks, retrieved, emit), confidence=0.9, by_model=False)


@pytest.mark.parametrize(
    ("says", "answer", "unsupported"),
    [
        ("", "It is wet in the morning [1].", []),
        ("I don't know.", "It is wet in the morning [1].", []),
        ("The moon is cheese [1].", "It is wet in the morning [1].", ["The moon is cheese."]),
        ("Grass is green [1].", "Grass is green [1].", []),
    ],
)
async def test_the_passages_answer_where_the_model_does_not(says: str, answer: str, unsupported: list[str]) -> None:
    """Where the model declines, or nothing it wrote is supported, the extractive answer stands in by a drawn edge."""
    state = await ask([GRASS], Says(says), extractor=Quotes("It is wet in the morning [1]."))
    assert (state["outcome"], state["answer"], state["unsupported"]) == ("answered", answer, unsupported)
    assert state["draft"].by_model is (answer == "Grass is green [1].")


class Doubts(Quotes):
    """States how probably its sentences answer, and gives none."""

    def __init__(self, probability: float) -> None:
        super().__init__("")
        self.probability = probability

    async def synthesize(
        self,
        question: Question,
        chunks: Sequence[Chunk],
        retrieved: Sequence[SubqueryResults],
        emit: TokenCallback | None,
    ) -> Draft:
        draft = await super().synthesize(question, chunks, retrieved, emit)
        return replace(draft, confidence=self.probability)


async def test_a_model_answers_only_where_the_passages_may() -> None:
    """A model finds words for what no passage answers: its true sentence is given where the passages nearly answer."""
    graded = replace(GRASS, answers=0.9)
    outcomes = []
    for probability in (0.05, 0.45, 0.9):
        state = await ask([graded], Says("Grass is green [1]."), extractor=Doubts(probability))
        outcomes.append(state["outcome"])
    assert outcomes == ["low_confidence", "answered", "answered"]


async def test_passages_that_do_not_answer_leave_the_decline() -> None:
    """Where the passages do not answer either, the run ends as it would have without them; an outage stays one."""
    for says in ("", "The moon is cheese [1]."):
        state = await ask([GRASS], Says(says), extractor=Quotes(""))
        assert (state["outcome"], state["answer"] is not None) == ("no_citations", True)
    down = build_graph(parts(synthesizer=Down(), extractor=Quotes("Grass is green [1].")), Policy())
    assert (await down.ainvoke(GIVEN))["outcome"] == "synthesis_failed"

"""The two ways a question takes through the graph: LangGraph's own, and the walk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.globals import set_debug
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda
from langgraph.channels import BinaryOperatorAggregate

from graph.build import build_graph
from graph.errors import ModelUnavailable, StoreUnavailable
from graph.policy import Policy
from graph.ports import Ports, Retrieved, TokenSink, unheard
from graph.state import Chunk, Draft, Input, Question, State
from graph.walk import _REDUCERS, Walk, anybody_listens, merged
from tests.contract.scripted_graph import Finds, Passes, Says, chunk

GRASS = chunk("grass", "Grass is green. It is wet in the morning.")
SAID = Says("Grass is green [1].")


class Down:
    """A part that is down, whichever port it stands for."""

    async def retrieve(self, question: Question) -> Retrieved:
        raise StoreUnavailable("The vector store cannot be reached.")

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        raise ModelUnavailable("The chat model cannot be reached.")


class Refuses:
    """Lets no chunk through."""

    async def grade(self, question: Question, retrieved: Retrieved) -> list[Chunk]:
        return []


class Hears(Says):
    """Notes which sink it was given."""

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        self.emit = emit
        return await super().synthesize(question, chunks, retrieved, emit)


def parts(**others: Any) -> Ports:
    """Scripted parts, some of them other ones."""
    chosen: dict[str, Any] = {"retriever": Finds([GRASS]), "grader": Passes(), "synthesizer": SAID} | others
    return Ports(**chosen)


WAYS: dict[str, dict[str, Any]] = {
    "answered": {},
    "nothing retrieved": {"retriever": Finds([])},
    "nothing relevant": {"grader": Refuses()},
    "the model does not know": {"synthesizer": Says("")},
    "no marker holds": {"synthesizer": Says("The moon is cheese [1].")},
    "the store is down": {"retriever": Down()},
    "the model is down": {"synthesizer": Down()},
}
GIVEN = {"query": "What is grass?", "maxSources": 3, "maxTokens": None, "source": None, "requestId": "r"}


@pytest.mark.parametrize("others", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("given", [GIVEN, {"query": " "}], ids=["valid", "blank"])
async def test_both_ways_leave_the_same_state(others: dict[str, Any], given: dict[str, Any]) -> None:
    """Whatever way a question takes, LangGraph and the walk go through the same nodes and leave the same keys.

    LangGraph alone forgets the options once they are read: the walk's state has no next run.
    """
    policy = Policy()
    theirs = await build_graph(parts(**others), policy, State).ainvoke(given)
    ours: dict[str, Any] = {**await Walk(parts(**others), policy).invoke(given)}
    assert list(ours["timings"]) == list(theirs["timings"])
    options = Input.__annotations__.keys() - {"query"}
    assert ours.keys() - options == theirs.keys()
    varying = {"timings", "question", "readings", "metadata"}  # clocks, and readings, which are compared by identity
    steady = theirs.keys() - varying
    assert {key: ours[key] for key in steady} == {key: theirs[key] for key in steady}
    assert ours["metadata"].keys() == theirs["metadata"].keys()


def test_updates_are_joined_by_the_reducers_of_the_state() -> None:
    """A key with a reducer is added to; any other one is replaced. Every reducer LangGraph sees is seen here."""
    before: Any = {"query": "a", "timings": {"validate": 1.0}}
    after: Any = merged(before, {"query": "b", "timings": {"retrieve": 2.0}})
    assert after == {"query": "b", "timings": {"validate": 1.0, "retrieve": 2.0}}
    channels = build_graph(parts(), Policy()).channels
    assert {name for name, one in channels.items() if isinstance(one, BinaryOperatorAggregate)} == set(_REDUCERS)


async def test_a_defect_comes_out_of_both() -> None:
    """An error outside our own tree is nobody's answer: both ways raise it."""

    class Broken:
        async def retrieve(self, question: Question) -> Retrieved:
            raise ZeroDivisionError

    ports, policy = parts(retriever=Broken()), Policy()
    for run in (build_graph(ports, policy).ainvoke, Walk(ports, policy).invoke):
        with pytest.raises(ZeroDivisionError):
            await run(GIVEN)


async def test_a_check_that_takes_too_long_is_a_timeout_and_no_lack_of_an_answer() -> None:
    """Past the request's time the checking of citations ends, and the end says so, whichever way it was reached."""
    text = " ".join(f"Pump {n} of hall {n % 7} delivers {n * 3} litres each minute." for n in range(1500))
    pumps = chunk("pumps", text)
    reply = " ".join(f"Pump {n} in hall {n % 7} gives about {n * 3} litres a minute [1]." for n in range(3000))
    ports, policy = parts(retriever=Finds([pumps]), synthesizer=Says(reply)), Policy(request_timeout=0.5)
    for run in (build_graph(ports, policy, State).ainvoke, Walk(ports, policy).invoke):
        end: Any = await run(GIVEN)
        assert (end["outcome"], end["answer"], end["citedDocuments"]) == ("synthesis_timeout", None, [])
        assert end["failure"].error_type == "SynthesisTimeout"


@pytest.mark.parametrize("others", WAYS.values(), ids=WAYS)
async def test_both_ways_stream_the_same(others: dict[str, Any]) -> None:
    """What is written on the way, and the last state, are the same and in the same order."""
    policy = Policy()
    modes: Any = ["custom", "values"]
    graph, walk = build_graph(parts(**others), policy, State), Walk(parts(**others), policy)
    theirs: list[Any] = [step async for step in graph.astream(GIVEN, stream_mode=modes)]
    ours = [step async for step in walk.stream(GIVEN)]
    assert ours[:-1] == [step for step in theirs if step[0] == "custom"]
    assert [mode for mode, _ in ours].count("values") == 1
    assert ours[-1][1]["outcome"] == theirs[-1][1]["outcome"]


async def test_only_a_walk_of_which_the_end_is_wanted_is_written_at_once() -> None:
    """The synthesizer hears that nobody watches where the end is awaited, and never where it is streamed."""
    hears = Hears("Grass is green [1].")
    walk = Walk(parts(synthesizer=hears), Policy())
    quiet = await walk.invoke(GIVEN)
    assert hears.emit is unheard
    shown = [content async for mode, content in walk.stream(GIVEN) if mode == "custom"]
    assert hears.emit is not unheard
    assert "".join(piece.get("token", "") for piece in shown) == quiet["answer"]


async def test_who_stops_listening_ends_the_walk() -> None:
    """A stream that is closed cancels the node that works, and waits until it has ended."""
    ended: list[str] = []

    class Long(Says):
        async def synthesize(
            self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
        ) -> Draft:
            await emit("Grass is ")
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")
            raise AssertionError

    stream = Walk(parts(synthesizer=Long("")), Policy()).stream(GIVEN)
    assert [(await anext(stream))[1].keys() for _ in range(2)] == [{"retrieval"}, {"token"}]
    await stream.aclose()
    assert ended == ["cancelled"]


class Told(AsyncCallbackHandler):
    """Counts the chat models it is told of."""

    def __init__(self) -> None:
        self.models = 0

    async def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.models += 1


class Calls(Says):
    """Has a LangChain chat model write."""

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        return Draft(str((await FakeListChatModel(responses=["Grass is green [1]."]).ainvoke("?")).text))


async def test_a_caller_is_not_told_of_what_is_in_a_walk() -> None:
    """Callbacks around a walk, such as a door's own, hear nothing of the model that is called in it."""
    told, walk = Told(), Walk(parts(synthesizer=Calls("")), Policy())

    async def call(_: Any) -> Any:
        return (await walk.invoke(GIVEN))["answer"], (await FakeListChatModel(responses=["after"]).ainvoke("?")).text

    answer, after = await RunnableLambda(call).ainvoke({}, {"callbacks": [told]})
    assert (answer, after, told.models) == ("Grass is green [1].", "after", 1)


def test_what_langchain_would_tell_is_somebody_listening() -> None:
    """With LangChain's debug output on a run goes through LangGraph, so that every step of it is told.

    That LangSmith gets its runs is shown over its wire, in ``tests/operation/test_tracing.py``.
    """
    assert not anybody_listens()
    set_debug(True)
    try:
        assert anybody_listens()
    finally:
        set_debug(False)

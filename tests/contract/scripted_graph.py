"""A graph over a few chunks and a synthesizer with scripted output: the ports, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from answering.markers.draft import read_draft
from answering.ports import PassageReader
from answering.text.sentences import sentence_spans
from answering.types import Chunk, Draft, Question, SubqueryResults, TokenCallback
from graph.build import build_graph
from graph.policy import Policy
from graph.ports import Ports, Synthesizer
from graph.state import State


def chunk(name: str, text: str, **more: Any) -> Chunk:
    """A chunk of a document of its own, relevant without doubt."""
    return Chunk(f"{name}#1", name, more.pop("title", ""), text, spans=sentence_spans(text), relevance=1.0, **more)


class Finds:
    """Retrieves always the same chunks."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = tuple(chunks)

    async def retrieve(self, question: Question) -> tuple[SubqueryResults, ...]:
        return (SubqueryResults(question.text, self._chunks),)


class Passes:
    """Lets every chunk through, in the order it was found."""

    async def grade(self, question: Question, retrieved: Sequence[SubqueryResults]) -> list[Chunk]:
        return list(retrieved[0].chunks)


class Says:
    """A model that writes *text* whatever it is asked."""

    def __init__(self, text: str, *, truncated: bool = False, confidence: float | None = None) -> None:
        self.text, self.truncated, self.confidence = text, truncated, confidence

    async def synthesize(
        self,
        question: Question,
        chunks: Sequence[Chunk],
        retrieved: Sequence[SubqueryResults],
        emit: TokenCallback | None,
    ) -> Draft:
        for i in range(0, len(self.text), 7):
            if emit is not None:
                await emit(self.text[i : i + 7])
        sentences = read_draft(self.text, chunks, truncated=self.truncated)
        return Draft(sentences, self.confidence, by_model=True)


async def ask(
    chunks: Sequence[Chunk],
    says: Says,
    *,
    query: str = "What is there to know?",
    policy: Policy | None = None,
    verifier: PassageReader | None = None,
    extractor: Synthesizer | None = None,
) -> dict[str, Any]:
    """The final state of one question."""
    attribution: Literal["model", "verified"] = "model" if extractor is None else "verified"
    graph = build_graph(
        Ports(Finds(chunks), Passes(), says, extractor, verifier=verifier),
        policy or Policy(attribution=attribution),
    )
    return await run(graph, {"query": query})


async def run(graph: Any, given: dict[str, Any], config: Any = None) -> dict[str, Any]:
    """The final state of one run."""
    state: dict[str, Any] = await graph.ainvoke(given, config, output_keys=list(State.__annotations__))
    return state

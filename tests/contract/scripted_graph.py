"""A graph over a few chunks and a synthesizer with scripted output: the ports, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from answering.text.sentences import sentence_spans
from answering.types import Chunk, PassageReader, SubqueryResults
from graph.build import build_graph
from graph.policy import Policy
from graph.ports import Ports, TokenSink
from graph.state import Draft, Question


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
        self._draft = Draft(text, truncated=truncated, confidence=confidence)

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Sequence[SubqueryResults], emit: TokenSink
    ) -> Draft:
        for i in range(0, len(self._draft.text), 7):
            await emit(self._draft.text[i : i + 7])
        return self._draft


async def ask(
    chunks: Sequence[Chunk],
    says: Says,
    *,
    query: str = "What is there to know?",
    policy: Policy | None = None,
    verifier: PassageReader | None = None,
) -> dict[str, Any]:
    """The final state of one question."""
    graph = build_graph(Ports(Finds(chunks), Passes(), says, verifier=verifier), policy or Policy())
    state: dict[str, Any] = await graph.ainvoke({"query": query})
    return state

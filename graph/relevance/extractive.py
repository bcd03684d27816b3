"""Choose the one to three sentences of a chunk that answer a question, verbatim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.code_spans import code_spans
from graph.relevance.thresholds import Assessment
from graph.sentences import Span
from graph.terms import asks_whether, stems

MOST_SENTENCES = 3
"""Most sentences of an answer."""
WITHIN, WITHIN_PER_WORD = 0.6, 0.008
"""Least share of the best score for a further sentence, and what each of its words adds to that."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer: exactly ``chunk.text[start:end]``.

    ``score`` is how well it answers the question, ``plain`` how near it is to it without the reader.
    """

    chunk_id: str
    start: int
    end: int
    text: str
    score: float
    plain: float

    @property
    def least(self) -> float:
        """Least share of the best score at which this sentence is added: a short one costs little to read."""
        return WITHIN + WITHIN_PER_WORD * len(self.text.split())


def answering_sentences(assessed: Assessment, question: str) -> tuple[Sentence, ...]:
    """Choose the sentences of one chunk that answer best, in reading order, a table row with its header."""
    best, *others = sorted(_candidates(assessed, question), key=lambda s: -s.score)
    top = max([best.plain, *(other.plain for other in others)])
    near = sorted((other for other in others if other.plain >= other.least * top), key=lambda s: -s.plain)
    kept = [best, *near[: MOST_SENTENCES - 1]]
    headers = [header for sentence in kept if (header := _table_header(assessed, sentence))]
    found = {sentence.start: sentence for sentence in (*headers, *kept)}
    return tuple(found[start] for start in sorted(found))


def _table_header(assessed: Assessment, row: Sentence) -> Sentence | None:
    """Find the first row of the table that *row* is in; None for the header itself and for other sentences."""
    chunk = assessed.chunk
    at = first = [start for start, _ in chunk.spans].index(row.start)
    while first and all(chunk.text.startswith("|", chunk.spans[n][0]) for n in (first - 1, at)):
        first -= 1
    start, end = chunk.spans[first]
    return None if first == at else Sentence(chunk.chunk_id, start, end, chunk.text[start:end], 0.0, 0.0)


def _candidates(assessed: Assessment, question: str) -> list[Sentence]:
    """List the sentences of a chunk that can answer *question*; all of them when none can."""
    chunk = assessed.chunk
    found = [
        Sentence(chunk.chunk_id, start, end, chunk.text[start:end], match.score, match.plain)
        for (start, end), match in zip(chunk.spans, assessed.matches, strict=True)
    ]
    asked, whether = frozenset(stems(question)), asks_whether(question)
    code = code_spans(chunk.text)
    headings = {chunk.title, chunk.chapter, chunk.section}
    return [s for s in found if s.text not in headings and _can_answer(s, asked, whether, code)] or found


def _can_answer(sentence: Sentence, asked: frozenset[str], whether: bool, code: Sequence[Span]) -> bool:
    """Whether *sentence* is no heading, question or code, and says more than the stems *asked* do.

    To a question *whether* something is so, a sentence in the question's own words is an answer.
    """
    own = stems(sentence.text)
    return not (
        sentence.text.startswith("#")
        or sentence.text.endswith("?")
        or (asked.issuperset(own) and not (whether and len(own) > 1))
        or any(start <= sentence.start and sentence.end <= end for start, end in code)
    )

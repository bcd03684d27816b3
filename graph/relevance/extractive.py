"""Extractive answers: the one to three sentences that answer, verbatim, and how probable it is that they do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from graph.code_spans import code_spans
from graph.relevance.calibration import Calibration
from graph.relevance.thresholds import Assessment, assess
from graph.sentences import Span
from graph.state import SubqueryResults
from graph.terms import Idf, asks_whether, stems

MOST_SENTENCES = 3
"""An answer has at most so many sentences."""
WITHIN, WITHIN_PER_WORD = 0.6, 0.008
"""A further sentence must score at least this share of the best one's score, and the more the longer it is."""


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


@dataclass(frozen=True, slots=True)
class Extract:
    """The sentences that answer one question, in reading order, and the probability in [0, 1] that they do."""

    question: str
    sentences: tuple[Sentence, ...]
    probability: float


def extract(
    subquery_results: Sequence[SubqueryResults], idf: Idf, calibration: Calibration, threshold: float = 0.8
) -> tuple[Extract, ...]:
    """The best sentences for each of *readings*, from chunks whose relevance reaches *threshold*.

    A reading without such a chunk has no sentences and probability 0. Gate two is the caller's: keep what reaches
    ``MIN_CONFIDENCE``.
    """
    return tuple(_answer(reading, assess(reading, idf, calibration), threshold) for reading in subquery_results)


def _answer(reading: SubqueryResults, assessed: Iterable[Assessment], threshold: float) -> Extract:
    passed = [a for a in assessed if a.relevance >= threshold and a.matches]
    if not passed:
        return Extract(reading.question, (), 0.0)
    return extract_from(max(passed, key=lambda a: a.answers), reading.question)


def extract_from(assessed: Assessment, question: str) -> Extract:
    """The best sentences of one chunk that has any, in reading order; the probability is the chunk's."""
    best, *others = sorted(_sentences(assessed, question), key=lambda s: -s.score)
    near = [s for s in others if s.plain >= _least(s) * max(best.plain, *(o.plain for o in others))] if others else []
    kept = [best, *sorted(near, key=lambda s: -s.plain)[: MOST_SENTENCES - 1]]
    heads = {head.start: head for head in map(partial(_table_head, assessed), kept) if head}
    found = heads | {sentence.start: sentence for sentence in kept}
    return Extract(question, tuple(found[start] for start in sorted(found)), assessed.answers)


def _table_head(assessed: Assessment, row: Sentence) -> Sentence | None:
    """The first row of the table that *row* is in, without which its cells have no names; None of other sentences."""
    chunk = assessed.chunk
    at = next(n for n, (start, _) in enumerate(chunk.spans) if start == row.start)
    first = at
    while first and all(chunk.text.startswith("|", chunk.spans[n][0]) for n in (first - 1, at)):
        first -= 1
    start, end = chunk.spans[first]
    return None if first == at else Sentence(chunk.chunk_id, start, end, chunk.text[start:end], 0.0, 0.0)


def _least(sentence: Sentence) -> float:
    """The share of the best score that a further *sentence* must reach: a short one costs the reader little."""
    return WITHIN + WITHIN_PER_WORD * len(sentence.text.split())


def _sentences(assessed: Assessment, question: str) -> list[Sentence]:
    """The sentences of a chunk that can answer *question*; all of them when none can."""
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
    """Whether *sentence* is no heading, question or line of code, and says more than the stems *asked* do.

    Where all that is asked is *whether* something is so, a sentence in the question's own words answers.
    """
    own = stems(sentence.text)
    return not (
        sentence.text.startswith("#")
        or sentence.text.endswith("?")
        or (asked.issuperset(own) and not (whether and len(own) > 1))
        or any(start <= sentence.start and sentence.end <= end for start, end in code)
    )

"""Door V's verdict: which chunks are relevant, whether they hold the answer, and which sentences show it.

The same two gates as in the graph: a chunk's relevance against the threshold, then the calibrated probability that its
sentences answer. The vocabulary (relevant, answer present, Good, Partial, Poor) is the document's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph.policy import MIN_CONFIDENCE
from graph.relevance.calibration import Calibration
from graph.relevance.extractive import extract
from graph.relevance.thresholds import Assessment, assess
from graph.state import Chunk, SubqueryResults
from graph.terms import Idf

SUMMARY_CHARS = 160
"""Longest summary of a chunk, "..." included."""


def nothing_given() -> dict[str, Any]:
    """The verdict on an empty list of chunks."""
    return {
        "relevant_chunks": [],
        "answer_present": False,
        "evidence": [],
        "retrieval_quality": "Poor",
        "quality_reasoning": "No chunks were given",
    }


def verdict(
    subquery_results: Sequence[SubqueryResults],
    relevance: Mapping[str, float],
    idf: Idf,
    calibration: Calibration,
    threshold: float,
) -> dict[str, Any]:
    """The document's result but for its time, in plain JSON values.

    *readings* hold every chunk measured against each part of the question; *relevance*, in [0, 1], is by chunk id.
    """
    ranked = sorted(relevance.items(), key=lambda item: -item[1])
    relevant = {chunk_id: score for chunk_id, score in ranked if score >= threshold}
    assessed = [assess(reading, idf, calibration) for reading in subquery_results]
    evidence: list[dict[str, Any]] = []
    answered = 0
    for reading, row in zip(subquery_results, assessed, strict=True):
        found = [one for one in row if one.chunk.chunk_id in relevant and one.matches]
        answering = [one for one in found if one.answers >= MIN_CONFIDENCE]
        answered += bool(answering)
        for one in sorted(answering, key=lambda one: -one.answers):
            evidence.extend(piece for piece in _evidence(reading, one, idf, calibration) if piece not in evidence)
    return {
        "relevant_chunks": [
            {
                "chunk_id": chunk_id,
                "relevance_score": float(score),
                "is_relevant": True,
                "summary": _summary([one for row in assessed for one in row if one.chunk.chunk_id == chunk_id]),
            }
            for chunk_id, score in relevant.items()
        ],
        "answer_present": answered > 0,
        "evidence": evidence,
        "retrieval_quality": "Good" if answered else "Partial" if relevant else "Poor",
        "quality_reasoning": _reasoning(ranked, list(relevant.values()), answered, len(subquery_results), threshold),
    }


def _evidence(reading: SubqueryResults, one: Assessment, idf: Idf, calibration: Calibration) -> list[dict[str, Any]]:
    """The sentences of one chunk that answer one part of the question, each with its neighbours."""
    chunk = one.chunk
    (found,) = extract([SubqueryResults(reading.question, (chunk,))], idf, calibration, threshold=0.0)
    pieces = []
    for sentence in found.sentences:
        index = chunk.spans.index((sentence.start, sentence.end))
        piece: dict[str, Any] = {"chunk_id": chunk.chunk_id, "quote": sentence.text, "sentence_index": index}
        if index > 0:
            piece["context_before"] = _sentence(chunk, index - 1)
        if index + 1 < len(chunk.spans):
            piece["context_after"] = _sentence(chunk, index + 1)
        pieces.append(piece)
    return pieces


def _sentence(chunk: Chunk, index: int) -> str:
    start, end = chunk.spans[index]
    return chunk.text[start:end]


def _summary(seen: Sequence[Assessment]) -> str:
    """The sentence of a chunk that matches the question best, on one line; its beginning when it has none."""
    chunk = seen[0].chunk
    scored = [(match.score, -place) for one in seen for place, match in enumerate(one.matches)]
    best = _sentence(chunk, -max(scored)[1]) if scored else chunk.text[: 4 * SUMMARY_CHARS]
    line = " ".join(best.split()) or chunk.chunk_id
    if len(line) <= SUMMARY_CHARS:
        return line
    cut = line[: SUMMARY_CHARS - 3]
    return f"{cut.rsplit(' ', 1)[0]}..."


def _reasoning(
    ranked: Sequence[tuple[str, float]], scores: Sequence[float], answered: int, parts: int, threshold: float
) -> str:
    """Why the rating is what it is: counts and scores, never a word of the documents."""
    if not scores:
        return f"No relevant chunks among {len(ranked)} (best score: {ranked[0][1]:.2f}, threshold: {threshold:.2f})"
    found = f"{len(scores)} relevant chunk{'s' if len(scores) > 1 else ''} found"
    average = f"(avg score: {sum(scores) / len(scores):.2f})"
    if not answered:
        return f"{found} {average}, answer not found in {'them' if len(scores) > 1 else 'it'}"
    present = "answer fully present" if answered == parts else f"answer present for {answered} of {parts} parts"
    return f"{found} {average}, {present}"

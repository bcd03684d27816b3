"""Put a reranker's scores, as probabilities, into the metadata of the documents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from langchain_core.documents import Document

SCORE = "relevance_score"
"""The key of ``Document.metadata`` that holds the reranker's score, as LangChain's own rerankers name it."""

_EDGE = 1e-6


def with_scores(
    documents: Sequence[Document], found: Iterable[tuple[int, float]], *, log_odds: bool = False
) -> list[Document]:
    """Copy the documents with their scores, best first; *found* holds (position, score) pairs.

    Scores are probabilities, clipped to [0, 1], or with *log_odds* any number. Raises ``ValueError`` when one is not
    finite, or when a document has none.
    """
    scores: dict[int, float] = {}
    for position, score in found:
        if not math.isfinite(score):
            raise ValueError("a score is not finite")
        scores[position] = sigmoid(score) if log_odds else min(1.0, max(0.0, score))
    if scores.keys() != set(range(len(documents))):
        raise ValueError("the scores do not belong to the documents")
    scored = [
        Document(page_content=document.page_content, metadata={**document.metadata, SCORE: scores[i]}, id=document.id)
        for i, document in enumerate(documents)
    ]
    return sorted(scored, key=lambda document: -document.metadata[SCORE])


def sigmoid(logit: float) -> float:
    """Return the probability in [0, 1] of log-odds."""
    return 1.0 / (1.0 + math.exp(-min(700.0, max(-700.0, logit))))


def log_odds_of(probability: float) -> float:
    """Invert ``sigmoid``, within ±13.8."""
    inside = min(1.0 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1.0 - inside))

"""What every reranker's answer becomes: documents with a score in [0, 1] in their metadata."""

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
    """Copies of the documents with their scores, best first; *found* holds (position, score) pairs.

    Scores are probabilities, cut off outside of [0, 1], or with *log_odds* any number. Raises ``ValueError`` when one
    is no number, or when they are not those of each document.
    """
    scores: dict[int, float] = {}
    for position, score in found:
        if not math.isfinite(score):
            raise ValueError("a score is not a number")
        scores[position] = sigmoid(score) if log_odds else min(1.0, max(0.0, score))
    if scores.keys() != set(range(len(documents))):
        raise ValueError("the scores are not those of the documents")
    scored = [
        Document(page_content=document.page_content, metadata={**document.metadata, SCORE: scores[i]}, id=document.id)
        for i, document in enumerate(documents)
    ]
    return sorted(scored, key=lambda document: -document.metadata[SCORE])


def sigmoid(logit: float) -> float:
    """The probability in [0, 1] of log-odds; total."""
    return 1.0 / (1.0 + math.exp(-min(700.0, max(-700.0, logit))))


def log_odds_of(probability: float) -> float:
    """The inverse of ``sigmoid``, within ±13.8."""
    inside = min(1.0 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1.0 - inside))


def valid_unicode(text: str) -> str:
    """*text* as it can be sent and tokenized: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")

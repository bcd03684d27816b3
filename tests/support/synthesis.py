"""What every synthesizer's test works on: a few chunks, a question, and somewhere for the tokens to go."""

from __future__ import annotations

import re
import time

import pytest

from answering.relevance.graders import Calibration, Logistic
from answering.text.sentences import sentence_spans
from answering.types import Chunk, Draft, Question

NOTHING = ()


def chunk(number: int, text: str, title: str = "", relevance: float = 0.9, similarity: float = 0.8) -> Chunk:
    spans = sentence_spans(text)
    return Chunk(
        f"c{number}",
        f"d{number}",
        title,
        text,
        similarity=similarity,
        keyword=similarity,
        spans=spans,
        span_similarities=(similarity,) * len(spans),
        relevance=relevance,
    )


def question(text: str, *, max_tokens: int | None = None, seconds: float = 3600.0) -> Question:
    now = time.monotonic()
    return Question(text, (text,), 10, max_tokens, None, now, now + seconds)


class Tokens(list[str]):
    """A writer that keeps what it is given."""

    async def __call__(self, text: str) -> None:
        self.append(text)

    @property
    def text(self) -> str:
        return "".join(self)


@pytest.fixture
def tokens() -> Tokens:
    return Tokens()


def marked(draft: Draft) -> str:
    """The draft's text with the number of its chunk where each sentence cites one."""
    text = ""
    for sentence in draft.sentences:
        text += sentence.before
        done = 0
        for source in sentence.sources:
            numbers = "".join(f"[{number + 1}]" for number in source.chunks)
            text += f"{sentence.text[done : max(0, source.position)].rstrip()} {numbers}"
            done = max(0, source.position)
        text += sentence.text[done:]
    return text


def cited(text: str) -> list[int]:
    """The numbers of the markers in *text*, in order."""
    return [int(number) for number in re.findall(r"\[(\d+)\]", text)]


def bare(text: str) -> str:
    """*text* without its markers."""
    return re.sub(r" \[\d+\]", "", text)


_WEIGHTS = {"coverage": 7.0, "sentence_similarity": 6.0}
_NEAR, _ANSWERS = Logistic(-6.0, _WEIGHTS), Logistic(-8.0, _WEIGHTS)
WORDS_AND_NEARNESS = Calibration(_NEAR, _NEAR, _ANSWERS, _ANSWERS, Logistic(-6.0, {"chunk_similarity": 12.0}))
"""Plain weights, so that what these tests say does not hang on a fit."""


@pytest.fixture(scope="session")
def calibration() -> Calibration:
    """Plain weights: words and nearness."""
    return WORDS_AND_NEARNESS

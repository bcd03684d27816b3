"""Read question files (JSON Lines, or a list as in ``sample_queries.json``); compute the measures of `garden eval`.

Measures are rates in [0, 1], None over nothing.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict

from answering.types import Chunk, Citation
from graph.errors import InvalidInput
from graph.state import Result


class EvalQuestion(BaseModel):
    """One question and its expected answer.

    ``gold_chunks`` and ``expected_sources`` (documents or file names) say where the answer is, as far as the file
    tells; ``answers`` holds, per part of the question, the strings any of which answers it.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    answerable: bool
    gold_chunks: tuple[str, ...] = ()
    expected_sources: tuple[str, ...] = ()
    answers: tuple[tuple[str, ...], ...] = ()

    def is_gold(self, found: Chunk | Citation) -> bool:
        """Tell whether *one* is of the question's gold chunks, or without these of its documents."""
        if self.gold_chunks:
            return found.chunk_id in self.gold_chunks
        return found.document_id in self.expected_sources or found.source in self.expected_sources


def read_questions(path: Path) -> list[EvalQuestion]:
    """Read a question file. Raises ``InvalidInput`` that names the row which cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read.", "questions") from error
    if text.lstrip().startswith("["):
        rows = _loads(text, f"{path}")
    else:
        rows = [_loads(line, f"{path}, line {n}") for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    return [_question(row, number, path) for number, row in enumerate(rows, 1)]


def _loads(text: str, where: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise InvalidInput(f"{where} is not valid JSON.", "questions") from None


def _question(row: Any, number: int, path: Path) -> EvalQuestion:
    if not isinstance(row, dict) or not isinstance(row.get("question"), str):
        raise InvalidInput(f"{path}, question {number}: an object with a question is needed.", "questions")
    answerable = row.get("answerable")
    if not isinstance(answerable, bool):
        answerable = bool(row.get("expected_sources")) or row.get("expected_answer") is not None
    sources = row.get("expected_sources") or row.get("gold_documents") or [row.get("gold_document")]
    chunks = row.get("gold_chunks") or [row.get("gold_chunk")]
    answers = row.get("answers") or []
    if not any(isinstance(answer, list) for answer in answers):  # strings are alternatives; lists are one part each
        answers = [answers] if answers else []
    return EvalQuestion(
        id=str(row.get("id", number)),
        question=row["question"],
        answerable=answerable,
        gold_chunks=tuple(chunk_id for chunk_id in chunks if chunk_id and answerable),
        expected_sources=tuple(str(source) for source in sources if source and answerable),
        answers=tuple(tuple(map(str, answer)) if isinstance(answer, list) else (str(answer),) for answer in answers),
    )


@dataclass(frozen=True, slots=True)
class EvalResult:
    """One question and its ``Result``."""

    question: EvalQuestion
    result: Result

    @property
    def hits(self) -> list[bool]:
        """Tell for each retrieved chunk, best first, whether it is gold."""
        return [self.question.is_gold(chunk) for chunk in self.result.chunks]

    @property
    def rank(self) -> float:
        """Rank the first gold chunk, from 1; infinite without one."""
        return next((rank for rank, gold in enumerate(self.hits, 1) if gold), math.inf)

    @property
    def right_source(self) -> bool:
        """Tell whether there are citations, and every one is of a gold chunk or document."""
        return bool(self.result.citations) and all(map(self.question.is_gold, self.result.citations))

    @property
    def holds_answer(self) -> bool:
        """Tell whether the answer holds, for every part, one of its accepted strings."""
        text = folded(self.result.answer or "") if self.result.answered else ""
        return bool(text) and all(any(folded(form) in text for form in part) for part in self.question.answers)

    def right_passed(self, threshold: float) -> list[bool]:
        """Tell for each chunk at or above *threshold* whether it is gold and the question answerable."""
        chunks = zip(self.hits, self.result.chunks, strict=True)
        return [hit and self.question.answerable for hit, c in chunks if (c.relevance or 0.0) >= threshold]


def folded(text: str) -> str:
    """Normalise for comparing answers: no case, markers or punctuation, single spaces (as SQuAD does)."""
    bare = re.sub(r"\[\d+\]", " ", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(re.sub(r"[^\w\s]", " ", bare).split())


def measure(results: Sequence[EvalResult], threshold: float) -> dict[str, float | int | None]:
    """Compute every measure, by name, in the order of the stages."""
    can = [r for r in results if r.question.answerable]
    cannot = [r for r in results if not r.question.answerable]
    located = [r for r in can if r.question.gold_chunks or r.question.expected_sources]
    pairs = [(c.relevance or 0.0, hit) for r in can for c, hit in zip(r.result.chunks, r.hits, strict=True)]
    return {
        "questions": len(results),
        "answerable": len(can),
        **{f"hit@{k}": _mean([r.rank <= k for r in located]) for k in (1, 5, 10)},
        "mrr@10": _mean([1 / r.rank if r.rank <= 10 else 0.0 for r in located]),
        "right chunk passes": _mean([any(r.right_passed(threshold)) for r in located]),
        "precision of what passes": _mean([right for r in results for right in r.right_passed(threshold)]),
        "false abstention": _mean([not r.result.answered for r in can]),
        "abstention": _mean([not r.result.answered for r in cannot]),
        "answer recall": _mean([r.holds_answer for r in can if r.question.answers]),
        "cited source right": _mean([r.right_source for r in located if r.result.answered]),
        "quotes verbatim": _mean(_verbatim(results)),
        "right outcome": _mean([right_outcome(r) for r in results]),
        "calibration error, pairs": rounded(calibration_error(pairs)),
        "calibration error, confidence": rounded(reliability(confidences(results))[1]),
    }


def right_outcome(r: EvalResult) -> bool:
    """Require an answer from right sources alone, or a decline of what has no answer."""
    return (r.result.answered and r.right_source) if r.question.answerable else not r.result.answered


def calibration_error(pairs: Sequence[tuple[float, float]], bins: int = 10) -> float | None:
    """Compute the expected calibration error of (stated, happened) over equal bins (Naeini et al. 2015)."""
    gaps: dict[int, float] = defaultdict(float)
    for stated, happened in pairs:
        gaps[min(int(stated * bins), bins - 1)] += stated - happened
    return sum(map(abs, gaps.values())) / len(pairs) if pairs else None


def confidences(results: Sequence[EvalResult]) -> list[tuple[float, bool]]:
    """Pair the confidence of each answer with whether it is right: it holds what is accepted, or cites the source."""
    answered = [r for r in results if r.result.answered]
    return [
        (r.result.confidence, r.question.answerable and (r.holds_answer if r.question.answers else r.right_source))
        for r in answered
    ]


class ReliabilityRow(NamedTuple):
    """Answers of about one confidence: the range of it, its mean, the share that is right, and how many they are."""

    least: float
    most: float
    stated: float
    right: float
    size: int


MAX_BINS, MIN_IN_BIN = 10, 20
"""Most bins of a reliability diagram, and the fewest answers in each of several: of fewer the share says little."""


def reliability(pairs: Sequence[tuple[float, bool]]) -> tuple[list[ReliabilityRow], float | None]:
    """Sort *pairs* of confidence and "is right" into bins of equal count; return these, and the calibration error.

    The error is the mean distance between stated and right of a bin, each weighing by its count; None of no pairs.
    """
    ordered = sorted(pairs)
    bins = max(1, min(MAX_BINS, len(ordered) // MIN_IN_BIN))
    ends = [n * len(ordered) // bins for n in range(bins + 1)]
    rows = []
    for own in (ordered[start:end] for start, end in pairwise(ends) if end > start):
        stated, right = (sum(column) / len(own) for column in zip(*own, strict=True))
        rows.append(ReliabilityRow(own[0][0], own[-1][0], stated, right, len(own)))
    error = sum(abs(row.stated - row.right) * row.size for row in rows) / len(ordered) if rows else None
    return rows, error


def _verbatim(results: Sequence[EvalResult]) -> list[bool]:
    """Tell for each citation whether its quote stands at its offsets in a retrieved chunk."""
    texts = {chunk.chunk_id: chunk.text for r in results for chunk in r.result.chunks}
    cited = [c for r in results for c in r.result.citations]
    return [bool(c.quote) and texts.get(c.chunk_id, "")[c.start : c.end] == c.quote for c in cited]


def _mean(values: Sequence[float]) -> float | None:
    return rounded(sum(values) / len(values)) if values else None


def rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(float(value), digits)

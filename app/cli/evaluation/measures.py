"""Compute the measures of `garden eval`: rates in [0, 1], None over nothing."""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from app.cli.evaluation.questions import EvalQuestion
from graph.outputs import Result
from graph.state import Chunk, Citation


@dataclass(frozen=True, slots=True)
class EvalResult:
    """One question and its ``Result``."""

    question: EvalQuestion
    result: Result

    def _is_gold(self, one: Chunk | Citation) -> bool:
        return self.question.is_gold(one.chunk_id, one.document_id, one.source)

    @property
    def hits(self) -> list[bool]:
        """Tell for each retrieved chunk, best first, whether it is gold."""
        return [self._is_gold(chunk) for chunk in self.result.chunks]

    @property
    def rank(self) -> float:
        """Rank the first gold chunk, from 1; infinite without one."""
        return next((rank for rank, gold in enumerate(self.hits, 1) if gold), math.inf)

    @property
    def right_source(self) -> bool:
        """Tell whether there are citations, and every one is of a gold chunk or document."""
        return bool(self.result.citations) and all(map(self._is_gold, self.result.citations))

    @property
    def holds_answer(self) -> bool:
        """Tell whether the answer holds, for every part, one of its accepted strings."""
        text = folded(self.result.answer or "") if self.result.answered else ""
        return bool(text) and all(any(folded(one) in text for one in part) for part in self.question.answers)

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
    can = [one for one in results if one.question.answerable]
    cannot = [one for one in results if not one.question.answerable]
    located = [one for one in can if one.question.gold_chunks or one.question.expected_sources]
    answered = [one for one in results if one.result.answered]
    pairs = [(c.relevance or 0.0, hit) for one in can for c, hit in zip(one.result.chunks, one.hits, strict=True)]
    confidences = [(one.result.confidence, one.question.answerable and one.right_source) for one in answered]
    return {
        "questions": len(results),
        "answerable": len(can),
        **{f"hit@{k}": _mean([one.rank <= k for one in located]) for k in (1, 5, 10)},
        "mrr@10": _mean([1 / one.rank if one.rank <= 10 else 0.0 for one in located]),
        "right chunk passes": _mean([any(one.right_passed(threshold)) for one in located]),
        "precision of what passes": _mean([right for one in results for right in one.right_passed(threshold)]),
        "false abstention": _mean([not one.result.answered for one in can]),
        "abstention": _mean([not one.result.answered for one in cannot]),
        "answer recall": _mean([one.holds_answer for one in can if one.question.answers]),
        "cited source right": _mean([one.right_source for one in located if one.result.answered]),
        "quotes verbatim": _mean(_verbatim(results)),
        "right outcome": _mean([right_outcome(one) for one in results]),
        "calibration error, pairs": rounded(calibration_error(pairs)),
        "calibration error, confidence": rounded(calibration_error(confidences)),
    }


def right_outcome(one: EvalResult) -> bool:
    """Require an answer from right sources alone, or a decline of what has no answer."""
    return (one.result.answered and one.right_source) if one.question.answerable else not one.result.answered


def calibration_error(pairs: Sequence[tuple[float, float]], bins: int = 10) -> float | None:
    """Compute the expected calibration error of (stated, happened) over equal bins (Naeini et al. 2015)."""
    gaps: dict[int, float] = defaultdict(float)
    for stated, happened in pairs:
        gaps[min(int(stated * bins), bins - 1)] += stated - happened
    return sum(map(abs, gaps.values())) / len(pairs) if pairs else None


def _verbatim(results: Sequence[EvalResult]) -> list[bool]:
    """Tell for each citation whether its quote stands at its offsets in a retrieved chunk."""
    texts = {chunk.chunk_id: chunk.text for one in results for chunk in one.result.chunks}
    cited = [one for each in results for one in each.result.citations]
    return [bool(one.quote) and texts.get(one.chunk_id, "")[one.start : one.end] == one.quote for one in cited]


def _mean(values: Sequence[float]) -> float | None:
    return rounded(sum(values) / len(values)) if values else None


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Round a rate that is known."""
    return None if value is None else round(float(value), digits)

"""The field's measures, over what was asked and what came back. Rates are in [0, 1]; a rate over nothing is None."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from app.cli.evaluation.questions import EvalQuestion
from graph.result import Result
from graph.sentences import sentence_spans


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and its ``Result``."""

    question: EvalQuestion
    result: Result

    @property
    def first_hit(self) -> int | None:
        """1-based rank of the first retrieved chunk that is gold (by chunk, else by document), or None."""
        return next((rank for rank, gold in enumerate(self.hits, 1) if gold), None)

    @property
    def hits(self) -> list[bool]:
        """For each retrieved chunk, best first, whether it is gold."""
        return [is_gold(self.question, c.chunk_id, c.document_id, c.source) for c in self.result.chunks]

    @property
    def right_source(self) -> bool:
        """Whether every citation is of a gold chunk or document, and there is one."""
        cited = [is_gold(self.question, c.chunk_id, c.document_id, c.source) for c in self.result.citations]
        return bool(cited) and all(cited)

    @property
    def holds_answer(self) -> bool:
        """Whether the answer holds, for every part, one of its accepted strings."""
        text = folded(self.result.answer or "") if self.result.answered else ""
        return bool(text) and all(any(folded(one) in text for one in part) for part in self.question.answers)


def is_gold(question: EvalQuestion, chunk_id: str, document_id: str, source: str | None) -> bool:
    """Whether a chunk is one the question names, by chunk where the file names chunks, else by document."""
    if question.gold_chunks:
        return chunk_id in question.gold_chunks
    return document_id in question.expected_sources or source in question.expected_sources


def folded(text: str) -> str:
    """Text for comparing answers: no case, no markers, no punctuation, single spaces (SQuAD's normalisation)."""
    bare = re.sub(r"\[\d+\]", " ", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(re.sub(r"[^\w\s]", " ", bare).split())


def measure(asked: Sequence[Asked], threshold: float) -> dict[str, float | int | None]:
    """Every measure by its name, in the order a question travels."""
    can = [one for one in asked if one.question.answerable]
    cannot = [one for one in asked if not one.question.answerable]
    answered = [one for one in can if one.result.answered]
    located = [one for one in can if one.question.gold_chunks or one.question.expected_sources]
    known = [one for one in can if one.question.answers]
    passed = [(one, hit) for one in asked for hit in _passed(one, threshold)]
    words = [len((one.result.answer or "").split()) for one in answered]
    precision, recall = sentence_scores([one for one in answered if one.question.gold_sentences])
    return {
        "questions": len(asked),
        "answerable": len(can),
        "hit@1": rate(located, lambda one: one.first_hit == 1),
        "hit@5": rate(located, lambda one: (one.first_hit or 99) <= 5),
        "hit@10": rate(located, lambda one: (one.first_hit or 99) <= 10),
        "mrr@10": _mean(
            [1 / one.first_hit if (one.first_hit or 99) <= 10 and one.first_hit else 0.0 for one in located]
        ),
        "ndcg@10": _mean([ndcg(one.hits[:10], len(one.question.gold_chunks) or sum(one.hits)) for one in located]),
        "right chunk passes": rate(located, lambda one: any(_passed(one, threshold))),
        "all right chunks pass": rate([o for o in can if o.question.gold_chunks], lambda one: all_pass(one, threshold)),
        "precision of what passes": rate(passed, lambda pair: pair[1]),
        "answered": rate(can, lambda one: one.result.answered),
        "false abstention": rate(can, lambda one: not one.result.answered),
        "abstention": rate(cannot, lambda one: not one.result.answered),
        "wrongly answered": rate(cannot, lambda one: one.result.answered),
        "answer recall": rate(known, lambda one: one.holds_answer),
        "words an answer": _mean(words),
        "cited source right": rate([o for o in answered if o in located], lambda one: one.right_source),
        "sentence precision": precision,
        "sentence recall": recall,
        "quotes verbatim": rate(_citations(asked), lambda pair: pair[0]),
        "right outcome": rate(asked, lambda one: right_outcome(one)),
        "calibration error, pairs": calibration_error(_pairs(asked)),
        "calibration error, confidence": calibration_error(_confidences(asked)),
    }


def all_pass(one: Asked, threshold: float) -> bool:
    """Whether every gold chunk is among those at or above *threshold*: two of them, for a question in two parts."""
    passed = {chunk.chunk_id for chunk in one.result.chunks if (chunk.relevance or 0.0) >= threshold}
    return passed.issuperset(one.question.gold_chunks)


def right_outcome(one: Asked) -> bool:
    """Declined where it must; else answered from a right source and from no wrong one."""
    return (one.result.answered and one.right_source) if one.question.answerable else not one.result.answered


def rate(rows: Iterable[object], true: Callable[..., object]) -> float | None:
    """The share of *rows* that *true* holds for."""
    return _mean([1.0 if true(row) else 0.0 for row in rows])


def ndcg(hits: Sequence[bool], relevant: int) -> float:
    """Normalised discounted cumulative gain with binary gains (Järvelin & Kekäläinen 2002)."""
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, len(hits) or 1) + 1))
    return sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit) / ideal if ideal else 0.0


def calibration_error(pairs: Sequence[tuple[float, bool]], bins: int = 10) -> float | None:
    """Expected calibration error: the mean gap of stated and found probability over *bins* of equal width
    (Naeini et al. 2015).
    """
    if not pairs:
        return None
    total = 0.0
    for low in range(bins):
        inside = [(p, hit) for p, hit in pairs if low <= p * bins < low + 1 or (p >= 1 and low == bins - 1)]
        if inside:
            total += abs(sum(p for p, _ in inside) - sum(hit for _, hit in inside))
    return round(total / len(pairs), 4)


def sentence_scores(asked: Sequence[Asked]) -> tuple[float | None, float | None]:
    """Precision and recall of the answer's sentences against the gold sentences."""
    precisions, recalls = [], []
    for one in asked:
        gold = [folded(sentence) for sentence in one.question.gold_sentences]
        text = re.sub(r"\s*\[\d+\]", "", one.result.answer or "")
        said = [folded(text[start:end]) for start, end in sentence_spans(text)]
        said = [sentence for sentence in said if sentence]
        right = [any(s in g or g in s for g in gold) for s in said]
        found = [any(s in g or g in s for s in said) for g in gold]
        precisions.append(sum(right) / len(right) if right else 0.0)
        recalls.append(sum(found) / len(found))
    return _mean(precisions), _mean(recalls)


def _passed(one: Asked, threshold: float) -> list[bool]:
    """For each chunk at or above the threshold, whether it is gold (never, for an unanswerable question)."""
    gold = zip(one.result.chunks, one.hits, strict=True)
    return [hit and one.question.answerable for chunk, hit in gold if (chunk.relevance or 0.0) >= threshold]


def _citations(asked: Sequence[Asked]) -> list[tuple[bool]]:
    texts = {chunk.chunk_id: chunk.text for one in asked for chunk in one.result.chunks}
    return [
        (texts.get(c.chunk_id, "")[c.start : c.end] == c.quote and bool(c.quote),)
        for one in asked
        for c in one.result.citations
    ]


def _pairs(asked: Sequence[Asked]) -> list[tuple[float, bool]]:
    return [
        (chunk.relevance or 0.0, hit)
        for one in asked
        if one.question.answerable
        for chunk, hit in zip(one.result.chunks, one.hits, strict=True)
    ]


def _confidences(asked: Sequence[Asked]) -> list[tuple[float, bool]]:
    return [
        (one.result.confidence, one.question.answerable and one.right_source) for one in asked if one.result.answered
    ]


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None

"""Write an answer of the chunks' own sentences, without a model (``CHAT_MODEL=extractive``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.citing.citations import without_markers
from graph.ports import Retrieved, TokenSink
from graph.relevance.calibration import Calibration
from graph.relevance.english import english_idf
from graph.relevance.extractive import Sentence, answering_sentences
from graph.relevance.thresholds import assess
from graph.sentences import sentence_spans
from graph.state import Chunk, Draft, Question, SubqueryResults

UNANSWERED = "The documents do not answer: {}"
"""Names a sub-question that got no answer, where another one did."""


@dataclass(frozen=True, slots=True)
class Extract:
    """The sentences that answer one question, in reading order, and the probability in [0, 1] that they do."""

    question: str
    sentences: tuple[Sentence, ...]
    probability: float


class ExtractiveSynthesizer:
    """Answers each sub-question with one to three sentences of one chunk that probably answers it."""

    def __init__(self, calibration: Calibration, *, each_part: bool = False) -> None:
        """With *each_part*, a chunk must pass the relevance threshold for the very sub-question it answers."""
        self._calibration = calibration
        self._each_part = each_part

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        """Return the draft over *chunks*; ``text`` is empty when no sub-question reaches ``min_confidence``.

        ``confidence`` is that of the least certain answered sub-question; when none is, that of the nearest.
        """
        least = question.relevance_threshold if self._each_part else 0.0
        extracts = [self._extract(results, chunks, least) for results in retrieved.subquery_results]
        answered = [e for e in extracts if e.sentences and e.probability >= question.min_confidence]
        if not answered:
            return Draft(text="", confidence=max((e.probability for e in extracts), default=0.0))
        written = list(_written(answered, chunks))
        if written:
            written += [f"\n\n{UNANSWERED.format(e.question)}" for e in extracts if e not in answered]
        for piece in written:
            await emit(piece)
        return Draft("".join(written), confidence=min(e.probability for e in answered) if written else 0.0)

    def _extract(self, results: SubqueryResults, chunks: Sequence[Chunk], least: float) -> Extract:
        """Answer one sub-question from the chunk that most probably holds it; where some were read, from these.

        Of near-duplicates the longest with every sentence of the answer is cited: which one matches best is chance.
        """
        passed = {chunk.chunk_id for chunk in chunks}
        candidates = [
            assessed
            for assessed in assess(results, english_idf, self._calibration)
            if assessed.chunk.chunk_id in passed and assessed.matches and assessed.relevance >= least
        ]
        candidates = [one for one in candidates if one.chunk.read] or candidates
        if not candidates:
            return Extract(results.question, (), 0.0)
        best = fullest = max(candidates, key=lambda assessed: assessed.answers)
        sentences = answering_sentences(best, results.question)
        for other in candidates:
            is_copy = other.chunk.chunk_id in best.chunk.near_duplicates
            if is_copy and all(s.text in other.chunk.text for s in sentences):
                fullest = max(fullest, other, key=lambda assessed: len(assessed.chunk.text))
        if fullest is not best:
            sentences = answering_sentences(fullest, results.question)
        return Extract(results.question, sentences, best.answers)


def _written(extracts: Iterable[Extract], chunks: Sequence[Chunk]) -> Iterable[str]:
    """Write the chosen sentences in order, each once, with their markers; white space in them is one space.

    What looks like a marker in a document is not repeated, since readers would take it for a citation.
    """
    number = {chunk.chunk_id: k for k, chunk in enumerate(chunks, start=1)}
    cited: dict[tuple[str, int], None] = {}
    for sentence in (sentence for extract in extracts for sentence in extract.sentences):
        text = " ".join(without_markers(sentence.text).split())
        for start, end in sentence_spans(text):
            cited[text[start:end], number[sentence.chunk_id]] = None
    before = ""
    for text, k in cited:
        words = text.rstrip(".!?…") or text  # the marker is put where the verified answer will have it
        apart = any(start == len(before) + 1 for start, _ in sentence_spans(f"{before} {text}"))
        gap = "" if not before else " " if apart else "\n\n"  # so that the two stay two sentences
        yield f"{gap}{words} [{k}]{text[len(words) :]}"
        before = text

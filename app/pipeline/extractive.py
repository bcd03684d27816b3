"""The synthesizer without a model: the answer is made of the chunks' own sentences (``CHAT_MODEL=extractive``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graph.citing.citations import without_markers
from graph.ports import Retrieved, TokenSink
from graph.relevance.calibration import Calibration
from graph.relevance.english import english_idf
from graph.relevance.extractive import Extract, extract_from
from graph.relevance.thresholds import Assessment, assess
from graph.sentences import sentence_spans
from graph.state import Chunk, Draft, Question, SubqueryResults

UNANSWERED = "The documents do not answer: {}"
"""What is said of a part of a question that got no answer, where another part did."""


class ExtractiveSynthesizer:
    """Answers each part of a question with one to three sentences of one chunk, where gate two is cleared."""

    def __init__(self, calibration: Calibration, *, each_part: bool = False) -> None:
        """With *each_part* a chunk must be relevant to the very part it answers, by the question's threshold.

        Gate one has spoken for the question as a whole; where it used the local relevance, this asks it once more.
        """
        self._calibration = calibration
        self._each_part = each_part

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        """Return the draft over *chunks*; ``text`` is empty when no part clears gate two. Raises nothing of its own.

        ``confidence`` is that of the least certain part that is answered; when none is, of the one that came nearest.
        """
        least = question.relevance_threshold if self._each_part else 0.0
        extracts = [self._answer(reading, chunks, least) for reading in retrieved.subquery_results]
        answered = [e for e in extracts if e.sentences and e.probability >= question.min_confidence]
        if not answered:
            return Draft(text="", confidence=max((e.probability for e in extracts), default=0.0))
        text = before = ""
        for sentence, marker in _cited(answered, chunks):
            said = sentence.rstrip(".!?…") or sentence  # the marker stands where the checked answer will have it
            piece = f"{_gap(before, sentence)}{said} {marker}{sentence[len(said) :]}"
            await emit(piece)
            text += piece
            before = sentence
        for extract in extracts if text else ():
            if extract not in answered:
                said = f"\n\n{UNANSWERED.format(extract.question)}"
                await emit(said)
                text += said
        return Draft(text=text, confidence=min(e.probability for e in answered) if text else 0.0)

    def _answer(self, reading: SubqueryResults, chunks: Sequence[Chunk], least: float) -> Extract:
        """The answer to one part, from the chunk among *chunks* that most probably holds it.

        Where some of them were read, only these may answer.
        """
        passed = {chunk.chunk_id for chunk in chunks}
        candidates = [
            assessed
            for assessed in assess(reading, english_idf, self._calibration)
            if assessed.chunk.chunk_id in passed and assessed.matches and assessed.relevance >= least
        ]
        candidates = [one for one in candidates if one.chunk.read] or candidates
        if not candidates:
            return Extract(reading.question, (), 0.0)
        best = max(candidates, key=lambda assessed: assessed.answers)
        found = extract_from(best, reading.question)
        fullest = _fullest(best, found, candidates)
        if fullest is best:
            return found
        return replace(extract_from(fullest, reading.question), probability=best.answers)


def _fullest(best: Assessment, found: Extract, candidates: Iterable[Assessment]) -> Assessment:
    """*best*, or the longest near-duplicate of it that has every sentence *found* there too.

    Of two copies of a text it is chance which one matches better; the one that was cut short may lack what comes next.
    """
    near_duplicates = [
        other
        for other in candidates
        if other.chunk.chunk_id in best.chunk.near_duplicates
        and all(s.text in other.chunk.text for s in found.sentences)
    ]
    return max([best, *near_duplicates], key=lambda assessed: len(assessed.chunk.text))


def _cited(extracts: Iterable[Extract], chunks: Sequence[Chunk]) -> list[tuple[str, str]]:
    """The chosen sentences in order, each once, with their markers; white space in them is one space.

    What looks like a marker in a document is not repeated, or a reader would take it for one of ours.
    """
    place = {chunk.chunk_id: k for k, chunk in enumerate(chunks, start=1)}
    out: dict[tuple[str, str], None] = {}
    for found in extracts:
        for sentence in found.sentences:
            text = " ".join(without_markers(sentence.text).split())
            for start, end in sentence_spans(text):
                out[text[start:end], f"[{place[sentence.chunk_id]}]"] = None
    return list(out)


def _gap(before: str, after: str) -> str:
    """What parts two sentences: a space where the sentence splitter then still sees two, else a blank line."""
    if not before:
        return ""
    still_two = any(start == len(before) + 1 for start, _ in sentence_spans(f"{before} {after}"))
    return " " if still_two else "\n\n"

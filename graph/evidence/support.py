"""Evidence: which stretch of a chunk carries a sentence of the answer, and how well.

Support is 1 for a verbatim quote. Otherwise it is made of the share of words that the quote has too and, where a
scorer is bound, of closeness in meaning; a sentence that says something else than its quote (see ``contradiction``)
stays below the bar whatever it shares with it. The constants are measured: ``docs/evidence.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graph.evidence.claims import claim_of
from graph.evidence.contradiction import Reason, Surroundings, contradiction, torn
from graph.evidence.verbatim import verbatim_spans
from graph.evidence.wording import LEAST_WORDING, likely, stretches, title_of, words_of
from graph.sentences import Span, sentence_spans
from graph.state import Chunk

SUPPORT_BAR = 0.55
"""Least support of a citation that is kept."""

CLEAR_SUPPORT = 0.75
"""Least support for a marker the model did not set itself (``ATTRIBUTION=verified``)."""

CONTRADICTED = 0.2
"""Most support of a sentence that says something else than its quote."""

DECIDED = 0.8
"""Share of a sentence's words in its quote from which wording alone decides, without a look at the meaning."""

ALIKE = 0.6
"""Share of words from which a sentence is laid word by word on its quote, to see what was exchanged."""

CLOSE, FAR = 0.95, 0.4
"""Sentence cosines of all-MiniLM-L6-v2 at which two sentences say the same, and are unrelated."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a chunk, ``text == chunk.text[start:end]``, and how well it carries one sentence.

    ``wording`` in [0, 1] is the share of the sentence's words that it has. ``against`` says why the sentence is not
    what the quote says; None where nothing speaks against it.
    """

    chunk_id: str
    start: int
    end: int
    text: str
    wording: float
    against: Reason | None = None
    verbatim: bool = False
    support: float = 0.0

    @property
    def undecided(self) -> bool:
        """Whether closeness in meaning can move it across the bar."""
        return not self.verbatim and self.against is None and LEAST_WORDING <= self.wording < DECIDED


def quotes(sentence: str, chunk: Chunk, given: Collection[str] = (), most: int = 2) -> list[Quote]:
    """The *most* likely quotes of *chunk* for *sentence*, best first, by wording alone.

    A quote is one sentence of the chunk, or two neighbours where the answer joins them. *given* are the stems of the
    question: what it says need not be said again. Empty for a chunk or a sentence without words.
    """
    spans = chunk.spans or sentence_spans(chunk.text)
    wanted = words_of(sentence)
    if not wanted or not spans:
        return []
    known = frozenset(given)
    exact = _verbatim(sentence, chunk, spans, known)
    if exact and exact.against is None:
        return [exact]
    title = title_of(chunk)
    found = sorted(stretches(wanted, words_of(title), chunk.text, spans), key=lambda stretch: (-stretch[0], stretch[1]))
    claim = claim_of(sentence)
    out: list[Quote] = [exact] if exact else []
    for rank, start, end, wording in found[:most]:
        if out and rank < out[0].wording - 0.2:
            break
        around = Surroundings(chunk, title, chunk.text[:start], known)
        against = contradiction(claim, claim_of(chunk.text[start:end]), around, alike=wording >= ALIKE)
        out.append(Quote(chunk.chunk_id, start, end, chunk.text[start:end], wording, against))
        if against is None and wording >= DECIDED:
            break
    return sorted(out, key=lambda quote: (quote.against is not None, -quote.wording))


def supported(quote: Quote, similarity: float | None) -> float:
    """The support of *quote* in [0, 1], given the cosine of sentence and quote (None: by wording alone)."""
    if quote.verbatim and quote.against is None:
        return 1.0
    score = quote.wording
    if similarity is not None and quote.undecided:
        meaning = min(1.0, max(0.0, (similarity - FAR) / (CLOSE - FAR)))
        score = (quote.wording + meaning) / 2
    return round(score if quote.against is None else min(score, CONTRADICTED), 4)


def best_by_wording(sentence: str, chunks: Sequence[Chunk], given: Collection[str] = ()) -> float:
    """The support of *sentence* by the one of *chunks* that has most of its words, without a look at the meaning."""
    wanted = words_of(sentence)
    if not wanted:
        return 0.0
    near = likely(sentence, chunks)[:1]
    return max((supported(quote, None) for chunk in near for quote in quotes(sentence, chunk, given, 1)), default=0.0)


def _verbatim(sentence: str, chunk: Chunk, spans: Sequence[Span], given: frozenset[str]) -> Quote | None:
    """The sentences of the chunk that hold *sentence* letter for letter; of a fragment, the best such place."""
    best: Quote | None = None
    for begin, stop in verbatim_spans(sentence, chunk.text):
        touched = [span for span in spans if span[0] < stop and begin < span[1]]
        start, end = (touched[0][0], touched[-1][1]) if touched else (begin, stop)
        whole = chunk.text[start:end]
        against = None
        if stop - begin < len(whole.rstrip(".!?… ")):
            against = torn(claim_of(sentence), claim_of(whole), given)
        quote = Quote(chunk.chunk_id, start, end, whole, 1.0, against, verbatim=True)
        if best is None or (_rank(quote, given) > _rank(best, given)):
            best = quote
    return best


def _rank(quote: Quote, given: frozenset[str]) -> tuple[bool, int]:
    """Which of the places of a fragment is meant: one that says it whole, and that the question is about."""
    return quote.against is None, len(words_of(quote.text) & given)

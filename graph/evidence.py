"""Evidence: which sentence of a chunk carries a sentence of the answer, and how well.

Support is 1 for a verbatim quote. Otherwise it is the mean of word coverage and, where a scorer is bound, closeness in
meaning; a sentence that changes a number, a name or a negation of its quote stays below the bar whatever it shares
with it (contract, "Markers").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.claims import Claim, claim_of, numbers_of
from graph.sentences import sentence_spans
from graph.state import Chunk
from graph.terms import stems

SUPPORT_BAR = 0.5
"""Least support of a citation that is kept."""

CLEAR_SUPPORT = 0.75
"""Least support for a marker the model did not set itself (``ATTRIBUTION=verified``)."""

CONTRADICTED = 0.2
"""Most support of a sentence whose numbers, names or negations its quote does not have."""

_PRONOUNS = frozenset("he she it they his her its their this these that those".split())
_CLOSE, _FAR = 0.9, 0.3
"""Sentence cosines of all-MiniLM-L6-v2 at which two sentences say the same, and are unrelated."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a chunk, ``text == chunk.text[start:end]``, and its support for one sentence, in [0, 1]."""

    chunk_id: str
    start: int
    end: int
    text: str
    support: float
    consistent: bool = True
    verbatim: bool = False


def quotes(sentence: str, chunk: Chunk, most: int = 2) -> list[Quote]:
    """The *most* likely quotes of *chunk* for *sentence*, best first, by wording alone.

    A quote is one sentence of the chunk, or two neighbours where the answer joins them. Empty for a chunk or a
    sentence without words.
    """
    spans = chunk.spans or sentence_spans(chunk.text)
    claim = claim_of(sentence)
    if not claim.stems or not spans:
        return []
    exact = _verbatim(sentence, chunk, spans)
    if exact:
        return [exact]
    title = frozenset(stems(f"{chunk.title} {chunk.chapter or ''} {chunk.section or ''}"))
    found = []
    for i, (start, end) in enumerate(spans):
        stretches = [(start, end)] + ([(start, spans[i + 1][1])] if i + 1 < len(spans) else [])
        for begin, stop in stretches:
            coverage = _coverage(claim, chunk.text[begin:stop], title)
            found.append((coverage - (0.05 if stop != end else 0.0), begin, stop, coverage))
    found.sort(key=lambda item: (-item[0], item[1]))
    return [
        Quote(
            chunk.chunk_id,
            begin,
            stop,
            chunk.text[begin:stop],
            support=coverage,
            consistent=_consistent(sentence, claim, chunk, begin, stop, title),
        )
        for _, begin, stop, coverage in found[:most]
    ]


def supported(quote: Quote, similarity: float | None) -> float:
    """The support of *quote*, given the cosine of sentence and quote (None: by wording alone)."""
    if quote.verbatim:
        return 1.0
    coverage = quote.support
    if similarity is not None:
        meaning = min(1.0, max(0.0, (similarity - _FAR) / (_CLOSE - _FAR)))
        coverage = (coverage + meaning) / 2
    score = coverage if quote.consistent else min(coverage, CONTRADICTED)
    return round(score, 4)


def _coverage(claim: Claim, quote: str, title: frozenset[str]) -> float:
    """Share of the claim's content words that the quote, or failing that the title, has."""
    there = frozenset(stems(quote))
    found = sum(1.0 if s in there else 0.8 if s in title else 0.0 for s in claim.stems)
    return found / len(claim.stems)


def _verbatim(sentence: str, chunk: Chunk, spans: tuple[tuple[int, int], ...]) -> Quote | None:
    """The sentences of the chunk that hold *sentence* letter for letter, white space aside."""
    pattern = r"\s+".join(re.escape(word) for word in sentence.split())
    found = re.search(pattern, chunk.text) if len(sentence) <= len(chunk.text) + 64 else None
    if not found:
        return None
    touched = [span for span in spans if span[0] < found.end() and found.start() < span[1]]
    start, end = (touched[0][0], touched[-1][1]) if touched else found.span()
    if len(touched) == 1 and not _same_polarity(sentence, chunk.text[start:end]):
        return None
    return Quote(chunk.chunk_id, start, end, chunk.text[start:end], support=1.0, verbatim=True)


def _same_polarity(sentence: str, quote: str) -> bool:
    """A fragment torn from a denial ("X is safe" out of "It is not true that X is safe") is not the same claim."""
    return not (claim_of(quote).denied & claim_of(sentence).stems) - claim_of(sentence).denied


def _consistent(sentence: str, claim: Claim, chunk: Chunk, begin: int, stop: int, title: frozenset[str]) -> bool:
    """Whether the quote has every number and name of the claim, and denies what it denies."""
    text = chunk.text[begin:stop]
    quote = claim_of(text)
    context = quote.stems | title
    opens = re.match(r"\W*(\w+)", text)
    if opens and opens[1].lower() in _PRONOUNS:  # "It was built in 1889": who "it" is stands further up
        context |= frozenset(stems(chunk.text[:begin]))
    if not claim.numbers <= quote.numbers | numbers_of(chunk.title):
        return False
    if not claim.names <= context:
        return False
    if claim.opening and claim.opening not in context and len(claim.stems) > 1:
        rest = claim.stems - {claim.opening}
        if len(rest & context) / len(rest) > 0.8:  # all but its subject is in the quote: the subject was changed
            return False
    denied = claim.denied & quote.stems
    return denied <= quote.denied and not (quote.denied & claim.stems) - claim.denied

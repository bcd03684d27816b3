"""Evidence: which stretch of a chunk carries a sentence of the answer, and how probable it is that it does.

A verbatim quote has support 1. Otherwise support is the probability, read by the entailment head of the reader, that
the quote and what stands around it say what the sentence says; where there is no reader, the share of words that the
quote has too. A changed amount or name, or a near copy with one word turned, is below the bar whatever the reader says
(``amounts``, ``edits``). The constants are measured: ``docs/evidence.md``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from graph.evidence.amounts import unmatched
from graph.evidence.edits import Edit, edit_of, is_copy, is_ordered
from graph.evidence.verbatim import verbatim_spans
from graph.evidence.wording import stretches, title_of, words_of
from graph.ports import Passage
from graph.sentences import Span, sentence_spans
from graph.state import Chunk, ReadPassage
from graph.terms import is_content, stem

SUPPORT_BAR = 0.5
"""Least support of a citation that is kept."""

CLEAR_SUPPORT = 0.8
"""Least support for a marker the model did not set itself (``ATTRIBUTION=verified``)."""

CONTRADICTED = 0.2
"""Most support of a sentence that states another amount or name than its quote, or turns a word of it."""

SCALE, BIAS = 0.93, 0.35
"""Support of what is read: Platt's scaling of the reader's logit."""
COPY = 1.5
"""Added for a near copy in which no change was found. Chosen on written answers: ``docs/evidence.md``."""
WORDING_BAR, WORDING_STEEPNESS = 0.75, 12.0
"""Support where nothing is read: the share of words at which it is one half, and how fast it rises there."""

AROUND = 2
"""Sentences before and after a quote that are read with it."""
LONGEST_READ = 900
"""Characters read for one sentence."""

_NAME = re.compile(r"(?<=[\w,;] )(?:[A-Z][\w'’-]*)(?: [A-Z][\w'’-]*)*|`[^`\n]+`|\b\w+(?:_\w+)+\b|--\w[\w-]*")
_WORD = re.compile(r"[\w']+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a chunk, ``text == chunk.text[start:end]``, and how well it carries one sentence.

    ``wording`` in [0, 1] is the share of the sentence's words that it has. ``against`` says why the sentence is not
    what the quote says; None where nothing speaks against it. ``passage`` is what is read for it, ``spans`` where its
    sentences are in the chunk.
    """

    chunk_id: str
    start: int
    end: int
    text: str
    wording: float
    against: Literal["amount"] | Edit | None = None
    verbatim: bool = False
    copy: bool = False
    support: float = 0.0
    passage: Passage | None = None
    spans: tuple[Span, ...] = ()

    @property
    def undecided(self) -> bool:
        """Whether the reader can move it across the bar."""
        return not self.verbatim and self.against is None


def quotes(sentence: str, chunk: Chunk, given: Collection[str] = (), most: int = 1) -> list[Quote]:
    """The *most* likely quotes of *chunk* for *sentence*, best first, by wording alone.

    A quote is one sentence of the chunk, or two neighbours where the answer joins them. *given* are the stems of the
    question: what it says need not be said again. Empty for a chunk or a sentence without words.
    """
    spans = chunk.spans or sentence_spans(chunk.text)
    wanted = words_of(sentence)
    if not wanted or not spans:
        return []
    exact = _verbatim(sentence, chunk, spans, frozenset(given))
    if exact is not None:
        return [exact]
    title = title_of(chunk)
    found = sorted(stretches(wanted, words_of(title), chunk.text, spans), key=lambda one: (-one[0], one[1]))
    return [_quote(sentence, chunk, spans, one, title, given) for one in found[:most]]


def _quote(
    sentence: str,
    chunk: Chunk,
    spans: Sequence[Span],
    stretch: tuple[float, int, int, float],
    title: str,
    given: Collection[str],
) -> Quote:
    _, start, end, wording = stretch
    touched = [n for n, span in enumerate(spans) if span[0] < end and start < span[1]]
    first, last = touched[0], touched[-1]
    while last - first < 2 * AROUND + 1:
        grown = [n for n in (first - 1, last + 1) if 0 <= n < len(spans) and abs(n - touched[0]) <= AROUND + 1]
        grown = [n for n in grown if spans[max(last, n)][1] - spans[min(first, n)][0] <= LONGEST_READ]
        if not grown:
            break
        first, last = min(first, *grown), max(last, *grown)
    near = spans[first : last + 1]
    text, window = chunk.text[start:end], chunk.text[near[0][0] : near[-1][1]]
    about = words_of(window) | words_of(title)
    against: Literal["amount"] | Edit | None = _against(sentence, text, about, given)
    if against is None and unmatched(sentence, (window, title, " ".join(given))):
        against = "amount"
    if against is None and _stranger(sentence, f"{title} {chunk.text}", given):
        against = "name"
    names = " > ".join(dict.fromkeys(name for name in (chunk.title, chunk.section) if name))
    passage = Passage(names, tuple(chunk.text[begin:stop] for begin, stop in near))
    copy = against is None and is_copy(sentence, text)
    return Quote(chunk.chunk_id, start, end, text, wording, against, copy=copy, passage=passage, spans=tuple(near))


def _against(sentence: str, text: str, about: Collection[str], given: Collection[str]) -> Edit | None:
    return "order" if is_ordered(sentence, text) else edit_of(sentence, text, about, given)


def supported(quote: Quote, read: ReadPassage | None) -> float:
    """The support of *quote* in [0, 1], given what was read of its passage (None: by wording alone)."""
    if quote.verbatim and quote.against is None:
        return 1.0
    if quote.against is not None:
        return min(quote.wording, CONTRADICTED)
    logit = (
        SCALE * read.supported + BIAS + COPY * quote.copy if read else WORDING_STEEPNESS * (quote.wording - WORDING_BAR)
    )
    return round(1.0 / (1.0 + math.exp(-logit)), 4)


def _stranger(sentence: str, text: str, given: Collection[str]) -> bool:
    """Whether *sentence* names, inside of it, what stands nowhere in *text*: a capitalised word, an option, a code."""
    there = {stem(word) for word in _WORD.findall(text.lower())} | set(given)
    flat = text.lower()
    for found in _NAME.finditer(sentence):
        name = found[0].strip("`")
        if name.lower() in flat:
            continue
        parts = [word for word in _WORD.findall(name) if is_content(word.lower())]
        initials = "".join(word[0] for word in parts).lower()
        if (
            any(stem(word.lower()) not in there and not _initials(word, text) for word in parts)
            and initials not in there
        ):
            return True
    return False


def _initials(word: str, text: str) -> bool:
    """Whether *word* is an acronym of capitalised words of *text*."""
    if not word.isupper() or len(word) < 2:
        return False
    return bool(re.search(r"\b" + r"\w*[\s-]+(?:(?:of|the|and|for|to|in) )?".join(word.lower()) + r"\w*", text.lower()))


def _verbatim(sentence: str, chunk: Chunk, spans: Sequence[Span], given: frozenset[str]) -> Quote | None:
    """The sentences of the chunk that hold *sentence* letter for letter; of a fragment, the best such place."""
    best: Quote | None = None
    for begin, stop in verbatim_spans(sentence, chunk.text):
        touched = [span for span in spans if span[0] < stop and begin < span[1]]
        start, end = (touched[0][0], touched[-1][1]) if touched else (begin, stop)
        whole = chunk.text[start:end]
        against = None
        if stop - begin < len(whole.rstrip(".!?… ")):
            against = _against(sentence, whole, (), given)
        quote = Quote(chunk.chunk_id, start, end, whole, 1.0, against, verbatim=True)
        if best is None or (_rank(quote, given) > _rank(best, given)):
            best = quote
    return best


def _rank(quote: Quote, given: frozenset[str]) -> tuple[bool, int]:
    """Which of the places of a fragment is meant: one that says it whole, and that the question is about."""
    return quote.against is None, len(words_of(quote.text) & given)

"""Lexical overlap: where a sentence stands in a chunk word for word, and how many of its words a stretch has."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from graph.sentences import Span, sentence_spans
from graph.state import Chunk
from graph.terms import stems

LEAST_OVERLAP = 0.2
"""Share of words below which a chunk is not searched for a quote."""

_ENOUGH, _JOINED = 0.75, 0.05
"""Two neighbours are quoted together where neither alone reaches the first and both are better by the second."""

_MOST_POSITIONS = 20
"""Positions of a short fragment that are compared."""

_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,80}>")
_SIGNS = str.maketrans({"%": " percent ", "$": " dollar ", "€": " euro ", "£": " pound ", "&": " and "})


def verbatim_spans(sentence: str, text: str) -> list[Span]:
    """Find *sentence* in *text* word for word, apart from white space and its closing mark.

    No word or number is cut in two: "42" is not found in "1942" or "42.5".
    """
    wanted, flat = " ".join(sentence.split()), " ".join(text.split())
    for form in dict.fromkeys((wanted, wanted.rstrip(".!?… "))):
        if form and form in flat:
            words = r"\s+".join(map(re.escape, form.split(" ")))
            before = r"(?<![^\W_])" * form[0].isalnum() + r"(?<!\d[.,])(?<![-−])" * form[0].isdigit()
            after = r"(?![^\W_])" * form[-1].isalnum() + r"(?![.,]\d|%)" * form[-1].isdigit()
            if found := [m.span() for m in islice(re.finditer(before + words + after, text), _MOST_POSITIONS)]:
                return found
    return []


def stretches(wanted: frozenset[str], text: str, spans: Sequence[Span]) -> list[tuple[float, int, int, float]]:
    """List (rank, start, end, overlap) of every sentence, and of neighbours that are better together."""
    found: list[tuple[float, int, int, float]] = []
    words = [words_of(text[start:end]) for start, end in spans]
    alone = [overlap(wanted, own) for own in words]
    for i, (start, end) in enumerate(spans):
        found.append((alone[i], start, end, alone[i]))
        if i + 1 < len(spans) and (best := max(alone[i : i + 2])) < _ENOUGH:
            both = overlap(wanted, words[i] | words[i + 1])
            if both > best + _JOINED:
                found.append((both - _JOINED, start, spans[i + 1][1], both))
    return found


def overlap(wanted: frozenset[str], words: frozenset[str]) -> float:
    """Return the share in [0, 1] of *wanted* found in *words*."""
    return len(wanted & words) / len(wanted) if wanted else 0.0


def plain(text: str) -> str:
    """Remove accents, zero-width characters and tags from *text*, and straighten its apostrophes."""
    text = _TAG.sub(" ", text)
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text.replace("’", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in letters if unicodedata.category(c) not in ("Mn", "Cf")))


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """Return the stems of the content words of *text*, numbers without their commas."""
    return frozenset(stem.replace(",", "") for stem in stems(plain(text).translate(_SIGNS)))


def likely(sentence: str, chunks: Sequence[Chunk], most: int) -> list[Chunk]:
    """Return at most *most* of *chunks*, those with most words of *sentence* first."""
    wanted = words_of(sentence)
    overlaps = [overlap(wanted, _chunk_words(chunk)) for chunk in chunks]
    order = sorted(range(len(chunks)), key=lambda k: -overlaps[k])
    return [chunks[k] for k in order if overlaps[k] >= LEAST_OVERLAP][:most]


def _chunk_words(chunk: Chunk) -> frozenset[str]:
    spans = chunk.spans or sentence_spans(chunk.text)
    return words_of(title_of(chunk)).union(*(words_of(chunk.text[start:end]) for start, end in spans))


def title_of(chunk: Chunk) -> str:
    """Join the chunk's title, chapter and section."""
    return " | ".join(dict.fromkeys(part for part in (chunk.title, chunk.chapter, chunk.section) if part))

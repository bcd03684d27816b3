"""How many words of a sentence a stretch of a chunk has: cheap, and enough to find where to look."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from graph.sentences import Span, sentence_spans
from graph.state import Chunk
from graph.terms import stems

LEAST_WORDING = 0.2
"""Share of words below which a chunk is not looked into: the topic may be the same, the claim is not."""

_IN_TITLE = 0.8
"""What a word counts that stands over the chunk and not in the quote."""

_ENOUGH = 0.75
"""Share of words from which one sentence is the source; what it lacks is not to be sought in its neighbour."""

_JOINED = 0.05
"""How much better two neighbouring sentences must be than one of them."""

_RELATIVE = frozenset("what when where which who whom whose whi how while wherea although though".split())
"""Stems of words that join clauses; they are no more than that in a statement."""

_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,80}>")
_SIGNS = str.maketrans({"%": " percent ", "$": " dollar ", "€": " euro ", "£": " pound ", "&": " and "})


def stretches(
    wanted: frozenset[str], title: frozenset[str], text: str, spans: Sequence[Span]
) -> list[tuple[float, int, int, float]]:
    """(rank, start, end, share of words) of every sentence, and of every two neighbours that are better together."""
    found: list[tuple[float, int, int, float]] = []
    there = [words_of(text[start:end]) for start, end in spans]
    for i, (start, end) in enumerate(spans):
        alone = share(wanted, there[i], title)
        found.append((alone, start, end, alone))
        if i + 1 < len(spans):
            both = share(wanted, there[i] | there[i + 1], title)
            best = max(alone, share(wanted, there[i + 1], title))
            if best < _ENOUGH and both > best + _JOINED:
                found.append((both - _JOINED, start, spans[i + 1][1], both))
    return found


def share(wanted: frozenset[str], there: frozenset[str], title: frozenset[str]) -> float:
    """Share in [0, 1] of the words *wanted* that are *there*; one that only the *title* has counts less."""
    own = len(wanted & there)
    return (own + _IN_TITLE * len((wanted - there) & title)) / len(wanted)


def plain(text: str) -> str:
    """*text* without accents, zero-width characters and the tags of markup, its apostrophes straight."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text.replace("’", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in letters if unicodedata.category(c) not in ("Mn", "Cf")))


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """The stems of the content words of *text*; numbers with a point or comma in one writing."""
    return frozenset(stem.replace(",", "") for stem in stems(plain(text).translate(_SIGNS))) - _RELATIVE


def nearest(clause: str, chunks: Sequence[Chunk]) -> tuple[str, int] | None:
    """The sentence among *chunks* that has most words of *clause*, as chunk id and start; None when none has any."""
    wanted = words_of(clause)
    found = [
        (len(wanted & words_of(chunk.text[start:end])), -k, -start, chunk.chunk_id)
        for k, chunk in enumerate(chunks)
        for start, end in chunk.spans or sentence_spans(chunk.text)
    ]
    most, _, start, chunk_id = max(found, default=(0, 0, 0, ""))
    return (chunk_id, -start) if most else None


def likely(sentence: str, chunks: Sequence[Chunk], least: float = LEAST_WORDING) -> list[Chunk]:
    """Those of *chunks* that have at least the share *least* of the words of *sentence*, most of them first."""
    wanted = words_of(sentence)
    shares = [share(wanted, _held(chunk), frozenset()) if wanted else 0.0 for chunk in chunks]
    order = sorted(range(len(chunks)), key=lambda k: (-shares[k], k))
    return [chunks[k] for k in order if shares[k] >= least]


def _held(chunk: Chunk) -> frozenset[str]:
    """The words of *chunk* and of what stands over it."""
    spans = chunk.spans or sentence_spans(chunk.text)
    return words_of(title_of(chunk)).union(*(words_of(chunk.text[start:end]) for start, end in spans))


def title_of(chunk: Chunk) -> str:
    """What stands over the chunk: title, chapter, section."""
    return " | ".join(dict.fromkeys(part for part in (chunk.title, chunk.chapter, chunk.section) if part))

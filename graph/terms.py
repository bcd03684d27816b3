"""Words that carry meaning, their stems, and how much of a question a text covers."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import Stemmer

Idf = Callable[[str], float]
"""Inverse document frequency of a stem: larger for rarer stems, never negative."""

LOOSE_CREDIT = 0.6
"""What a word of the same opening counts for, against 1 for the same stem."""
_OPENING, OPEN = 6, "~"

MOST_KEYWORDS = 6
"""A query of so many words asks, whatever its form."""

_WORD = re.compile(r"\w+(?:[.,]\d+)*", re.UNICODE)

# Closed word classes of English: articles, prepositions, pronouns, auxiliaries, conjunctions, adverbs of degree.
_STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being below between
    both but by can cannot could d did do does doing down during each few for from further had has have having he her
    here hers herself him himself his i if in into is it its itself just ll m may me might more most must my myself no
    nor not now of off on once only or other our ours ourselves out over own re s same shall she should so some such t
    than that the their theirs them themselves then there these they this those through to too under until up upon us
    ve very was we were will with within without would you your yours yourself yourselves
    """.split()
)
# Words that say what kind of answer is wanted, or that a person wants one; the passage seldom repeats them.
_QUESTION_WORDS = frozenset(
    """
    what when where which who whom whose why how many much often long far kind type sort
    tell describe explain please list give name know
    """.split()
)

_AUXILIARIES = frozenset(
    "is are was were do does did can could may might must shall should will would has have had".split()
)
_REQUESTS = frozenset("define identify compare discuss summarize summarise find show state outline".split())


def asks(question: str) -> bool:
    """Whether *question* asks: by a question mark, a question or request word, or a verb that opens it; or in keywords.

    A text of at most `MOST_KEYWORDS` words is a query in keywords. A longer one without the form of a question is
    prose, or a title with its subtitle, that wants no answer.
    """
    found = words(question)
    opens = bool(found) and found[0] in _AUXILIARIES | _REQUESTS
    return "?" in question or opens or len(found) <= MOST_KEYWORDS or not _QUESTION_WORDS.isdisjoint(found)


def asks_whether(question: str) -> bool:
    """Whether *question* asks for yes or no: an auxiliary verb opens it."""
    return not _AUXILIARIES.isdisjoint(words(question)[:1])


def words(text: str) -> list[str]:
    """Case-folded words of *text* in order; a number keeps its inner points and commas (``3.5``, ``1,200``)."""
    return _WORD.findall(text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold())


def is_content(word: str) -> bool:
    """Whether *word* is neither a stop word nor a question word."""
    return word not in _STOP_WORDS and word not in _QUESTION_WORDS


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Snowball English ("Porter2") stem of one case-folded word."""
    # A Stemmer object is not thread-safe and cheap to make; the cache makes that once per word.
    return str(Stemmer.Stemmer("english", 0).stemWord(word))


def stems(text: str) -> tuple[str, ...]:
    """Stems of the content words of *text*, in order, repeats kept."""
    return tuple(stem(word) for word in words(text) if word not in _STOP_WORDS)


def question_stems(question: str) -> tuple[str, ...]:
    """Distinct stems of what *question* is about, in order.

    Question words are left out; a question made of nothing else keeps them, so the result is empty only when
    *question* has no word at all.
    """
    found = words(question)
    content = [w for w in found if is_content(w)]
    kept = content or [w for w in found if w not in _STOP_WORDS] or found
    return tuple(dict.fromkeys(stem(w) for w in kept))


@lru_cache(maxsize=1 << 12)  # grading and synthesis look at the same sentences
def vocabulary(text: str) -> frozenset[str]:
    """What `Wanted.coverage` looks a stem up in: the stems of *text*, and the openings of the longer ones."""
    return frozenset().union(*map(_entries, words(text)))


@lru_cache(maxsize=1 << 16)
def _entries(word: str) -> tuple[str, ...]:
    """What one word adds to a vocabulary; a stop word nothing."""
    if word in _STOP_WORDS:
        return ()
    found = stem(word)
    return (found, opening_of(found)) if len(found) >= _OPENING else (found,)


def opening_of(found: str) -> str:
    """The opening of a stem as `vocabulary` writes it; a short stem is its own."""
    return found[:_OPENING] + OPEN if len(found) >= _OPENING else found


IDLE_STEMS = frozenset(map(stem, _STOP_WORDS | _QUESTION_WORDS))
"""The stems of words that a passage need not repeat."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The stems of a question, the opening of each as `vocabulary` writes it, and its share of their idf.

    ``entries`` are all of these stems and openings: the only part of a vocabulary that `coverage` looks at.
    """

    shares: tuple[tuple[str, str, float], ...]
    entries: frozenset[str]

    @classmethod
    def of(cls, shares: Iterable[tuple[str, float]]) -> Self:
        """From stems and their shares."""
        opened = tuple((one, opening_of(one), share) for one, share in shares)
        return cls(opened, frozenset(entry for one, opening, _ in opened for entry in (one, opening)))

    def coverage(self, present: Collection[str]) -> float:
        """Share in [0, 1] of the question's idf that a `vocabulary` holds.

        A stem that is missing but opens like a word that is there ("septicemia", "septicemic") counts by
        `LOOSE_CREDIT`.
        """
        total = 0.0
        for stem_, opening, share in self.shares:
            if stem_ in present:
                total += share
            elif opening in present:
                total += LOOSE_CREDIT * share
        return total


def wanted(question: str, idf: Idf) -> QueryTerms:
    """What *question* looks for, weighted by *idf*."""
    found = question_stems(question)
    weights = [idf(s) for s in found]
    total = sum(weights) or 1.0
    return QueryTerms.of((s, weight / total) for s, weight in zip(found, weights, strict=True))


def document_idf(documents: int, frequencies: Counter[str]) -> Idf:
    """BM25 idf from the number of *documents* and, per stem, the number of documents that hold it."""

    def idf(wanted: str) -> float:
        held = frequencies[wanted]
        return math.log(1.0 + (documents - held + 0.5) / (held + 0.5))

    return idf

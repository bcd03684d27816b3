"""Words that carry meaning, their stems, and how much of a question a text covers."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache

import Stemmer

Idf = Callable[[str], float]
"""Inverse document frequency of a stem: larger for rarer stems, never negative."""

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


def words(text: str) -> list[str]:
    """Case-folded words of *text* in order; a number keeps its inner points and commas (``3.5``, ``1,200``)."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def is_content(word: str) -> bool:
    """Whether *word* is neither a stop word nor a question word."""
    return word not in _STOP_WORDS and word not in _QUESTION_WORDS


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Snowball English ("Porter2") stem of one case-folded word."""
    # A Stemmer object is not thread-safe and cheap to make; the cache makes that once per word.
    return Stemmer.Stemmer("english", 0).stemWord(word)


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


def coverage(wanted: Sequence[str], present: Collection[str], idf: Idf) -> float:
    """Share in [0, 1] of the idf of the *wanted* stems that occurs in *present*; 0 when nothing is wanted."""
    total = sum(idf(s) for s in wanted)
    if total <= 0.0:
        return 0.0
    return sum(idf(s) for s in wanted if s in present) / total


def candidate_idf(texts: Iterable[str]) -> Idf:
    """Idf from the candidate *texts* alone, for when the collection's statistics are out of reach.

    The form is BM25's, ``ln(1 + (N - n + .5) / (n + .5))`` (Robertson and Zaragoza, 2009).
    """
    sets = [frozenset(stems(text)) for text in texts]
    counts = Counter(s for present in sets for s in present)
    return document_idf(len(sets), counts)


def document_idf(documents: int, frequencies: Counter[str]) -> Idf:
    """BM25 idf from the number of *documents* and, per stem, the number of documents that hold it."""

    def idf(wanted: str) -> float:
        held = frequencies[wanted]
        return math.log(1.0 + (documents - held + 0.5) / (held + 0.5))

    return idf

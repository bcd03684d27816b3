"""Content words, their stems, and how much of a question a text covers."""

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

import regex
import Stemmer

Idf = Callable[[str], float]
"""Inverse document frequency of a stem: larger for rarer stems, never negative."""
LOOSE_CREDIT = 0.6
"""Weight of a word that only starts alike (``_OPENING`` characters), against 1 for the same stem."""
_OPENING = 6
RANK_OF_OTHERS, FLAT_RANKS = 12_000, 30
"""Frequency rank of every stem that is not in the file; stems below the second carry almost no weight."""

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*", re.UNICODE)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
"""Letters of the scripts that write no spaces between words."""
_OTHER_SCRIPTS = regex.compile(rf"[\p{{M}}--[\u0300-\u036f\ufe00-\ufe0f]]|[{_UNSPACED}]", regex.V1)
"""Where ``\\w+`` finds no words: marks that belong to the letter before them, and scripts without spaces."""
_SEGMENT = regex.compile(
    rf"(?P<run>[{_UNSPACED}][{_UNSPACED}\p{{M}}]*)|(?:(?![{_UNSPACED}])[\p{{L}}\p{{N}}][\p{{M}}\u200c\u200d]*)+(?:[.,]\d+)*"
)
"""A run of a script without spaces, or a word by the rules of Unicode (UAX 29): marks and joiners do not end it."""
RAISED = re.compile(r"(?<=\d)[⁰¹²³⁴-⁹]+")
"""Digits raised at a number: a note's mark ("in 1962⁴"), or a power."""
_ACCENT = regex.compile(r"\p{Cf}|[\p{Mn}&&[\u0300-\u08ff\u1ab0-\u1dff\u20d0-\u20ff\ufe00-\ufe2f]]", regex.V1)
_LETTER = regex.compile(r"\X")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,80}>")
_SIGNS = str.maketrans({"%": " percent ", "$": " dollar ", "€": " euro ", "£": " pound ", "&": " and "})

# Closed word classes of English: articles, prepositions, pronouns, auxiliaries, conjunctions, adverbs of degree.
STOP_WORDS = frozenset(
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
QUESTION_WORDS = frozenset(
    """
    what when where which who whom whose why how many much often long far kind type sort
    tell describe explain please list give name know
    """.split()
)

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
NUMBERS: Mapping[str, float] = {word: value for value, word in enumerate(_ONES.split())} | {
    word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
"""Words for numbers up to ninety -> their values."""
AUXILIARIES = frozenset(
    "am is are was were do does did can could may might must shall should will would has have had".split()
)


def asks_whether(question: str) -> bool:
    """Whether *question* asks for yes or no: an auxiliary verb opens it."""
    return not AUXILIARIES.isdisjoint(words(question)[:1])


def words(text: str) -> list[str]:
    """Return the case-folded words of *text*; numbers keep inner points and commas (``3.5``, ``1,200``).

    A name such as ``next_review`` is two words, as a question writes it.
    Of a script that writes no spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) two letters each, overlapping.
    """
    if text.isascii():
        return _WORD.findall(text.lower())
    folded = unicodedata.normalize("NFKC", RAISED.sub("", text)).casefold()
    if not _OTHER_SCRIPTS.search(folded):
        return _WORD.findall(folded)
    return [word for found in _SEGMENT.finditer(folded) for word in _pairs(found)]


def _pairs(found: "regex.Match[str]") -> list[str]:
    """Return a word as it is, a run of a script without spaces by pairs of letters."""
    if found["run"] is None:
        return [found[0]]
    letters = _LETTER.findall(found[0])
    return ["".join(pair) for pair in pairwise(letters)] or letters


def is_content(word: str) -> bool:
    """Whether *word* is neither a stop word nor a question word."""
    return word not in STOP_WORDS and word not in QUESTION_WORDS


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the Snowball English ("Porter2") stem of one case-folded word."""
    # A Stemmer is not thread-safe but cheap to make, and the cache makes one per word only.
    return str(Stemmer.Stemmer("english", 0).stemWord(word))


def stems(text: str) -> tuple[str, ...]:
    """Return the stems of all but the stop words of *text*, in order, repeats kept."""
    return tuple(stem(word) for word in words(text) if word not in STOP_WORDS)


def question_stems(question: str) -> tuple[str, ...]:
    """Return the distinct stems of what *question* is about, in order.

    Question words are left out unless there are no others: the result is empty only where *question* has no word.
    """
    tokens = words(question)
    content = [w for w in tokens if is_content(w)]
    chosen = content or [w for w in tokens if w not in STOP_WORDS] or tokens
    return tuple(dict.fromkeys(stem(w) for w in chosen))


def is_number(word: str) -> bool:
    """Whether *word* is a number, in digits or not."""
    return word in NUMBERS or word[0].isdigit()


def without_accents(text: str) -> str:
    """Remove accents, zero-width characters and tags from *text*, and straighten its apostrophes.

    Vowel signs of scripts that have them, and the voicing marks of Japanese, make another letter: they stay.
    """
    text = _TAG.sub(" ", text)
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text.replace("’", "'"))
    return unicodedata.normalize("NFC", _ACCENT.sub("", letters))


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """Return the stems of the content words of *text*, numbers without their commas."""
    return frozenset(stem.replace(",", "") for stem in stems(without_accents(text).translate(_SIGNS)))


@lru_cache(maxsize=1 << 12)  # grading and synthesis look at the same sentences
def vocabulary(text: str) -> frozenset[str]:
    """Return the stems of *text*, and the openings of longer ones, for `coverage`."""
    all_stems = frozenset(stems(text))
    return all_stems.union(map(_opening, all_stems))


def _opening(stem: str) -> str:
    """Return a stem's opening as in `vocabulary`; a short stem is its own."""
    return stem[:_OPENING] + "~" if len(stem) >= _OPENING else stem


def idf_shares(question: str, idf: Idf) -> dict[str, float]:
    """Return the stems that *question* looks for, each with its share of their *idf*."""
    weights = {term: idf(term) for term in question_stems(question)}
    total = sum(weights.values()) or 1.0
    return {term: weight / total for term, weight in weights.items()}


def coverage(shares: Mapping[str, float], present: Collection[str]) -> float:
    """Return the sum in [0, 1] of the *shares* whose stems a `vocabulary` holds.

    A missing stem that starts like a word that is there ("septicemia", "septicemic") counts by `LOOSE_CREDIT`.
    """
    loose = sum(share for term, share in shares.items() if term not in present and _opening(term) in present)
    return sum(share for term, share in shares.items() if term in present) + LOOSE_CREDIT * loose


def english_idf(stem: str) -> float:
    """Return the weight of *stem*: the log of its English frequency rank over `FLAT_RANKS`, at least .1.

    By Zipf's law (1949) a word's rank is inverse to its frequency, so this is an idf up to constants; in a small
    collection every missing word seems rare. The ranks are of ``common_stems.txt`` (``training/common_stems.py``).
    """
    return max(0.1, math.log(frequency_rank(stem) / FLAT_RANKS))


def frequency_rank(stem: str) -> int:
    """Return the frequency rank of *stem* in English, from 1; of one not among the commonest ``RANK_OF_OTHERS``."""
    return _ranks().get(stem, RANK_OF_OTHERS)


def is_common(stem: str) -> bool:
    """Whether *stem* is one of the commonest of English (``common_stems.txt``)."""
    return stem in _ranks()


def rare_words(question: str) -> list[re.Match[str]]:
    """Return the words of *question* that are none of the commonest of English, without numbers and names.

    A name has a capital letter, and is not the first word.
    """
    found = _LETTERS.finditer(question)
    lower = [match for match in found if match.start() == 0 or not match[0][0].isupper()]
    return [match for match in lower if is_content(match[0].lower()) and not is_common(stem(match[0].lower()))]


@cache
def _ranks() -> dict[str, int]:
    stems = Path(__file__).with_name("common_stems.txt").read_text(encoding="utf-8").split()
    return {stem: rank for rank, stem in enumerate(stems, start=1)}


def is_uncased(text: str) -> bool:
    """Whether *text* is in a script without capitals, as Chinese, Japanese, Hindi, Arabic and Hebrew are."""
    return bool(regex.search(r"[\p{Lo}--\p{Latin}]", text, regex.V1))

"""The names in a sentence, and whether another sentence, in its surroundings, has them too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from graph.terms import is_content, stem, stems

_WORD = re.compile(r"[^\W\d_][\w'’]*(?:\.(?=[\w]))?|\d[\w.,:]*|[.!?;:,()\"“”\n|—–-]")
_LETTERED = re.compile(r"(?<![^\W\d_])([^\W\d_]{3,}+)[ \t-]++([A-Z]|[IVXL]{2,6})(?![\w'’]|\.\w)")
_CAPITALISED = re.compile(r"[A-Z][\w'’]*+")
_JOINT = re.compile(r"[ -](?:of |the |and |for |& )?")
_OPENERS = frozenset(
    "according additionally alternatively although another besides both consequently currently despite during each "
    "eventually first following for furthermore generally hence however initially instead later like located many "
    "meanwhile moreover most named nevertheless next normally often originally otherwise overall previously several "
    "similarly since some specifically subsequently such then therefore thus today traditionally typically unlike "
    "using usually various yes".split()
)
"""Words that open a sentence without being its subject."""

_ALIKE = frozenset("meet met marri play fight fought equal border resembl differ join share merg neighbor talk".split())
"""Verbs whose two sides may change places."""

_PASSIVE = frozenset("was were is are been being be by".split())

Run = tuple[str, ...]
"""A name: the stems of its words, in order."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one sentence.

    ``runs`` are the capitalised words inside it, neighbours together. ``opening`` is the stem of its capitalised first
    word, which may be a name or only the start of the sentence; None when it is no content word, or a usual opener.
    ``lettered`` are words with the letter or Roman numeral behind them: (vitamin, D), (war, II).
    """

    runs: tuple[Run, ...]
    opening: str | None
    lettered: tuple[tuple[str, str], ...]


def names_in(sentence: str) -> Names:
    """Find the names in *sentence*; a line with nearly every word capitalised is taken to have none."""
    runs: list[list[str]] = []
    opening: str | None = None
    fresh, joined = True, False
    capitals = total = 0
    for found in _WORD.finditer(sentence):
        token = found[0]
        if not token[0].isalnum():
            fresh = fresh or token in ".!?:\n|"
            joined = joined and token == "-"
            continue
        capital = token[0].isupper()
        capitals, total = capitals + capital, total + 1
        own = stems(token) if capital and token != "I" else ()
        if fresh and total == 1:
            usual = token.lower() in _OPENERS or not is_content(token.lower()) or token.lower().endswith("ly")
            opening = own[0] if own and not usual else None
            joined = False
        elif own and not fresh:
            if joined:
                runs[-1].extend(own)
            else:
                runs.append(list(own))
            joined = True
        else:
            joined = False
        fresh = False
    if total > 3 and capitals > 0.8 * total:
        return Names((), None, ())
    lettered = tuple((stem(word.lower()), letter) for word, letter in _LETTERED.findall(sentence))
    return Names(tuple(tuple(run) for run in runs), opening, lettered)


def letter_differs(claim: Names, sentence: str) -> bool:
    """Whether *sentence* has a word of *claim* with another letter behind it: "vitamin C" for "vitamin D"."""
    there: dict[str, set[str]] = {}
    for word, letter in _LETTERED.findall(sentence):
        there.setdefault(stem(word.lower()), set()).add(letter)
    return any(word in there and letter not in there[word] for word, letter in claim.lettered)


def missing(names: Names, context: frozenset[str]) -> Iterator[Run]:
    """The runs of *names* of which a word is not in *context*."""
    return (run for run in names.runs if not context.issuperset(run))


def abbreviates(acronym: str, text: str) -> bool:
    """Whether capitalised words of *text* could make *acronym*, in lower case: "nfl" of "National Football League"."""
    return len(acronym) > 1 and acronym in _initials(text)


@lru_cache(maxsize=512)
def _initials(text: str) -> str:
    """The first letters of its capitalised words, in lower case; a space wherever other words stand between two."""
    letters: list[str] = []
    end = 0
    for word in _CAPITALISED.finditer(text):
        if not _JOINT.fullmatch(text, end, word.start()):
            letters.append(" ")
        letters.append(word[0][0].lower())
        end = word.end()
    return "".join(letters)


def roles_differ(claim: Sequence[str], quote: Sequence[str], names: frozenset[str]) -> bool:
    """Whether two names change places around one word: "A beat B" told as "B beat A".

    *claim* and *quote* are the lower-case words of the sentences in order, *names* the stems that are names in both.
    """
    own, other = _around_verbs(claim, names), _around_verbs(quote, names)
    for (left, verb, right), passive in own.items():
        if (left, verb, right) not in other and other.get((right, verb, left)) == passive:
            return True
    return False


def _around_verbs(words: Sequence[str], names: frozenset[str]) -> dict[tuple[str, str, str], bool]:
    """(name, word, name) wherever a word alone stands between two names, and whether it is passive there."""
    known = [(i, stem(word)) for i, word in enumerate(words) if word[0].isalnum()]
    places = [(i, word) for i, word in known if word in names]
    found: dict[tuple[str, str, str], bool] = {}
    for (i, left), (j, right) in pairwise(places):
        between = words[i + 1 : j]
        if left == right or len(between) > 6 or any(not word[0].isalnum() for word in between):
            continue
        verbs = [word for token in between for word in stems(token)]
        if len(verbs) in (1, 2) and not _ALIKE.intersection(verbs):
            found[left, verbs[0], right] = bool(_PASSIVE.intersection(between))
    return found

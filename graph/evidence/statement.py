"""A sentence as words: what it says, and how far its denials reach."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from graph.evidence import lexicon
from graph.terms import stem, stems, words

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:.()!?—–]")
_REACH = 3
"""How many content words after a denial it denies; a clause's head rarely lies further."""


@dataclass(frozen=True)
class Statement:
    """A sentence as its lower-case words and punctuation, in order."""

    tokens: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Statement:
        """Take *text* apart."""
        return cls(tuple(_TOKEN.findall(text.lower().replace("’", "'"))))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word, and in contractions its verb too."""
        return frozenset(self.tokens)

    @cached_property
    def content(self) -> tuple[tuple[str, ...], ...]:
        """For each token its content stems: none for stop words and punctuation."""
        return tuple(map(_content, self.tokens))

    @cached_property
    def said(self) -> tuple[int, ...]:
        """The places of the tokens with content stems."""
        return tuple(i for i, some in enumerate(self.content) if some)

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        """The places of the tokens that end a clause."""
        return tuple(i for i, token in enumerate(self.tokens) if token in lexicon.CLAUSE_ENDS)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where the words of each stem are, stop words too."""
        found: dict[str, list[int]] = {}
        for i, token in enumerate(self.tokens):
            if token[0].isalnum():
                found.setdefault(stem(token), []).append(i)
        return found

    @cached_property
    def pairs(self) -> frozenset[str]:
        """The stems of every two neighbouring tokens written as one word."""
        return frozenset(stem(first + second) for first, second in pairwise(self.tokens))

    @cached_property
    def roots(self) -> frozenset[str]:
        """What is left of the content stems that may begin with a denying prefix, without it."""
        return frozenset(root for word in self.stems for root in roots_of(word))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The content stems."""
        return frozenset(found for some in self.content for found in some)

    @cached_property
    def all_stems(self) -> frozenset[str]:
        """The stems of all words, stop words too."""
        return frozenset(found for token in self.tokens for found in _every(token))

    @cached_property
    def denials(self) -> tuple[tuple[str, ...], ...]:
        """The content stems within reach of each denial."""
        return tuple(scope for i in range(len(self.tokens)) if self._denies(i) and (scope := self.reach(i + 1)))

    @cached_property
    def denied(self) -> frozenset[str]:
        """All that any denial reaches."""
        return frozenset(found for scope in self.denials for found in scope)

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """Stems that stand outside the reach of every denial at least once."""
        inside: set[int] = set()
        for i in range(len(self.tokens)):
            if self._denies(i):
                inside.update(self._places(i + 1))
        return frozenset(found for i, some in enumerate(self.content) if i not in inside for found in some)

    def reach(self, start: int, most: int = _REACH, *, whole: bool = False) -> tuple[str, ...]:
        """Content stems from token *start* to the end of its clause, at most *most* of them, or the *whole* clause."""
        return tuple(found for i in self._places(start, 99 if whole else most) for found in self.content[i])

    def before(self, end: int) -> frozenset[str]:
        """The last content stems of the clause that ends before token *end*."""
        last = bisect_left(self._ends, end)
        since = self._ends[last - 1] if last else -1
        found: list[str] = []
        for place in range(bisect_left(self.said, end) - 1, -1, -1):
            if self.said[place] <= since or len(found) >= _REACH:
                break
            found.extend(self.content[self.said[place]])
        return frozenset(found)

    def _places(self, start: int, most: int = _REACH) -> Sequence[int]:
        first, next_end = bisect_left(self.said, start), bisect_left(self._ends, start)
        until = self._ends[next_end] if next_end < len(self._ends) else len(self.tokens)
        return self.said[first : min(first + most, bisect_left(self.said, until))]

    def _denies(self, i: int) -> bool:
        token = self.tokens[i]
        after = self.tokens[i + 1] if i + 1 < len(self.tokens) else ""
        if token == "free":
            return after in ("of", "from")
        return (token in lexicon.NEGATORS or token.endswith("n't")) and (token, after) not in lexicon.NOT_A_DENIAL


def roots_of(word: str) -> set[str]:
    """What is left of *word*, a stem, without a denying prefix; a final "e", which stemming treats unevenly, goes."""
    if word in lexicon.NOT_PREFIXED:
        return set()
    lengths = (len(prefix) for prefix in lexicon.PREFIXES if word.startswith(prefix))
    return {word[n:].rstrip("e") for n in lengths if len(word) > n + 2}


@lru_cache(maxsize=1 << 14)
def _every(token: str) -> tuple[str, ...]:
    """The stems of one token, stop word or not."""
    return tuple(map(stem, words(token)))


@lru_cache(maxsize=1 << 14)
def _content(token: str) -> tuple[str, ...]:
    """The content stems of one token: one for most words, none for stop words and punctuation."""
    return stems(token) if token[0].isalnum() else ()

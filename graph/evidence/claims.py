"""What a sentence asserts that must not change: its numbers, its names, what it denies, and how surely it says it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from graph.evidence.naming import Names, names_in
from graph.evidence.quantities import Quantity, quantities_of
from graph.evidence.statement import Statement

_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,80}>")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence, taken apart."""

    text: str
    statement: Statement
    quantities: tuple[Quantity, ...]
    names: Names

    @property
    def numbers(self) -> frozenset[str]:
        """The values of its quantities, in one writing."""
        return frozenset(quantity.value for quantity in self.quantities)


@lru_cache(maxsize=2048)
def claim_of(sentence: str) -> Claim:
    """Take *sentence* apart."""
    sentence = plain(sentence)
    return Claim(sentence, Statement.of(sentence), quantities_of(sentence), names_in(sentence))


def plain(text: str) -> str:
    """*text* without accents, zero-width characters and the tags of markup, its apostrophes straight."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text.replace("’", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in letters if unicodedata.category(c) not in ("Mn", "Cf")))

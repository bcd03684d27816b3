"""Tell whether sentences and sections have the same form: little but names and numbers differs."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from answering.relevance.named_things import LEAD
from answering.text.terms import is_content, stem, words
from answering.types import Chunk

SAME_FORM, SAME_ITEM = 0.7, 0.5
"""Least share of the words in small letters that two sentences of the same form have in common, in order; the second of
lines with a label ("Gold plan: …"), of which some leave out a field."""
ALIKE = 0.5
"""Least share of the sentences of two sections that have one of the same form in the other."""
MAX_WORDS = 60
"""Words of a sentence that are compared."""
_TOKEN = re.compile(r"\w+(?:['’]\w+)*(?:[.,]\d+)*")
_LABEL = re.compile(r"\w+(?= ?:)")


def are_alike(one: Chunk, other: Chunk) -> bool:
    """Whether the sentences of two chunks, of the shorter at least half of them, have the same forms."""
    shorter, longer = sorted((one.sentences, other.sentences), key=len)
    same = sum(any(is_same_form(mine, theirs) for theirs in longer) for mine in shorter)
    return same > 0 and same >= ALIKE * len(shorter)


def is_same_form(one: str, other: str) -> bool:
    """Whether two sentences differ in little but names and numbers."""
    (mine, labelled), (theirs, both) = _form(one), _form(other)
    shorter, longer = sorted((mine, theirs), key=len)
    least = max((SAME_ITEM if labelled and both else SAME_FORM) * len(longer), min(2, len(shorter)))
    if len(shorter) < least:
        return False
    common = [word for word in shorter if word in longer]
    if len(common) < least or not any(map(is_content, common)):
        return False
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= least


@lru_cache(maxsize=1 << 11)
def _form(sentence: str) -> tuple[tuple[str, ...], bool]:
    """Return the words of *sentence* without names and numbers, in small letters, and whether it has a label."""
    lead = LEAD.match(sentence)
    text = f"{lead[0].lower()}{sentence[lead.end() :]}" if lead else sentence
    text = _LABEL.sub(lambda label: label[0].lower(), text)
    first, *tokens = _TOKEN.findall(text)[:MAX_WORDS] or [""]
    opening = () if is_content(first.lower()) and not first.islower() else (first.lower(),)
    return (*opening, *(word for word in tokens if word[0].islower())), bool(lead)


def exchanged(mine: str, theirs: str, names: set[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield (name, rival): words of *theirs* that are all in *names*, and those of *mine* in their place."""
    a, b = tokens_of(theirs), tokens_of(mine)
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        name, rival = contents(a[i:j]), contents(b[k:m])
        if kind == "replace" and name and rival and names.issuperset(name) and names.isdisjoint(rival):
            yield name, rival


def content(text: str) -> frozenset[str]:
    """Return the stems of the content words and numbers of *text*."""
    return frozenset(map(stem, contents(tokens_of(text))))


def contents(tokens: Iterable[str]) -> tuple[str, ...]:
    return tuple(one for one in tokens if is_content(one))


@lru_cache(maxsize=1 << 11)
def tokens_of(text: str) -> tuple[str, ...]:
    """Return the first words of *text*, case-folded."""
    return tuple(words(text)[:MAX_WORDS])

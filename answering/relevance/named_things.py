"""Find the things that a text names, of which there may be several alike: "article 4714", "the north depot".

Sentences and sections have the same form where little but names and numbers differs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from answering.text.terms import is_content, stem, words
from answering.types import Chunk

MAX_CAPITAL = 2
"""Most words of a heading in capitals that has a name: "Room Larch", but not "Cart Maintenance Notes"."""
TOKEN = re.compile(r"\w+(?:['’]\w+)*(?:[.,]\d+)*|[.!?](?=\s)")
_PARTS = re.compile(rf"{TOKEN.pattern}|[,;:()]")
"""Words and what parts them."""
_CONTRASTS = tuple(
    frozenset(words.split())
    for words in (
        "north south east west northern southern eastern western central",
        "left right",
        "upper lower middle",
        "front rear back",
        "inner outer",
        "indoor outdoor",
        "primary secondary",
        "day night",
        "winter summer spring autumn",
        "red green blue yellow white black orange brown grey purple pink",
        "first second third fourth fifth sixth",
    )
)
"""Words of which one before a noun tells a thing from others alike ("the north depot")."""
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()
_CALENDAR = (frozenset(map(str.lower, _DAYS)), frozenset(map(str.lower, _MONTHS)))
CALENDAR = frozenset(stem(name.lower()) for name in (*_DAYS, *_MONTHS))
_DAY = re.compile(rf"\b(?:{'|'.join(_DAYS)})\b")
POSSESSIVE = re.compile(r"['’]s?\b(?=\W|\Z)")
_MONTH = re.compile(rf"(?<=\w )(?:{'|'.join(_MONTHS)})\b")
_DATE = re.compile(rf"\d{{1,2}}(?:st|nd|rd|th)? (?:{'|'.join(_MONTHS)})\b|\b(?:{'|'.join(_MONTHS)}) \d")
_SEVERAL = re.compile(
    rf"\b(?:{'|'.join(_DAYS + _MONTHS)}) ?(?:[-–,]|to|through|until|till|and|or)\b|\b(?:except|every day|daily)\b"
)
"""What names days or months and is not about one alone: a span, a list, an exception."""
_LETTER_OR_ROMAN = re.compile(r"[A-Z]|[IVX]{2,5}")
"""A label in capitals after its noun: "block C", "Kiln II"."""
LEAD = re.compile(r"^\w[^:.;|]{1,40}:(?=\s)")  # "Gold plan: 39 euros"
Named = Mapping[str, frozenset[str]]
"""The labels of each kind of thing, by the stem of its noun: ``{"articl": {"4714"}, "depot": {"north"}}``.

Names keep their capital letter: ``{"plan": {"Gold"}}``; what is linked by a preposition has it in its key ("ferri to").
"""


@lru_cache(maxsize=1 << 11)
def named_things(text: str, *, heading: bool = False) -> Named:
    """Find the things that *text* names: a noun with a number, a code or a name, or with one of contrasting words.

    The word that opens a sentence is no name, for its capital letter says nothing; that of a *heading* may be a noun.
    """
    found: dict[str, set[str]] = {}
    tokens = ["", *_linked(TOKEN.findall(text := POSSESSIVE.sub("", text)))]
    for first, second, third in zip(tokens, tokens[1:], [*tokens[2:], ""], strict=False):
        word, label = first.lower(), second.lower()
        pronoun = second == "I" and third[:1].isalpha()  # "the kiln I use"
        if _is_noun(word) and len(word) > 1 and label[0].isdigit() and third not in _MONTHS:
            found.setdefault(stem(word), set()).add(label)
        elif is_content(word) and word.isalpha() and _LETTER_OR_ROMAN.fullmatch(second) and not pronoun:
            found.setdefault(stem(word), set()).add(second)
        elif contrast_of(word) and label.isalpha() and is_content(label):
            found.setdefault(stem(label), set()).add(word)
    for kind, names in (("weekday", _DAY), ("month", _MONTH)):
        if named := names.findall(_DATE.sub(" ", f"the {text}" if heading else text)):
            found[kind] = {name.lower() for name in named if not _SEVERAL.search(text)}
    capital = [is_name(token) for token in TOKEN.findall(text) if is_content(token.lower())]
    if not heading or len(capital) <= MAX_CAPITAL or not all(capital):
        for noun, name in _names(["", *_linked(_PARTS.findall(text))], heading=heading):
            found.setdefault(noun, set()).add(name)
    return {noun: frozenset(labels) for noun, labels in found.items()}


def _linked(tokens: Sequence[str]) -> list[str]:
    """Leave out what stands between a noun and its label: "article number 4714", "certificate no. 5521"."""
    kept: list[str] = []
    for at, token in enumerate(tokens):
        link = at and token.lower() in _LINKS and tokens[at - 1].isalpha()
        stop = at > 1 and token == "." and tokens[at - 1].lower() in ("no", "nr")
        if not (link or stop):
            kept.append(token)
    return kept


def _names(tokens: Sequence[str], *, heading: bool) -> Iterator[tuple[str, str]]:
    """Yield the names among *tokens*, each with the key of its noun: "Gold plan", "safe Cedar", "ferry to Oslo"."""
    for at in range(1, len(tokens)):
        opens = not tokens[at - 1].isalnum()
        numbered = at + 1 < len(tokens) and tokens[at + 1].isdigit()  # "the output of the PB 24"
        if not is_name(tokens[at]) or opens or numbered:
            continue
        before = tokens[at - 1]
        if before.lower() in _PERSONS:
            yield PERSON, tokens[at]
            continue
        end = next((n for n in range(at, len(tokens)) if not is_name(tokens[n])), len(tokens))
        following, after = (*tokens[end : end + 2], "", "")[:2]
        is_verb = following.endswith("s") and after in _ARTICLES  # "Weber runs the depot"
        has_noun = _is_noun(following) and not is_verb
        if has_noun:
            yield stem(following), tokens[at]
        elif at + 1 < end:
            yield stem(tokens[end - 1].lower()), tokens[at]
        back = at - 1 - (before == "the")
        link = tokens[back] if back and tokens[back] in _PREPOSITIONS else ""
        noun = tokens[back - bool(link)]
        initial = not heading and back - bool(link) <= 1
        plural = noun.endswith("s") and not noun.endswith("ss") and link
        verb = has_noun and before == "the" and not link  # "manages the Hamburg depot"
        if _is_noun(noun) and not (initial or plural or verb):
            yield stem(noun.lower()) + (f" {link}" if link not in ("", "in", "of") else ""), tokens[at]


def _is_noun(word: str) -> bool:
    return word.isalpha() and is_content(word.lower()) and word.lower() not in _NO_NOUNS


def is_name(token: str) -> bool:
    """Whether *token* is written as a name; a number or code is a label whatever its letters."""
    capital = len(token) > 1 and token[0].isupper() and is_content(token.lower())
    return capital and token[:-1] not in _DAYS  # "on Mondays"


def contrast_of(word: str) -> frozenset[str]:
    """Return the set of contrasting words that *word* is of; an empty one for other words."""
    return next((words for words in (*_CONTRASTS, *_CALENDAR) if word in words), frozenset())


_LINKS = frozenset("number no nr num code id".split())  # between a noun and its label: "article number 4714"
_PREPOSITIONS = frozenset("of in to at for from on by with".split())
_ARTICLES = frozenset("the a an our your".split())
_PERSONS = frozenset("mr mrs ms miss dr prof".split())
PERSON = "person"  # the key of a name after a title
_NO_NOUNS = frozenset(
    """least most max maximum min minimum approximately nearly around every after before within costs cost takes take
    holds hold last lasts than pays pay needs need carries lift lifts weighs page april may june july august
    january february march september october november december
    monday tuesday wednesday thursday friday saturday sunday
    open opens opening closed closes closing shut available
    outside inside beyond across along through without beside behind past since despite toward towards against
    """.split()
)
"""Words beside an amount, a day or a name, which name nothing of which there are several alike."""
SAME_FORM, SAME_ITEM = 0.7, 0.5
"""Least share of the words in small letters that two sentences of the same form have in common, in order; the second of
lines with a label ("Gold plan: …"), of which some leave out a field."""
ALIKE = 0.5
"""Least share of the sentences of two sections that have one of the same form in the other."""
MAX_WORDS = 60  # of a sentence that are compared
WORD = re.compile(r"\w+(?:['’]\w+)*(?:[.,]\d+)*")
_LABEL = re.compile(r"\w+(?= ?:)")


def are_alike(one: Chunk, other: Chunk) -> bool:
    """Whether the sentences of two chunks, of the shorter at least half of them, have the same forms."""
    shorter, longer = sorted((one.sentences, other.sentences), key=len)
    same = sum(any(is_same_form(mine, theirs) for theirs in longer) for mine in shorter)
    return same > 0 and same >= ALIKE * len(shorter)


@lru_cache(maxsize=1 << 12)
def is_same_form(one: str, other: str) -> bool:
    """Whether two sentences differ in little but names and numbers."""
    (mine, labelled), (theirs, both) = _form(one), _form(other)
    shorter, longer = sorted((mine, theirs), key=len)
    least = max((SAME_ITEM if labelled and both else SAME_FORM) * len(longer), min(2, len(shorter)))
    if len(shorter) < least:
        return False
    all_of_longer = frozenset(longer)
    common = [word for word in shorter if word in all_of_longer]
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
    first, *tokens = WORD.findall(text)[:MAX_WORDS] or [""]
    opening = () if is_content(first.lower()) and not first.islower() else (first.lower(),)
    return (*opening, *(word for word in tokens if word[0].islower())), bool(lead)


def content(text: str) -> frozenset[str]:
    """Return the stems of the content words and numbers of *text*."""
    return frozenset(map(stem, contents(tokens_of(text))))


def contents(tokens: Iterable[str]) -> tuple[str, ...]:
    return tuple(token for token in tokens if is_content(token))


@lru_cache(maxsize=1 << 11)
def tokens_of(text: str) -> tuple[str, ...]:
    """Return the first words of *text*, case-folded."""
    return tuple(words(text)[:MAX_WORDS])

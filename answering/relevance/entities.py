"""Tell which of several alike (articles, rooms, depots, years) the sentences of a chunk are about."""

import re
from collections.abc import Mapping
from itertools import pairwise

from answering.relevance.named_things import LEAD, TOKEN, Named, contrast_of, is_name, is_same_form, named_things
from answering.text.blocks import cells, is_row, row_with_column_names, table_header
from answering.text.dates import MONTH
from answering.text.terms import asks_whether, is_content, question_stems, stem, words
from answering.types import About, Chunk

LOOKED_UP, NAMED = 6.0, 1.0
"""What the reader's logits gain where a chunk is about the very one of several alike that is asked for.

The first for a sentence with words of the question beside the name, as the field of a record is looked up; the second
where the number stands in the chunk. Not fitted: a name is a key, whatever the words around it."""
UNREAD = 20.0
"""What the logit of a sentence that was not read, or cannot answer, lies below that of "none of them"."""
BRIEF = 3
"""Content words of a brief question: it is far from a long chunk by every cosine, also from the one that answers."""
LONGEST_NAMED = 10_000
"""A text of more characters is not gone through: so much of it names this year and that."""
_VERSION = re.compile(r"(?<![\w.])v?(\d+\.\d+\.\d{1,3})(?!\w|\.\d)")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DIGITS = re.compile(r"\d+")
_PRICE = re.compile(r"[$€£]\s?\d[\d,.]*|\d[\d,.]*\s?(?:[$€£%]|(?:euro|dollar|pound|percent)s?\b)", re.IGNORECASE)
_DAY = re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+{MONTH}\b|\b{MONTH}\s+\d{{1,2}}\b", re.IGNORECASE)
"""A day of a month, whose number is no label: "Orchid 3 starts on 2 April" does not name "Orchid 2"."""
_WORD = re.compile(r"\b[A-Za-z]-(?=\d)|\w+-(?=[A-Za-z]\b)|\w+(?:['’]\w+)*(?:[.,]\d+)*|[.!?](?=\s)")
"""Words and the ends of sentences; of a code ("D-29", "bay-a") what stands before its hyphen, with it: its letter alone
may be a stop word."""
_RANGE = re.compile(r"\b(\d+)\s?(?:-|–|to)\s?(\d+)\b")
_ENGLISH = frozenset("the what when where which who whom whose why how is are does do can".split())
"""Words of which a question in English has one; in German every noun has a capital letter."""


def of_others(question: str, chunk: Chunk) -> tuple[bool, ...]:
    """Tell for each sentence of *chunk* whether it is about another of several alike than *question* names."""
    return tuple(about is About.ANOTHER for about in chunk.about or about_labels(question, chunk))


def about_labels(question: str, chunk: Chunk) -> tuple[About, ...]:
    """Tell for each sentence of *chunk* which of several alike it is about, by the labels that *question* names.

    A sentence is about what it names itself, or else about what the one before it is about; at first about what the
    innermost heading names. A row is about the value in its cells.
    """
    asked = asked_labels(question)
    if not asked:
        return (About.UNKNOWN,) * len(chunk.spans)
    headings: dict[str, frozenset[str]] = {}
    for text in (chunk.title, chunk.chapter, chunk.section):
        headings |= named_things(text or "", heading=True)
    about, found = headings, []
    for n, sentence in enumerate(chunk.sentences):
        row, lead = is_row(chunk, n), LEAD.match(sentence)
        about = {**about, **named_things(row_with_column_names(chunk, n))}
        if lead or row:
            about |= named_things(lead[0] if lead else _key(chunk, n), heading=True)
        if lead:
            about |= _named_in_lead(asked, lead[0])
        said = f"{chunk.section} {sentence}"
        other = any(_another(noun, labels, about, said) for noun, labels in asked.items())
        named = any(not labels.isdisjoint(about.get(noun, ())) for noun, labels in asked.items())
        if row:
            about = headings
        found.append(About.ANOTHER if other else About.NAMED if named else About.UNKNOWN)
    return tuple(found)


def _named_in_lead(asked: Named, lead: str) -> dict[str, frozenset[str]]:
    """Return the names before nouns that are *asked* for in *lead*: in "Gold plan:" what opens a line is a name.

    A noun with a capital letter tells of a heading, "Reduce Pressure:".
    """
    pairs = pairwise(TOKEN.findall(lead))
    return {stem(noun): frozenset({name}) for name, noun in pairs if stem(noun) in asked and is_name(name)}


def _key(chunk: Chunk, n: int) -> str:
    """Return the first cell of row *n* after the name of its column."""
    return " ".join(cells(chunk.sentences[at])[0] for at in (*table_header(chunk, n), n))


def asked_labels(question: str) -> Named:
    """Find what *question* names, but for several numbers of one kind; no names in one with a capital on each word."""
    tokens = TOKEN.findall(question)
    capital = sum(map(is_name, tokens)) > len(tokens) / 2
    named = named_things(question)
    capital = capital or _ENGLISH.isdisjoint(map(str.lower, tokens))
    if asks_whether(question):  # "Open on Sunday?": "Till Friday."
        named = {noun: labels for noun, labels in named.items() if noun not in ("weekday", "month")}
    return {
        noun: labels
        for noun, labels in named.items()
        if len(labels) == 1 or (labels and min(labels)[0].isupper() and not capital)
    }


def named_gains(question: str, chunk: Chunk) -> tuple[float, tuple[float, ...]]:
    """Return what the reader's logits of *chunk* and of each sentence gain by what *question* names."""
    if About.LOOKED_UP in chunk.about:
        return LOOKED_UP, tuple(LOOKED_UP * (about is About.LOOKED_UP) for about in chunk.about)
    gain = NAMED * (len(question_stems(question)) > BRIEF and names_asked(question, chunk))
    return gain, (gain,) * len(chunk.spans)


def names_asked(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* names a number or code of *question*, after a noun or in a cell of its own."""
    codes = {label for labels in named_things(question).values() for label in labels if label[0].isdigit()}
    if not codes:
        return False
    named = [named_things(text) for text in (chunk.title, chunk.chapter or "", chunk.section or "", chunk.text)]
    labels = {label for thing in named for of_noun in thing.values() for label in of_noun}
    return not codes.isdisjoint(labels.union(cell for n in range(len(chunk.spans)) for cell in _cells(chunk, n)))


def _cells(chunk: Chunk, n: int) -> list[str]:
    return cells(chunk.sentences[n]) if is_row(chunk, n) else []


def _another(noun: str, asked: frozenset[str], about: Mapping[str, frozenset[str]], sentence: str) -> bool:
    """Whether *about* names another *noun* than those *asked*, which *sentence* does not name either."""
    labels = about.get(noun, frozenset())
    held = {token.lower() for token in TOKEN.findall(sentence)}
    names = {stem(label.lower()) for label in asked if label[0].isupper()}
    if names:
        codes = [_has_digit(label) for label in asked]
        named = {stem(label.lower()) for label in labels if label[0].isupper() and _has_digit(label) in codes}
        return bool(named) and names.isdisjoint(named.union(map(stem, held)))
    (label,) = asked
    contrast = contrast_of(label)
    rivals = labels & contrast if contrast else {label for label in labels if label[0].isdigit()}
    in_range = label.isdigit() and any(int(a) <= int(label) <= int(b) for a, b in _RANGE.findall(sentence))
    return bool(rivals) and label not in labels | held and not in_range


def _has_digit(label: str) -> bool:
    return any(map(str.isdigit, label))


def is_of_other_version(question: str, text: str) -> bool:
    """Whether *question* names a version such as 2.2.1 that *text* does not, and *text* another one."""
    asked, told = (frozenset(_VERSION.findall(said)) for said in (question, text))
    return not asked <= told and bool(told)


def names_another(question: str, text: str) -> bool:
    """Whether *question* names a year, a number or a letter that *text* does not, and *text* another one in its place.

    In a year's place stands any year, in another's one that follows the same word: for "Heron 4", "Heron 2", for
    "garage C", "garage A".
    """
    labels = _labels(_PRICE.sub("", question))
    if len(text) > LONGEST_NAMED or not labels:
        return False
    text = _DAY.sub("", text)
    text_labels = _labels(_PRICE.sub("", text))
    letters = {token.lower() for token in _WORD.findall(text) if len(token) == 1 and token not in "aIi"}
    held = letters.union(_DIGITS.findall(text), (label for _, label in text_labels))
    missing = {label for _, label in labels if label not in held}
    if any(map(_YEAR.fullmatch, missing)):
        return any(map(_YEAR.fullmatch, held))
    labelled = {name for name, label in labels if label in missing and is_content(name)}
    return any(name in labelled for name, _ in text_labels)


def _labels(text: str) -> list[tuple[str, str]]:
    """List the numbers of *text*, and the letters that follow a noun, each with the stem of the word before it."""
    pairs = pairwise(["", *_WORD.findall(text)])
    named = [(name.lower() if name.rstrip("-").isalpha() else "", label) for name, label in pairs]
    return [
        (stem(name.rstrip("-")) if len(name) > len("D-") else name, label.lower())
        for name, label in named
        if label[0].isdigit() or _is_letter(label, name)
    ]


def _is_letter(label: str, name: str) -> bool:
    """Whether *label* is a single letter, no article or pronoun, and *name* a word that it may belong to."""
    word = name.rstrip("-")
    is_letter = len(label) == 1 and label.isalpha() and (label not in "aIi" or name.endswith("-"))
    return is_letter and len(word) > 1 and is_content(word)


def opens_alike(one: str, other: str) -> bool:
    """Whether two sentences are of the same form, or open with the same content word."""
    first, second = words(one)[:1], words(other)[:1]
    return (first == second != [] and is_content(first[0])) or is_same_form(one, other)

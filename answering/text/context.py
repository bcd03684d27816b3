"""Find what a sentence needs beside it: its lead-in and labels, what its pronoun stands for, what limits it."""

import re
from collections.abc import Collection, Sequence

from answering.text.blocks import (
    before,
    bullet,
    introduced_by,
    is_row,
    list_around,
    row_with_column_names,
    table_header,
)
from answering.text.settings import as_prose
from answering.text.terms import AUXILIARIES, words
from answering.types import About, Chunk

_LIMITS = re.compile(
    r"(?:After(?:wards| that| this)|Otherwise|However|But|Except|Exceptions?|(?:Beyond|Above) th(?:at|is)|Until then"
    r"|If not|If (?:that|this|it|they)|Th(?:is|at|ese) do(?:es)? not|(?:It|They) do(?:es)? not apply)\b"
    r"|(?:It|They|He|She|We|You)\b[^.;:]*(?:\b(?:not|no longer|never|only|except|unless|closed|sold out)\b|n['’]t\b)"
    r"|[^.;:]*\b(?:exceptions?|lapses?|expires?|is void|(?:stays?|remains?|are|is) closed)\b"
)
"""A sentence that says where the one before it ends or does not hold: by what opens it, or by what it says of it."""
LONGEST_LABEL, LONGEST_LEAD = 5, 2
"""Words of an item that is no more than a label of those below it, and of a paragraph's first sentence: "Dogs."."""
_PROPOSES = re.compile(
    r"\b(?:propos(?:ed|al)|suggest(?:ed|ion)|requested|wanted|thought|had asked|asked (?:for|that|whether)"
    r"|moved that|motion)\b"
)
_OUTCOME = re.compile(
    r"\b(?:agreed|carried|accepted|approved|decided|reject\w*|refused|defeated|withdrawn|dropped|turned down|put off"
    r"|said no|against|stays?|remains?|stands?|(?:left|leave it) as it is|no (?:action|change)|not (?:taken|seconded))"
    r"\b",
    re.IGNORECASE,
)
_SO_FAR = re.compile(r"(?:So far|Until now|Up to now|Till now|Previously|Formerly|In the past|Originally)\b")
"""What opens a sentence on what was so: the next one says what is so now."""
MAX_FOLLOWING = 3
"""Sentences after a proposal among which is what became of it."""
_LABEL = re.compile(r"[^:.;|]{1,40}:(?=\s)")
"""What an item is about, as it opens: "**Excel II**: two days from 22 September. Fee 290 euros."."""
_REFERS = frozenset("it its he his she her they them their this that these those such there".split())
OPENING = 3
"""Words of a sentence among which its subject stands."""
_PRONOUN = re.compile(r"(?:It|Its|He|His|She|Her|They|Their)\b")
_FIELD = re.compile(r"[^:.|]{1,40}:\s")
LONGEST_PASSAGE = 900
"""Characters of a chunk that are read: about the 224 word pieces that the reader takes."""
_VERB = re.compile(rf"\b(?:{'|'.join(AUXILIARIES)}|not|never|no|we|you|it|they)\b")
_SAYS = re.compile(rf"{_VERB.pattern}|[$€£%]")
"""What a label has not: "A share is 310 euros." says something. One that ends with a colon may have an amount."""
FEW_WORDS = 4
"""A sentence of fewer words names no subject of its own."""


def labels_above(chunk: Chunk, n: int) -> list[int]:
    """Return the numbers of the short items that sentence *n* of a nested list stands below, the outermost first."""
    above: list[int] = []
    depth = _depth(chunk, n)
    for at in reversed(range(list_around(chunk, n).start, n)) if bullet(chunk, n) else ():
        if bullet(chunk, at) and _depth(chunk, at) < depth:
            depth = _depth(chunk, at)
            above.insert(0, at)
    return [at for at in above if len(chunk.sentences[at].split()) <= LONGEST_LABEL]


def _depth(chunk: Chunk, n: int) -> int:
    """Return by how many characters the bullet of sentence *n* is indented."""
    line = before(chunk, n).rpartition("\n")[2]
    return len(line) - len(line.lstrip())


def label_of(chunk: Chunk, n: int) -> str:
    """Return what opens the item or paragraph that sentence *n* goes on with, "Excel II: "; "" where that is no label.

    It ends with a colon, or is a few words, without a verb: of an item ``LONGEST_LABEL``, of a paragraph
    ``LONGEST_LEAD``.
    """
    first = _opening(chunk, n)
    opening = chunk.sentences[first] if first < n and not is_row(chunk, first) else ""
    if (label := _LABEL.match(opening)) and not _VERB.search(label[0]):
        return f"{label[0].replace('*', '')} "
    longest = LONGEST_LABEL if bullet(chunk, first) else LONGEST_LEAD
    few = len(opening.split()) <= longest and re.search("[^\\W\\d_]{3}", opening)  # a number is none
    return f"{opening.rstrip('.:')}: " if few and not _SAYS.search(opening) else ""


def subject_of(chunk: Chunk, n: int) -> list[int]:
    """Return the number of the sentence that names what sentence *n* is about: its label, or before "It" or "They"."""
    if label_of(chunk, n):
        return [_opening(chunk, n)]
    named = [at for at in range(_opening(chunk, n), n) if not _PRONOUN.match(chunk.sentences[at])]
    return named[-1:] if _PRONOUN.match(chunk.sentences[n]) else []


def _opening(chunk: Chunk, n: int) -> int:
    """Return the number of the sentence that opens the item or paragraph of sentence *n*."""
    while n and not bullet(chunk, n) and "\n\n" not in before(chunk, n):
        n -= 1
    return n


def introduction(chunk: Chunk, n: int) -> str:
    """Return the sentence that introduces the list, or the sentence after ":", that sentence *n* is; "" for none.

    The items follow that an item of a nested list stands below.
    """
    items = list_around(chunk, n)
    lead = (items.start if items else n) - 1
    introducing = [chunk.sentences[lead]] if lead >= 0 and n in introduced_by(chunk, lead) else []
    return " ".join([*introducing, *_as_labels(chunk, labels_above(chunk, n))])


def _as_labels(chunk: Chunk, items: list[int]) -> list[str]:
    return [f"{chunk.sentences[n].rstrip(':')}:" for n in items]


def introduced_row(chunk: Chunk, n: int) -> str:
    """Return ``row_with_column_names`` of sentence *n* after what introduces its table ("Prices in 2025:")."""
    (first,) = table_header(chunk, n) or [n]
    lead = introduction(chunk, first) if is_row(chunk, n) else ""
    return f"{lead} {row_with_column_names(chunk, n)}".lstrip()


def texts_to_read(chunk: Chunk) -> tuple[str, ...]:
    """Return the sentences of *chunk* as the reader reads them.

    Rows of a table have the names of its columns, settings that are looked up are sentences, items of a nested list
    have those above them ("Dogs: not allowed in: …"), and further sentences of an item or a paragraph its label
    ("Excel II: Fee 290 euros.").
    """
    about = chunk.about or (About.UNKNOWN,) * len(chunk.spans)
    sentences = [
        as_prose(chunk, n) if kind is About.LOOKED_UP else row_with_column_names(chunk, n)
        for n, kind in enumerate(about)
    ]
    texts = [f"{label_of(chunk, n)}{sentence}" for n, sentence in enumerate(sentences)]
    return tuple(" ".join([*_as_labels(chunk, labels_above(chunk, n)), text]) for n, text in enumerate(texts))


def window(chunk: Chunk, texts: Sequence[str]) -> tuple[int, int]:
    """Choose the sentences of *chunk* to read, as *texts*: all, or those around the nearest."""
    lengths = [len(text) for text in texts]
    at = max(range(len(lengths)), key=lambda n: chunk.span_similarities[n])
    start, end = at, at + 1
    while True:
        wider = [(start - 1, end), (start, end + 1)]
        fitting = [(i, j) for i, j in wider if i >= 0 and j <= len(lengths) and sum(lengths[i:j]) <= LONGEST_PASSAGE]
        if not fitting:
            return start, end
        start, end = min(fitting, key=lambda span: abs(sum(span) - 2 * at - 1))


def limits_of(chunk: Chunk, n: int) -> list[int]:
    """Return the number of the next sentence if it limits sentence *n*, in its paragraph: "After that 60 % is due".

    So does what became of a proposal, "Dev proposed 15 pounds. This was defeated.", and of what was so far.
    """
    sentences, last = chunk.sentences, n
    while last + 1 < len(sentences) and "\n\n" not in before(chunk, last + 1) and not bullet(chunk, last + 1):
        last += 1
    following = [*range(n + 1, last + 1)][:MAX_FOLLOWING]
    if following and _PROPOSES.search(sentences[n]) and not _OUTCOME.search(sentences[n]):
        outcome = next((at for at in following if _OUTCOME.search(sentences[at])), following[0])
        return [at for at in following if at <= outcome]
    limits = following and (_SO_FAR.match(sentences[n]) or _LIMITS.match(sentences[following[0]]))
    return following[:1] if limits else []


def between(chunk: Chunk, chosen: Collection[int]) -> list[int]:
    """Return the numbers of the sentences that stand alone between two *chosen* ones of their paragraph."""
    alone = [n + 1 for n in chosen if n + 2 in chosen and n + 1 not in chosen]
    return [n for n in alone if "\n" not in before(chunk, n) + before(chunk, n + 1)]


def referred_to(chunk: Chunk, n: int) -> list[str]:
    """Return what sentence *n* may take its subject from: its lead-in, and what is before it if it names none.

    That is the last sentence before it that opens with no pronoun, in its paragraph; of an answer, its question.
    """
    sentences, lead = chunk.sentences, f"{introduction(chunk, n)} {label_of(chunk, n)}".strip()
    if n and sentences[n - 1].endswith("?"):
        return [lead, sentences[n - 1]]
    if _is_field(chunk, n):
        return [lead, *(sentences[at] for at in range(n) if not _is_field(chunk, at))]
    if _REFERS.isdisjoint(words(sentences[n])):
        return [lead]
    opening = [
        at for at in range(n) if "\n\n" in before(chunk, at) or _REFERS.isdisjoint(words(sentences[at])[:OPENING])
    ]
    return [lead, *sentences[max(opening, default=0) : n]]


def antecedents(chunk: Chunk, n: int) -> list[str]:
    """Return what sentence *n* refers to where it opens with a pronoun ("It takes ten minutes")."""
    if _REFERS.isdisjoint(words(chunk.sentences[n])[:OPENING]):
        return []
    return [text for text in referred_to(chunk, n) if text]


def _is_field(chunk: Chunk, n: int) -> bool:
    """Whether sentence *n* is a row, an item, a field ("Fee: 3 euros") or a few words, whose subject stands above."""
    text = chunk.sentences[n]
    return is_row(chunk, n) or bool(bullet(chunk, n)) or bool(_FIELD.match(text)) or len(words(text)) < FEW_WORDS

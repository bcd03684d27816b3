"""The quantities of a sentence: numbers in any writing, their units, what they count, and what bounds them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from graph.evidence.number_words import (
    AMBIGUOUS_MONTHS,
    GLUED_SCALES,
    MONTHS,
    ONES,
    ORDINALS,
    PARTS,
    SCALES,
    TENS,
    UNITS,
)
from graph.evidence.spelled_numbers import Token, ordinal_behind, spelled_length, spelled_value
from graph.terms import is_content, stem

_TOKEN = re.compile(
    r"(?P<date>\b\d{4}-\d\d-\d\d\b)|(?P<number>(?:(?<![\w)\].])[-−](?=\.?\d))?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+|(?<!\w)(?=\.\d))"
    r"(?:\.\d+)*(?::\d+)*)|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)|(?P<sign>[$€£¥%°½¼¾])"
)
_LEAST = re.compile(
    r"(?:at least|no (?:fewer|less) than|not (?:fewer|less) than|minimum(?: of)?|more than|over|above|exceed(?:s|ing)?"
    r"|greater than|>=?|≥)\s*(?:about |an? |the )?[$€£¥]?\s*\Z",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"(?:at most|no (?:more|later|longer) than|not (?:more|later) than|maximum(?: of)?|less than|fewer than|under|below"
    r"|up to|within|not exceed(?:ing)?|<=?|≤)\s*(?:about |an? |the )?[$€£¥]?\s*\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s*(?:[^\W\d_]+\s+)?(?:or (?P<least>more|above|longer|higher)|or (?P<most>less|fewer|below|under))\b"
)
_HINT = re.compile(
    rf"[\d½¼¾]|\b(?:{'|'.join((*ONES, *TENS, *SCALES, *ORDINALS, *PARTS, *MONTHS))})\b".replace("|½|¼", ""),
    re.IGNORECASE,
)
"""What a text without any quantity has none of; most sentences are done with after this one look."""

_LOOK_BACK = 28
_DASHES = frozenset("- ‐ ‑ – — : / to".split())


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity. ``value`` is a plain number ("1000", "2.5"), "#3" an ordinal, or a word of its own ("half").

    ``unit`` is one of ``number_words.UNITS``; ``noun`` the stem of the content word right after it; ``bound`` says that
    the value is the least or the most; ``after`` is the value of the number just before it, as in "23–16".
    """

    value: str
    unit: str | None = None
    noun: str | None = None
    bound: Literal["least", "most"] | None = None
    after: str | None = None


def quantities_of(text: str) -> tuple[Quantity, ...]:
    """The quantities of *text*, in order: digits or English words, dates taken apart into day, month and year."""
    if not _HINT.search(text):
        return ()
    tokens = [
        Token(found[0].lower().replace("−", "-"), found.lastgroup or "", *found.span())
        for found in _TOKEN.finditer(text)
    ]
    return tuple(_read(tokens, text))


def _read(tokens: Sequence[Token], text: str) -> Iterator[Quantity]:
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.kind == "date":
            year, month, day = token.text.split("-")
            yield from (Quantity(year), Quantity(f"month {int(month)}"), Quantity(str(int(day))))
        elif token.kind == "number":
            value, used = _digits(tokens, i)
            yield _measured(value, tokens, i, i + used, text)
            i += used
            continue
        elif token.text in PARTS:
            yield Quantity(PARTS[token.text])
        elif token.text in MONTHS and _is_month(tokens, i, text):
            yield Quantity(MONTHS[token.text])
        elif token.text in ORDINALS and not (i == 0 and text[token.end : token.end + 1] == ","):
            yield Quantity(f"#{ORDINALS[token.text]}")
        elif used := spelled_length(tokens, i):
            ordinal = ordinal_behind(tokens, i + used)
            value = str(spelled_value(tokens[i : i + used]))
            yield Quantity(f"#{int(value) + ordinal}") if ordinal else _measured(value, tokens, i, i + used, text)
            i += used + (ordinal > 0)
            continue
        i += 1


def _digits(tokens: Sequence[Token], i: int) -> tuple[str, int]:
    """The value of the digits at *i* with a scale behind them ("1.5 million", "5k"), and the tokens it takes."""
    plain = _plain(tokens[i].text)
    if i + 1 == len(tokens) or tokens[i + 1].kind != "word":
        return plain, 1
    after = tokens[i + 1]
    glued = after.start == tokens[i].end
    if glued and after.text in ("st", "nd", "rd", "th"):
        return f"#{plain}", 2
    if glued and after.text == "s":
        return f"{plain}s", 2
    scale = GLUED_SCALES.get(after.text) if glued else SCALES.get(after.text)
    if scale is None or not re.fullmatch(r"-?\d+(?:\.\d+)?", plain):
        return plain, 1
    return _plain(f"{float(plain) * scale:.4f}"), 2


def _plain(number: str) -> str:
    """ "1,000" as "1000", "2.50" as "2.5", "007" as "7", ".5" as "0.5"; "1.2.0" and "10:30" as they are."""
    whole = number.replace(",", "")
    if re.fullmatch(r"-?\d*\.\d+", whole):
        whole = whole.rstrip("0").rstrip(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    digits = digits.lstrip("0") or "0"
    return sign + (f"0{digits}" if digits.startswith((".", ":")) else digits)


def _is_month(tokens: Sequence[Token], i: int, text: str) -> bool:
    """Whether the month's name at *i* is one: capitalised, and beside a number where it is another word too."""
    if not text[tokens[i].start].isupper():
        return False
    beside = [*tokens[max(0, i - 2) : i], *tokens[i + 1 : i + 2]]
    return tokens[i].text not in AMBIGUOUS_MONTHS or any(token.kind == "number" for token in beside)


def _measured(value: str, tokens: Sequence[Token], begin: int, end: int, text: str) -> Quantity:
    """*value*, which the tokens *begin*:*end* spell, with its unit, its noun and its bound."""
    following = tokens[end : end + 3]
    unit = UNITS.get(following[0].text) if following else None
    if unit is None and following and following[0].text == "per" and len(following) > 1 and following[1].text == "cent":
        unit = "percent"
    if unit is None and begin and tokens[begin - 1].kind == "sign":
        unit = UNITS.get(tokens[begin - 1].text)
    noun = stem(following[0].text) if following and _counts(following[0], tokens[end - 1], text) else None
    before = text[max(0, tokens[begin].start - _LOOK_BACK) : tokens[begin].start]
    behind = _AFTER.match(text, tokens[end - 1].end)
    bound: Literal["least", "most"] | None = None
    if _MOST.search(before) or (behind and behind["most"]):
        bound = "most"
    elif _LEAST.search(before) or (behind and behind["least"]):
        bound = "least"
    joined = begin and tokens[begin - 1].kind == "number" and text[tokens[begin - 1].end : tokens[begin].start]
    after = _plain(tokens[begin - 1].text) if joined and joined.strip() in _DASHES else None
    return Quantity(value, unit, noun, bound, after)


def _counts(word: Token, number: Token, text: str) -> bool:
    """Whether *word* is what *number* counts: a content word right behind it."""
    return word.kind == "word" and is_content(word.text) and not text[number.end : word.start].strip("-‐‑ ")

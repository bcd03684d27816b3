"""Tell where a sentence ends: not after an abbreviation or an ordinal, nor before a note mark."""

import re
from collections.abc import Iterable

_ABBREVIATED = re.compile(
    r"\b(?:approx|incl|excl|max|min|avg|ext|tel|vol|ca|resp|abs|para|sched|qty|núm)\.\s*\Z", re.IGNORECASE
)
_GOES_ON = re.compile(r"[\d$€£(a-z]|[A-Z]{2}")
"""What goes on after an abbreviation: "incl. VAT", "max. 5", but not "5 min. Then"."""
_NEVER_LAST = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Dra|Prof|Av|[Ll]t|[Zz]zgl|[Ii]nkl|[Bb]zw|[Vv]gl)\.\s*\Z")
"""Titles, and words that something follows in any sentence: "zzgl. MwSt.", "Dra. Ruiz"."""
_WEEKDAY = r"(?:Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)\."
_ABBREVIATED_DAY = re.compile(rf"\b{_WEEKDAY}\s*\Z")
_AFTER_DAY = re.compile(rf"[,\d]|{_WEEKDAY}")
_QUOTING = ("と", "って")
"""What goes on after a quotation in Japanese: "「…？」と聞いた"."""
_DAY_OF_MONTH = re.compile(r"(?:^|[\s(–-])(?:[12]?\d|3[01])\.\s*\Z")
_MONTH = re.compile(
    r"(?:January?|Jänner|February?|Feber|März|April|Mai|June?|Juni|July?|Juli|August|September|O[ck]tober|November|"
    r"De[cz]ember|(?:May|March) \d{4})\b|(?:Jan|Feb|Mär|Mrz|Apr|Jun|Jul|Aug|Sept?|O[ck]t|Nov|De[cz])\. "
)
_GERMAN_ORDINAL = re.compile(r"\b(?:[Dd](?:er|ie|as|en|em|es)|[Ii]m) \d{1,2}\.\s*\Z")
_SHORT = re.compile(r"(?:\d|(?<![^\W\d_])[^\W\d_]{1,5})\.\s*\Z")
"""What may be an abbreviation; after a longer word a small letter begins the name of a program."""
_WORD = re.compile(r"[^\W\d_]+(?![\w(/@-]|\.\w)")
"""A word that is no code ("typer.run")."""
_NOTE_MARKS = re.compile(r"[⁰¹²³⁴-⁹]+(?:,[⁰¹²³⁴-⁹]+)*\s*")
_FIRST_LETTER = re.compile(r"[\W\d_]*(\w)")


def goes_on(opening: str, sentence: str, following: str) -> bool:
    """Tell whether the sentence that begins with *opening* and ends with *sentence* goes on with *following*.

    A small letter goes on with what has a capital first letter: not where no sentence has one, as in chats.
    """
    if sentence.endswith(("」", "』")):
        return following.startswith(_QUOTING)
    if not sentence.rstrip().endswith("."):
        return False
    first = _FIRST_LETTER.match(opening)
    word = _WORD.match(following)
    return bool(
        (first and word and word[0].islower() and not first[1].islower() and _SHORT.search(sentence))
        or _NEVER_LAST.search(sentence)
        or (_ABBREVIATED.search(sentence) and _GOES_ON.match(following))
        or (_ABBREVIATED_DAY.search(sentence) and _AFTER_DAY.match(following))
        or (_DAY_OF_MONTH.search(sentence) and _MONTH.match(following))
        or (_GERMAN_ORDINAL.search(sentence) and following[:1].isalpha())
    )


def with_note_marks(pieces: Iterable[str]) -> list[str]:
    """Return *pieces* with the note marks that one begins with at the end of the one before: "40 seats.⁸ The"."""
    found: list[str] = []
    for piece in pieces:
        marks = _NOTE_MARKS.match(piece)
        if marks and found and not found[-1][-1].isspace():
            found[-1] += marks[0]
            found += filter(None, [piece[marks.end() :]])
        else:
            found.append(piece)
    return found

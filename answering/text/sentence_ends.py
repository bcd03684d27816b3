"""Where a sentence goes on after a point: patterns for a text with a ``CUT`` between two supposed sentences."""

import re

CUT = "\x1f"
_SMALL_LETTER = "[a-zß-öø-ÿа-яё]"
_WEEKDAY = r"\b(?:Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)\."
_ABBREVIATED = r"\b(?i:approx|incl|excl|max|min|avg|ext|tel|vol|ca|resp|abs|para|sched|qty|núm)\."
_NEVER_LAST = r"\b(?:Mr|Mrs|Ms|Dr|Dra|Prof|Av|[Ll]t|[Zz]zgl|[Ii]nkl|[Bb]zw|[Vv]gl)\."
_DAY_OF_MONTH = r"(?:^|[\s(–-])(?:[12]?\d|3[01])\."
_MONTH = (
    r"(?:(?:January?|Jänner|February?|Feber|März|April|Mai|June?|Juni|July?|Juli|August|September|O[ck]tober|November|"
    r"De[cz]ember|(?:May|March) \d{4})\b|(?:Jan|Feb|Mär|Mrz|Apr|Jun|Jul|Aug|Sept?|O[ck]t|Nov|De[cz])\. )"
)
_GERMAN_ORDINAL = r"\b(?:[Dd](?:er|ie|as|en|em|es)|[Ii]m) \d{1,2}\."
GOES_ON = re.compile(
    "|".join(
        (
            rf"{_NEVER_LAST}\s*{CUT}",  # "zzgl. MwSt.", "Dra. Ruiz"
            rf"{_ABBREVIATED}\s*{CUT}(?:[\d$€£(a-z]|[A-Z]{{2}})",  # "incl. VAT", "max. 5", but not "5 min. Then"
            rf"{_WEEKDAY}\s*{CUT}(?:[,\d]|{_WEEKDAY})",
            rf"{_DAY_OF_MONTH}\s*{CUT}{_MONTH}",
            rf"{_GERMAN_ORDINAL}\s*{CUT}[^\W\d_]",
            rf"\.{CUT}[/\\]",  # a path: "./configure", "../docs"
            f"[」』]{CUT}(?:と|って)",  # a quotation in Japanese: "「…？」と聞いた"
        )
    )
)
SMALL_AFTER = re.compile(
    rf"(?:\d|(?<![^\W\d_])[^\W\d_]{{1,5}})\.\s*{CUT}{_SMALL_LETTER}(?:(?![A-Z])[^\W\d_])*(?![\w(/@-]|\.\w)"
)
"""A small letter after what may be an abbreviation; after a longer word it begins the name of a program."""
SMALL_FIRST = re.compile(rf"[\W\d_]*{_SMALL_LETTER}")
"""The beginning of a sentence in a text without capitals, such as a chat: there a small letter begins the next too."""
NOTE_MARKS = re.compile(rf"(?<=\S){CUT}([⁰¹²³⁴-⁹]+(?:,[⁰¹²³⁴-⁹]+)*\s*)")
"""Note marks cut off from their sentence: "40 seats.⁸ The"."""

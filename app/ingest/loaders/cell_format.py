"""Show the value of a spreadsheet cell by its number format, as the sheet does.

Dates are written as ISO 8601 where the format shows day, month and year in numbers, since 01/02/26 is two days, or the
month in another language than English, whose names are not known here; years have four digits. No kept library does
this for the codes of Office Open XML (ECMA-376, part 1, 18.8.31).
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal

GENERAL_DIGITS = 10  # significant digits of a fraction in a cell without a format of its own
_TOKEN = re.compile(r'(?is)"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|E[+-]|General|.')
_NAMED = {"mmmm": "%B", "mmm": "%b", "mm": "%m", "m": "%m", "dddd": "%A", "ddd": "%a", "dd": "%d"}
_NAMED |= {"yyyy": "%Y", "yy": "%Y"}
_LANGUAGE = re.compile(r"\[\$[^\]-]*-([0-9a-f]+)\]", re.IGNORECASE)
ENGLISH = 9  # the lowest ten bits of a language's number in Windows ([MS-LCID]): the language without its region
_CONDITION = re.compile(r"\[[<>=]")
_SECTION = re.compile(r'(?:"[^"]*"|\\.|[^;"\\])*(?:;|$)')


def shown(value: object, code: str) -> str:
    """Return *value* as the number format *code* shows it; empty for None."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case int() | float():
            return _number(Decimal(repr(value)), code)
        case datetime():
            return _moment(value, code)
        case date():
            return value.isoformat()
        case time():
            return _time(value, code)
        case timedelta():
            return _duration(value, code)
        case _:
            return str(value)


def _general(value: Decimal) -> str:
    whole = value == value.to_integral_value()
    return f"{value:.0f}" if whole else f"{float(value):.{GENERAL_DIGITS}g}"


def _number(value: Decimal, code: str) -> str:
    sections = [section.rstrip(";") for section in _SECTION.findall(code)][:-1] or ["General"]
    if not value.is_finite() or any(map(_CONDITION.search, sections)):
        return _general(value) if value.is_finite() else ""
    at = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    return _filled(value if at == 0 else abs(value), sections[at])


def _tokens(section: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of a section: 0, #, ?, point, comma, %, E, General, @, /, and text to show."""
    for match in _TOKEN.finditer(section):
        token = match[0]
        if match[1] is not None or match[2] or match[3]:
            yield "text", match[1] or match[2] or match[3] or ""
        elif token[0] in "[_*":  # a colour, a pad
            yield "text", ""
        elif token in tuple("0#?.,%@/"):
            yield token, token
        elif token.lower() == "general" or token[0] in "Ee":
            yield ("General" if token.lower() == "general" else "E"), token
        else:
            yield "text", token


def _filled(value: Decimal, section: str) -> str:
    """Fill the placeholders of one section of a code; fractions (``# ?/?``) and text (``@``) are shown generally."""
    tokens = list(_tokens(section))
    kinds = [kind for kind, _ in tokens]
    digits = [at for at, kind in enumerate(kinds) if kind in tuple("0#?")]
    if "General" in kinds:
        return "".join(_general(value) if kind == "General" else text for kind, text in tokens).strip()
    if "/" in kinds or "@" in kinds or not tokens:
        return _general(value)
    if not digits:
        return "".join(text for _, text in tokens).strip()
    point = kinds.index(".") if "." in kinds else digits[-1] + 1
    if "E" in kinds:
        return f"{value:.{sum(point < at < kinds.index('E') for at in digits)}E}"
    scaled = value * 100 ** kinds.count("%") / 1000 ** kinds[digits[-1] :].count(",")
    places = [at for at in digits if at > point]
    rounded = abs(scaled).quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP)
    whole, _, fraction = f"{rounded:f}".partition(".")
    while fraction and kinds[places[len(fraction) - 1]] == "#" and fraction[-1] == "0":
        fraction = fraction[:-1]
    placed = _placed(whole.lstrip("0"), [at for at in digits if at < point], kinds)
    placed |= dict.fromkeys(places, "") | ({point: f".{fraction}"} if fraction else {})
    shown_tokens = (placed.get(at, "" if kind in ",." else text) for at, (kind, text) in enumerate(tokens))
    sign = "-" if value < 0 and rounded else ""
    return " ".join((sign + "".join(shown_tokens)).split())


def _placed(whole: str, before: list[int], kinds: list[str]) -> dict[int, str]:
    """Give each placeholder before the point its digits, from the right; the first takes what is left over."""
    if not before:
        return {}
    whole = whole.rjust(sum(kinds[at] == "0" for at in before), "0")
    if "," in kinds[before[0] : before[-1]]:
        groups = f"{int(whole):,}".rjust(len(whole), "0") if whole else ""
        return dict.fromkeys(before, "") | {before[-1]: groups}
    placed: dict[int, str] = {}
    for at in reversed(before[1:]):
        placed[at], whole = whole[-1:], whole[:-1]
    return placed | {before[0]: whole}


def _parts(code: str) -> str:
    """Return a date code in lower case, without its texts and colours; escaped signs stay."""
    tokens = (match for match in _TOKEN.finditer(code) if not match[1] and match[0][0] not in "[_*")
    return "".join(match[2] or match[0] for match in tokens).lower()


def _moment(value: datetime, code: str) -> str:
    parts = _parts(code)
    shows_day, shows_year, shows_time = "d" in parts, "y" in parts, "h" in parts
    if shows_time and not shows_day and not shows_year:
        return _time(value.time(), code)
    if not (shows_day and shows_year) and (shows_day or shows_year) and not shows_time:
        return _day(value, parts)
    in_words, _, _ = parts.partition("h")
    english = all(int(language, 16) & 0x3FF == ENGLISH for language in _LANGUAGE.findall(code))
    named = english and all(some in in_words for some in ("d", "mmm", "y"))
    day = _day(value, in_words) if named else value.date().isoformat()
    return f"{day} {_time(value.time(), code)}" if shows_time and value.time() != time() else day


def _day(value: datetime, parts: str) -> str:
    runs = re.findall(r"m+|d+|y+|[^mdy]+", parts)
    texts = (str(value.day) if run == "d" else value.strftime(_NAMED[run]) if run in _NAMED else run for run in runs)
    return "".join(texts).lstrip("0").strip(" ;@")


def _time(value: time, code: str) -> str:
    parts = _parts(code)
    seconds = ":%S" if "s" in parts or value.second else ""
    if "am/pm" in parts or "a/p" in parts:
        return value.strftime(f"%I:%M{seconds} %p").lstrip("0")
    return value.strftime(f"%H:%M{seconds}")


def _duration(value: timedelta, code: str) -> str:
    """Return hours, minutes and seconds as the code counts them: ``[h]:mm`` goes beyond a day."""
    code, total = code.lower(), round(abs(value).total_seconds())
    sign = "-" if value < timedelta() else ""
    minutes, seconds = divmod(total, 60)
    if "[s" in code:
        return f"{sign}{total}"
    if "[m" in code:
        return f"{sign}{minutes}:{seconds:02}" if "s" in code else f"{sign}{minutes}"
    hours, minutes = divmod(minutes, 60)
    shown_seconds = f":{seconds:02}" if "s" in code or seconds else ""
    return f"{sign}{hours}:{minutes:02}{shown_seconds}"

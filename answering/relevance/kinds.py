"""Tell whether a sentence has what a question asks for: a time, a day, a frequency, a version, a port or an address."""

import re

from answering.relevance.quantities import DAYS
from answering.text.dates import MONTH
from answering.text.terms import NUMBERS, stem, stems

_OF_DAY = r"noon|midday|midnight|dawn|dusk|sun(?:rise|set)|(?:half|quarter)[ ](?:past|to)"
"""Times of day in words."""
_ASKS_FREQUENCY = re.compile(r"\bhow (?:often|frequently|many times)\b|\bwhat frequency\b", re.IGNORECASE)
_FREQUENCY = re.compile(
    rf"""\b(?:every|each|per|an?[ ](?:second|minute|hour|day|week|month|quarter|year)|once|twice|thrice|times?|always
    |never|continuous(?:ly)?|constantly|regular(?:ly)?|hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly
    |annual(?:ly)?|biannual(?:ly)?|biennial(?:ly)?|{DAYS}|mornings|evenings|weekdays|weekends|whenever
    |(?:after|before|on|at|with)[ ](?:any|all|the[ ](?:start|beginning|end))|intervals?|hertz|hz|rpm|cron|as[ ]often)\b
    |\d+[ -](?:hour|day|week|month|year)ly|@\w+ly""",
    re.IGNORECASE | re.VERBOSE,
)
"""What can stand for how often something happens; a date or a span of time is none."""
_ASKS_TIME = re.compile(
    r"(?:^(?:\w+ )?|[,.;] )when\b|\bwhen\W*\Z|\b(?:(?:what|which) (?:time|date|day|month|year)|how late)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"""\b(?:1[5-9]|20)\d\d\b|\b\d{{1,2}}[:.h/-]\d\d|\b\d{{1,2}}[.]?\s?(?:am|pm|a\.m|p\.m|o['’]clock|h|uhr)\b
    |(?:\b(?:at|from|by|until|till|to|before|after|between|since|around|on)[ ]|[:–|-][ ]?)\d|\b(?:q|fy|h)\d
    |\d(?:st|nd|rd|th)\b|\b(?:at|from|by|until|till|before|after|since)[ ](?:{"|".join(NUMBERS)})\b
    |\b(?:when(?:ever)?|while|until|till|before|after(?:wards)?|during|since|once|then|first|last|next|immediately
    |at[ ]once|as[ ]soon|now|today|tomorrow|yesterday|soon|always|never|every|each|any[ ]time|if|in[ ]case|upon
    |(?:at|on)[ ](?:the|your)|daily|weekly|monthly|quarterly|yearly|annually|hourly|{_OF_DAY}|morning
    |afternoon|evening|night|weekends?|(?:second|minute|hour|day|week|month|quarter|year|decade)s?|{DAYS}?|{MONTH}
    |spring|summer|autumn|fall|winter|christmas|easter|upcoming|later|earlier|ahead[ ]of
    |prior[ ]to|in[ ]advance|start|end|begin(?:ning|s)?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What can stand for a point in time, or for the event that something happens at."""
_ASKS_CLOCK = re.compile(r"\b(?:what|which) (?:time|date|day|month|year)\b|\bhow late\b", re.IGNORECASE)
_OTHER_CLOCKS = (
    re.compile(r"几点|幾點|何時|कितने बजे"),
    re.compile(r"[:：]|[\d一二三四五六七八九十两]\s?[点點]|時(?!間)|बजे"),
)
"""A time of day asked for in Chinese, Japanese or Hindi, and one said."""
_ASKS_WEEKDAY = re.compile(r"\b(?:what|which) (?:days? of the week|weekdays?)\b", re.IGNORECASE)
_WEEKDAY = re.compile(
    rf"\b(?:{DAYS}?|weekdays?|weekends?|daily|every day|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b)", re.IGNORECASE
)
_ASKS_PORT = re.compile(
    r"\b(?:default|tcp|udp) port\b|\bport number\b|\b(?:what|which) port\b.*\b(?:default|listen\w*|called|server)\b",
    re.IGNORECASE,
)
_PORT = re.compile(r"\b\d{2,5}\b")
_ASKS_MAIL = re.compile(r"\b(?:what(?: is|['’]s) the|to which) e-?mail address\b", re.IGNORECASE)
_MAIL = re.compile(r"@|[\[(]at[\])]")
_ASKS_SITE = re.compile(r"\bwhat(?: is|['’]s) the (?:web ?address|web ?site|url)\b", re.IGNORECASE)
_SITE = re.compile(r"://|\bwww\.|\w\.[a-z]{2,7}\b|\blocalhost\b|\]\(|/\w")
_ASKS_VERSION = re.compile(r"\b(?:what|which) version\b", re.IGNORECASE)
_VERSION = re.compile(
    r"\d|\b(?:latest|newest|current|any|every|all|alpha|beta|stable|edition|release)\b", re.IGNORECASE
)
_ASKS_HOUR = re.compile(
    r"(?<!\bin )(?<!\bwithin )\b(?:what|which) time\b(?! of (?:the )?(?:year|month|week)\b)", re.IGNORECASE
)
_HOUR = re.compile(
    rf"""\d[:.h]\d\d\b|\b\d{{1,2}}[ ]?(?:[ap]\.?m|h|uhr|o['’]clock)\b|\d[ ]?[–-][ ]?\d{{1,2}}\b
    |\b(?:at|from|by|until|till|to|before|after|around|between|since)[ ](?:\d{{1,2}}|{"|".join(NUMBERS)})\b
    |\b(?:{_OF_DAY}|mornings?|afternoons?|evenings?|nights?|any[ ]?time|all[ ]day
    |around[ ]the[ ]clock|after|before|until|till)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_WHY = re.compile(r"\A\W*(?:and )?why\b", re.IGNORECASE)
_REASON = re.compile(
    r"\b(?:because|since|so|due|owing|therefore|thus|hence|otherwise|else|reasons?|caus\w+|order|thanks|prevent\w*|avoid\w*"
    r"|ensur\w*|protect\w*|allow\w*|lets?|help\w*|make\w*|means?|risk\w*|danger\w*|needs?|would|could|can|cannot|as|to"
    r"|for|if|when|while|without)\b|[:;–—]",
    re.IGNORECASE,
)
"""What can link something to its reason; a sentence with none of these only states it."""
KINDS = (
    (_ASKS_WHY, _REASON),
    (_ASKS_SITE, _SITE),
    (_ASKS_VERSION, _VERSION),
    (_ASKS_HOUR, _HOUR),
    (_ASKS_FREQUENCY, _FREQUENCY),
    (_ASKS_TIME, _TIME),
    (_ASKS_WEEKDAY, _WEEKDAY),
    (_ASKS_PORT, _PORT),
    (_ASKS_MAIL, _MAIL),
    _OTHER_CLOCKS,
)
"""What a question asks for, and what of it a sentence that answers has."""
_PERIODS = {
    "hour": r"hourly",
    "night": r"nightly",
    "day": r"daily",
    "week": r"weekly",
    "month": r"monthly",
    "quarter": r"quarterly",
    "year": r"yearly|annual(?:ly)?|per annum",
}
_RATE = r"(?:rates?|prices?|fees?|fares?|tickets?|pass(?:es)?|rent|costs?|charges?)"
_PERIOD_PATTERNS = {
    period: re.compile(
        rf"\b(?:(?:per|each|every|an?) {period}|{adverb}|{period} {_RATE})\b|/ ?{period}\b", re.IGNORECASE
    )
    for period, adverb in _PERIODS.items()
}
ASKS_PERIOD = re.compile("|".join(pattern.pattern for pattern in _PERIOD_PATTERNS.values()), re.IGNORECASE)
"""A question that may ask for an amount per week, say."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_ROW = re.compile(r"[^:;]+: [^;]*; ")  # with the names of its columns
_BEGINS = frozenset(map(stem, "start starts begin begins open opens opening commence starting beginning".split()))
_ENDS = frozenset(map(stem, "end ends ending finish close closes closing shut stop expire".split()))
_LEAST, _MOST = (
    frozenset(map(stem, ("minimum", "lowest"))),
    frozenset(map(stem, ("maximum", "highest"))),
)
_EXTREMES = (
    "cheapest/dearest shortest/longest smallest/largest smallest/biggest oldest/newest oldest/youngest "
    "heaviest/lightest earliest/latest slowest/fastest"
)
_PAIRS = [tuple(frozenset({stem(word)}) for word in pair.split("/")) for pair in _EXTREMES.split()]
_TIMED = ((_BEGINS, _ENDS), (_ENDS, _BEGINS))
_OPPOSITES = ((_LEAST, _MOST), (_MOST, _LEAST), *_PAIRS, *((most, least) for least, most in _PAIRS))
ASKS_END = re.compile(
    rf"\b(?:(?:start|begin|open|commenc|end|finish|clos|shut|stop|expir|minimum|lowest|maximum|highest)\w*"
    rf"|{'|'.join(re.split('[/ ]', _EXTREMES))})\b",
    re.IGNORECASE,
)
"""A question that may ask for one of two ends."""
_SPAN = re.compile(
    r"\b(?:to|until|till|through|between|lasts?|runs?)\b|\bfor (?:an? |the (?:first|whole|next) |\d)"
    r"|\d ?[-–—] ?\d|\w [–—] \w",
    re.IGNORECASE,
)
"""What names both ends of something: "open from 9 to 17"."""
_DATE = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)? ?(and|or|&|to|until|till|[-–]) ?)?(\d{{1,2}})(?:st|nd|rd|th)? ({MONTH})\b",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"\b(?:19|20)\d\d-(0[1-9]|1[0-2])-([0-2]\d|3[01])\b")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
ON_DATE = re.compile(rf"\bon (?:the )?(\d{{1,2}}(?:st|nd|rd|th)? {MONTH})\b", re.IGNORECASE)
"""A question for what is on a day: "on 25 December"."""
ON_DAY = re.compile(rf"\bon .*?(?:{DAYS}?|week(?:day|end)s?)\b.*", re.IGNORECASE)
"""A question for what is on a day: "the Friday market" may be spoken of on another."""
_ANY_DAY = re.compile(r"\b(?:every day|daily|any|all|except|but|other|rest|holidays?)\b", re.IGNORECASE)
_NAME = re.compile(
    r"\b(?:(?i:((?:mon|tues|wednes|thurs|fri|satur|sun|week)day|weekend)s?)"
    r"|(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun))\b(\s?(?:[-–—]|to|through|until|till)(?=\s?\w))?"
)
"""A day, the working days or the weekend, and what follows where a span begins with it."""
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def is_of_other_days(question: str, text: str) -> bool:
    """Whether *text* names days of the week, and none that *question* names after "on"."""
    on_day = ON_DAY.search(question)
    asked, named = days_of(on_day[0] if on_day else ""), days_of(text)
    return bool(asked and named) and asked.isdisjoint(named)


def is_of_other_period(question: str, text: str) -> bool:
    """Whether *question* asks for an amount per week, say, and *text* has one amount, or is a row, per another."""
    asked, found = (
        {period for period, pattern in _PERIOD_PATTERNS.items() if pattern.search(said)} for said in (question, text)
    )
    one = len(_NUMBER.findall(text)) == 1 or _ROW.match(text)
    return bool(asked and found and one) and asked.isdisjoint(found)


def is_of_other_end(question: str, text: str) -> bool:
    """Whether *text* says when something begins, where *question* asks when it ends, or the least for the most."""
    asked, said = frozenset(stems(question)), frozenset(stems(text))
    asks_time = _ASKS_TIME.search(question) or _ASKS_HOUR.search(question) or _ASKS_CLOCK.search(question)
    return not _SPAN.search(text) and any(
        not asked.isdisjoint(mine)
        and asked.isdisjoint(theirs)
        and said.isdisjoint(mine)
        and not said.isdisjoint(theirs)
        for mine, theirs in (*_OPPOSITES, *(_TIMED if asks_time else ()))
    )


def is_of_other_date(question: str, text: str) -> bool:
    """Whether *question* asks what is on a day of a month, and *text* names such days and not that one."""
    asked = frozenset(date for found in ON_DATE.findall(question) for date in _dates(found))
    return bool(asked) and bool(named := _dates(text)) and asked.isdisjoint(named)


def _dates(text: str) -> frozenset[tuple[int, str]]:
    """Return the days and months that *text* names: "24 and 31 December", "from 3 to 5 May", "2026-05-03"."""
    dates = {(int(day), _MONTHS[int(month) - 1]) for month, day in _ISO_DATE.findall(text)}
    for first, joint, last, month in _DATE.findall(text):
        spans = bool(joint) and joint not in ("and", "or", "&")
        days = range(int(first), int(last) + 1) if spans else [int(day) for day in (first, last) if day]
        dates.update((day, month[:3].lower()) for day in days)
    return frozenset(dates)


def days_of(text: str) -> frozenset[int]:
    """Return the days that *text* names, with those inside its spans; none where it may be about any day."""
    days: set[int] = set()
    start = None
    for name, short, to in [] if _ANY_DAY.search(text) else _NAME.findall(text):
        word = (name or short).lower()
        if word.startswith("week"):
            days.update(range(5) if word == "weekday" else (5, 6))
            continue
        day = _DAYS.index(word[:3])
        days.update([day] if start is None else (at % 7 for at in range(start, start + (day - start) % 7 + 1)))
        start = day if to else None
    return frozenset(days)

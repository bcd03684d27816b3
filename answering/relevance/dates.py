"""Find the later one of sections and documents that have a date, as minutes, messages and releases do."""

import re
from collections.abc import Sequence

from answering.relevance.entities import MONTH
from answering.text.terms import question_stems, stems, vocabulary
from answering.types import Chunk, ReadPassage

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NAMED = r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|august|sept(?:ember)?|october|november|december)"
_YEAR = r"(?:19|20)\d\d"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?\.?"
DATED = re.compile(
    rf"(?<![^\W_])(?:(?P<day>{_DAY}) (?:of )?(?P<month>{MONTH}),? (?P<year>{_YEAR})"
    rf"|(?P<month2>{MONTH}) (?P<day2>{_DAY}),? (?P<year2>{_YEAR})|(?P<month3>{_NAMED}),? (?P<year3>{_YEAR})"
    rf"|(?P<day4>[0-3]?\d)\.(?P<number4>[01]?\d)\.(?P<year4>{_YEAR})"
    rf"|(?P<year5>{_YEAR})[-_.](?P<number5>[01]\d)(?:[-_.](?P<day5>[0-3]\d))?)(?![\d-]*\d|[^\W\d_])",
    re.IGNORECASE,
)
"""A day of a year: "13 May 2025", "May 13, 2025", "13.5.2025", "2025-05-13"; or a month: "May 2025", "2025-05"."""
_ISO, MAX_DAY = re.compile(r"\d{4}(?:-\d\d){0,2}"), 31
NOT_IN_FORCE = "~"
"""Stands before the date of a draft, and of a document that was superseded."""
DRAFT_SHARE, MIN_ANSWERS = 0.5, 0.5
"""Share of its probability to answer that a draft, or what was superseded, has beside what is in force, if that answers
with the second at least. Not fitted."""
ASKS_EARLIER = re.compile(
    r"\b(?:drafts?|superseded|obsolete|outdated|previously|formerly|used to|back then|version \d|v\d"
    r"|(?:previous|former|earlier|old|original) (?:version|edition|rules?|polic\w+|guidelines?|fees?|prices?|limits?)"
    rf"|(?:was|were|did)\b.{{0,80}}\b{_YEAR})\b",
    re.IGNORECASE,
)
"""A question for what a draft, or an earlier version, says."""
_NAMED_YEAR = re.compile(rf"\b{_YEAR}\b")
_OF_VERSION = re.compile(
    rf"\([^()]*\b(?:draft|version|superseded|old|new|final|v\d|{_YEAR})\b[^()]*\)|\b(?:draft|version \d|v\d)[\d.]*"
    rf"|{DATED.pattern}|\b{_YEAR}\b",
    re.IGNORECASE,
)
"""What versions of one document have in their titles: years, dates, "v2", "(draft)"."""
Date = tuple[int, ...]
"""Year, month and day, 0 for an unknown day; empty for what has no date, which is before all others."""


def date_in(text: str) -> Date:
    """Return the first date in *text*; () where it has none."""
    return next(iter(dates_in(text)), ())


def dates_in(text: str) -> list[Date]:
    """Return the dates in *text*, in their order."""
    return [*filter(None, map(_date, DATED.finditer(text)))]


def _date(found: re.Match[str]) -> Date:
    """Return a date that was *found*; () for one that is none, "5.13.2025"."""
    parts = {name.rstrip("2345"): value for name, value in found.groupdict().items() if value}
    name = parts.get("month", "")[:3].lower()
    month = _MONTHS.index(name) + 1 if name else int(parts["number"])
    day = re.match(r"\d+", parts.get("day", "0"))
    date = int(parts["year"]), month, int(day[0]) if day else 0
    return date if 1 <= month <= len(_MONTHS) and date[2] <= MAX_DAY else ()


_WORD = re.compile(r"\w[\w.,:]*\w|\w")
FEW_WORDS = 3
"""A sentence of fewer words is mostly a heading within a line: "Fire wardens."."""
MIN_SHARED = 1 / 3
"""Share of the question's words that a nearer passage has, to tell of a change of the same thing. Not fitted."""
SAME_SHARE = 0.8
"""Share of its probability to answer from which a later version of the document answers instead. Not fitted."""
NEAREST, MAX_LATER = 3, 5
"""Candidates with whose dates those of further ones are compared, and most further ones that are kept. Not fitted."""
LATER_SHARE = 0.4
"""Share of its probability to answer from which a later section is quoted beside an earlier one. Not fitted."""
CHANGES = re.compile(
    r"\b(?:instead|no longer|any ?more|(?:from )?now|(?:as|with effect) (?:of|from)|again|once more|need not"
    r"|decided|resolved|agreed|elected|appointed|successor"
    rf"|(?:from|until|till) (?:\d{{1,2}} )?{MONTH}|until further notice|back to"
    r"|(?:takes?|took|hands?|handed) over|follows|succeeds|steps? down"
    r"|put (?:back|forward|off|up)|brought forward|postponed"
    r"|ris(?:es?|en)|rose|go(?:es)? (?:up|down|to|back)|mov(?:es?|ed)|cut|end(?:s|ed)|stops?|withdrawn"
    r"|(?:rais|lower|increas|reduc|extend|chang|lift|dropp|cancel|clos|replac|abolish|scrapp|revok|doubl|halv)\w*)\b",
    re.IGNORECASE,
)
"""Words of a sentence that changes what was so before: "goes up from 25 to 30 euros", "is no longer allowed"."""


CORRECTS = re.compile(
    r"\b(?:correct(?:ions?|ed)|amend(?:ments?|ed)|revis(?:ions?|ed)|errat(?:um|a)|update[sd]?)\b", re.IGNORECASE
)
"""A heading of what changes another document."""


def later_section(question: str, chunks: Sequence[Chunk], best: Chunk) -> Chunk | None:
    """Return the last of *chunks* that are later than *best* and may answer *question* as well.

    Minutes may take a decision back, a release may change a default. Those of another document may change what one
    with an earlier date, or with none, says: their best sentence answers, or tells of a change. None where no later
    one may answer.
    """
    date = date_of(best)
    later = [chunk for chunk in chunks if chunk.scores and _rank(chunk) > _rank(best)]
    later = [chunk for chunk in later if (date and chunk.document_id == best.document_id) or _tells_of_change(chunk)]
    least = LATER_SHARE * (best.answers or 0.0)
    likely = [chunk for chunk in later if (chunk.answers or 0.0) >= least or _replaces(question, chunk, best)]
    return max(likely, key=_rank, default=None)


def in_force(question: str, chunks: Sequence[Chunk], best: Chunk) -> Chunk:
    """Return the one of *chunks* that most probably answers *question*, of the last version of its document.

    *best* is the most probable one of all. Drafts and what was superseded count less. Documents are versions of one
    where their titles differ in nothing but dates, numbers of versions, and what says that they are drafts. A question
    for an earlier state is answered by *best*, and one for a year by no other version.
    """
    if asks_earlier(question, best):
        return best

    def weighted(chunk: Chunk) -> float:
        return (chunk.answers or 0.0) * (DRAFT_SHARE if chunk.dated.startswith(NOT_IN_FORCE) else 1.0)

    first = max(chunks, key=weighted)
    if (first.answers or 0.0) < MIN_ANSWERS:  # what is in force does not answer
        return best
    if _NAMED_YEAR.search(question):
        return first
    likely = [chunk for chunk in chunks if weighted(chunk) >= SAME_SHARE * weighted(first)]
    return max([first, *(chunk for chunk in likely if _is_version_of(chunk, first))], key=_rank)


def asks_earlier(question: str, chunk: Chunk) -> bool:
    """Whether *question* asks for a draft or an earlier state, or for the year of *chunk*, which is not in force."""
    years = _NAMED_YEAR.findall(question)
    return bool(ASKS_EARLIER.search(question)) or any(year in f"{chunk.dated} {chunk.title}" for year in years)


def _is_version_of(one: Chunk, other: Chunk) -> bool:
    titles = {" ".join(_OF_VERSION.sub(" ", chunk.title).lower().split()) for chunk in (one, other)}
    dated = one.document_id != other.document_id and bool(one.dated and other.dated)
    return dated and len(titles) == 1 and "" not in titles


def is_later(chunk: Chunk, than: Chunk) -> bool:
    """Whether *chunk* is in force and has a later date than the other one, or that one is not in force."""
    return _rank(chunk) > _rank(than)


def _rank(chunk: Chunk) -> tuple[bool, Date]:
    return not chunk.dated.startswith(NOT_IN_FORCE), date_of(chunk)


def _replaces(question: str, later: Chunk, best: Chunk) -> bool:
    """Whether *later* tells of a change of what the best sentence of *best* says.

    It is nearer to *question* and has a third of its words, or repeats a value of that sentence: "Ines takes over from
    Gareth Pell", of the captain Gareth Pell; "Thursdays instead of Fridays".
    """
    said, before = best_sentence(later), best_sentence(best)
    if not CHANGES.search(said):
        return False
    values = _values(before) - {*_WORD.findall(later.headings)}
    if not values.isdisjoint(_values(said)):
        return True
    asked = frozenset(question_stems(question))
    shared = asked & vocabulary(f"{later.headings}\n{said}")
    return later.similarity > best.similarity and len(shared) >= MIN_SHARED * len(asked)


def _values(sentence: str) -> set[str]:
    """Return the numbers and names of *sentence*, its first word left aside."""
    return {word for word in _WORD.findall(sentence)[1:] if word[0].isupper() or any(map(str.isdigit, word))}


def with_later(chunks: Sequence[Chunk], most: int) -> list[int]:
    """Return the places of the first *most* of *chunks*, and of a few others later than one of the nearest."""
    ranks = [rank for chunk in chunks[:NEAREST] if (rank := _rank(chunk)) > (True, ())]
    later = [n for n in range(most, len(chunks)) if ranks and min(ranks) < _rank(chunks[n])]
    return [*range(min(most, len(chunks))), *later[:MAX_LATER]]


def later_than(chunks: Sequence[Chunk], found: Sequence[Chunk]) -> list[Chunk]:
    """Return those of *chunks* with a later date than all of *found*: they may say what changed.

    First those with a sentence that has most words of what answers: "back to 30 EUR without second approval".
    """
    last = max(map(_rank, found), default=(False, ()))
    answering = [_best_read(chunk.sentences, chunk.reading) for chunk in found if chunk.reading]
    said = frozenset(term for text in answering for term in stems(text))
    later = [chunk for chunk in chunks if _rank(chunk) > last]
    return sorted(later, key=lambda chunk: -max(len(said.intersection(stems(text))) for text in chunk.sentences))


def _best_read(sentences: Sequence[str], reading: ReadPassage) -> str:
    """Return the one of *sentences* that answers best by the reader."""
    return sentences[reading.sentences.index(max(reading.sentences))]


def date_of(chunk: Chunk) -> Date:
    """Return the date of *chunk*: in its headings, the innermost first, else that of its document; () without one."""
    dated = chunk.dated.removeprefix(NOT_IN_FORCE)
    own = tuple(map(int, dated.split("-"))) if _ISO.fullmatch(dated) else ()
    inner, outer = (chunk.section or "", chunk.chapter or ""), (chunk.title, chunk.source or "")
    return next(filter(None, (*map(date_in, inner), own, *map(date_in, outer))), ())


def _tells_of_change(chunk: Chunk) -> bool:
    """Whether the best sentence of *chunk* answers, or changes what was so before."""
    answers = chunk.reading is not None and max(chunk.reading.sentences) > chunk.reading.null
    return answers or bool(CHANGES.search(best_sentence(chunk)) or CORRECTS.search(chunk.headings))


def best_sentence(chunk: Chunk) -> str:
    """Return the sentence of *chunk* that answers best, a heading within a line left aside; "" without one."""
    scored = zip(chunk.scores, chunk.sentences, strict=False)
    sentences = [(score, text) for score, text in scored if len(text.split()) >= FEW_WORDS]
    _, best = max(sentences, default=(0.0, ""))
    return best

"""What stands inside one pair of brackets: the numbers of chunks, the name of a document, or ordinary words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from graph.citing.document_names import fold, names_of
from graph.state import Chunk

_LABEL = (
    r"(?:chunk|source|document|doc|passage|context|ref|reference|citation|cite|footnote|note|excerpt|snippet|result"
    r"|item|number|no|id|see|cf|from)s?\b\s*[.:#]?"
)
_DASH = r"(?:-|‐|‑|–|—|−|~|…|\.{2,3}|to\b|through\b)"
_NUMBERS = re.compile(
    rf"\s*(?:(?P<first>\d+)\s*{_DASH}\s*(?:{_LABEL})?\s*[#^]?(?P<last>\d+)|(?P<one>\d+)|{_LABEL}|[#^,;&/|+]|and\b|or\b)",
    re.IGNORECASE,
)
_HELD = re.compile(r"\((?P<list>[^()]*+)\)")
_SIGNED = re.compile(r"[-+‐‑–−]\s*\d+")
_NUMBERED = re.compile(rf"(?:{_LABEL})?\s*(?P<number>\d+)\s*[,:–—-]\s*(?P<rest>\S.*)", re.IGNORECASE)
_LABELLED = re.compile(rf"{_LABEL}\s*#?\d+", re.IGNORECASE)
_PAGE = re.compile(rf"(?:pages?|pp?|pg)\b\.?\s*(?P<page>\d{{1,6}})(?:\s*{_DASH}\s*(?P<last>\d{{1,6}}))?", re.IGNORECASE)
_TRAILING_PAGE = re.compile(rf"[ :(#]\(?(?P<place>{_PAGE.pattern})\)?\Z", re.IGNORECASE)
_SECTION = re.compile(r"(?:sections?\b|sect?\.|§|chapter\b|ch\.)\s*(?P<section>\S.*)", re.IGNORECASE)
_FILE = re.compile(r"[^\s/\\][^/\\]*\.(?:pdf|md|txt|html?|docx?|rst|epub|odt|rtf|pptx?|tex)", re.IGNORECASE)
_NUMBER_BEHIND = re.compile(r"(?P<name>.*\S)\s*,\s*(?P<number>\d{1,6})")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_INVISIBLE = frozenset(("Cf", "Mn", "Me", "Cc"))


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker of a draft. Each of ``groups`` is what one citation names: 0-based places of chunks.

    A number names one chunk. A document or a page may be several; one of them that supports the sentence is enough,
    and only that one is cited. Without groups the marker names nothing that was given, and only goes.
    """

    groups: tuple[tuple[int, ...], ...] = ()


def merged(markers: Sequence[Marker]) -> Marker:
    """All that *markers* name, each once."""
    return Marker(tuple(dict.fromkeys(group for marker in markers for group in marker.groups)))


def visible(inside: str) -> str:
    """*inside* as a reader sees it: compatibility forms folded; zero-width characters, tags and emphasis left out."""
    if not inside.isascii():
        inside = unicodedata.normalize("NFKC", inside)
        inside = "".join(c for c in inside if c == "\n" or unicodedata.category(c) not in _INVISIBLE)
    if "<" in inside:
        inside = _TAG.sub(" ", inside)
    return " ".join(inside.split()).strip("*_~`\\ ")


def read_marker(inside: str, chunks: Sequence[Chunk]) -> Marker | None:
    """The marker that brackets around *inside* make, or None when they hold ordinary words.

    Numbers count *chunks* from 1; ranges may be reversed or reach beyond; what is out of range is left out.
    """
    seen = visible(inside)
    before, dagger, _ = seen.partition("†")  # 【1†source】, as some assistants write it
    numbers = read_numbers(before, len(chunks))
    if numbers is not None:
        return numbers
    return Marker() if dagger else _read_names(seen, chunks)


def read_numbers(seen: str, count: int) -> Marker | None:
    """The marker of a list of numbers and ranges within 1..*count*, or None when *seen* is no such list."""
    if _SIGNED.fullmatch(seen):
        return Marker()
    if held := _HELD.fullmatch(seen):  # "(1)"
        seen = held["list"]
    places: dict[tuple[int, ...], None] = {}
    position = 0
    any_number = False
    while position < len(seen):
        found = _NUMBERS.match(seen, position)
        if found is None:
            return None
        position = found.end()
        if found["first"] or found["one"]:
            any_number = True
            ends = sorted((int(found["first"] or found["one"]), int(found["last"] or found["one"])))
            places.update(((k - 1,), None) for k in range(max(1, ends[0]), min(ends[1], count) + 1))
    return Marker(tuple(places)) if any_number else None


def _read_names(seen: str, chunks: Sequence[Chunk]) -> Marker | None:
    """The marker of "doc.pdf, page 5; other.pdf, section Y", or None when one part names no document."""
    groups: list[tuple[int, ...]] = []
    for part in (part.strip() for part in seen.split(";")):
        if not part:
            continue
        found = _read_part(part, chunks)
        if found is None:
            return None
        groups.extend(found)
    return Marker(tuple(dict.fromkeys(groups))) if groups or any(c.isalnum() for c in seen) else None


def _read_part(part: str, chunks: Sequence[Chunk]) -> list[tuple[int, ...]] | None:
    """Groups of one part: [] when it is a citation of nothing given, None when it is none at all."""
    numbered = _NUMBERED.fullmatch(part)  # "Chunk 1: its title", "2, page 5"
    if numbered and _places(numbered["rest"], chunks) is not None:
        k = int(numbered["number"])
        return [(k - 1,)] if 1 <= k <= len(chunks) else []
    places = _places(part, chunks)
    if not places and (labelled := re.match(_LABEL, part, re.IGNORECASE)):
        without = _places(part[labelled.end() :].strip(), chunks)
        places = places if without is None else without
    if places is None:
        return None
    return [places] if places else []


def _places(part: str, chunks: Sequence[Chunk]) -> tuple[int, ...] | None:
    """Chunks of "doc", "doc, page 5", "page 5"; () when none fits, None when *part* is in none of these forms."""
    whole = tuple(i for i, chunk in enumerate(chunks) if fold(part) in names_of(chunk))
    if whole:
        return whole
    name, page, section = _split(part)
    if page is None and section is None:
        return () if _FILE.fullmatch(part) else _numbered_places(part, chunks)
    named = [i for i, chunk in enumerate(chunks) if not name or fold(name) in names_of(chunk)]
    fitting = tuple(i for i in named if _fits(chunks[i], page, section))
    if page is None and not fitting and not (name and (named or _FILE.fullmatch(name))):
        return None
    return fitting


def _numbered_places(part: str, chunks: Sequence[Chunk]) -> tuple[int, ...] | None:
    """Chunks of "doc, 5": its page 5, else the chunk with that number, if it is the document's."""
    found = _NUMBER_BEHIND.fullmatch(part)
    if found is None:
        return None
    number = int(found["number"])
    named = [i for i, chunk in enumerate(chunks) if fold(found["name"]) in names_of(chunk)]
    if not named and not _FILE.fullmatch(found["name"]):
        return None
    return tuple(i for i in named if chunks[i].page == number) or tuple(i for i in named if i + 1 == number)


def _split(part: str) -> tuple[str, range | None, str | None]:
    """*part* as name, pages and section: each of the last two None when it is not given."""
    fields = [field.strip() for field in part.split(",")]
    name: list[str] = []
    page: range | None = None
    for i, field in enumerate(fields):
        if found := _SECTION.fullmatch(field):
            return ", ".join(name), page, ", ".join([found["section"], *fields[i + 1 :]])
        if found := _PAGE.fullmatch(field):
            page = _pages(found)
        elif page is None and not (name and _LABELLED.fullmatch(field)):
            name.append(field)
    joined = ", ".join(name)
    if page is None and (found := _TRAILING_PAGE.search(joined)):
        return joined[: found.start()].strip(), _pages(found), None
    return joined, page, None


def _pages(found: re.Match[str]) -> range:
    ends = sorted((int(found["page"]), int(found["last"] or found["page"])))
    return range(ends[0], ends[1] + 1)


def _fits(chunk: Chunk, page: range | None, section: str | None) -> bool:
    if page is not None and (chunk.page is None or chunk.page not in page):
        return False
    if section is None:
        return True
    wanted = fold(section)
    titles = [fold(title) for title in (chunk.section, chunk.chapter) if title]
    begins = (f"{wanted} ", f"{wanted}.", f"{wanted}:")  # "section 5.2" of "5.2 Safety valves"
    return any(title == wanted or title.startswith(begins) or title.endswith(f" {wanted}") for title in titles)

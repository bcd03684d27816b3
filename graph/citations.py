"""The marker grammar: how models cite, read without guessing (contract, "Markers").

``parse`` cuts a draft into text and markers. Accepted are ``[1]``, ``[1, 2]``, ``[1-3]``, ``[^1]``, ``【1】``,
``[Source 1]``, ``[doc.pdf, page 5]``, ``[doc.pdf, section Y]`` and lists of these with ``;``. Code, array indices and
links are content. A marker that names no chunk that was given is kept as an empty marker, so that it can be dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from graph.state import Chunk

_FENCE = r"(?P<fence>(?:```|~~~)[\s\S]*?(?:```|~~~|\Z))"
_INLINE = r"(?P<inline>(?P<ticks>`+)[^\n]*?(?<!`)(?P=ticks)(?!`))"
_DEFINITION = r"(?P<definition>^[ \t]*\[\^?\d{1,9}\]:[^\n]*$)"
_LINK = r"(?P<link>!?\[\[?(?P<label>[^\[\]\n]{0,300})\]?\]\([^()\s]{1,2000}(?:\s+\"[^\"\n]{0,300}\")?\))"
_BRACKET = r"(?P<bracket>\[\[(?P<double>[^\[\]\n]{1,300})\]\]|\[(?P<single>[^\[\]\n]{1,300})\]|【(?P<lenticular>[^【】\n]{1,300})】)"
_TOKEN = re.compile("|".join((_FENCE, _INLINE, _DEFINITION, _LINK, _BRACKET)), re.MULTILINE)

_WORD = r"(?:(?:chunk|source|document|doc|passage|context|ref|reference|citation|cite|note)s?\s*[:#.]?\s*)?"
_NUMBER = r"[#^]?\s*(\d{1,9})(?:\s*(?:-|–|—|to)\s*[#^]?\s*(\d{1,9}))?"
_NUMBERS = re.compile(rf"\s*{_WORD}{_NUMBER}\s*(?:†[^\n]*)?", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*(?:,?\s*\band\b|[,;&/|])\s*", re.IGNORECASE)
_PLACE = re.compile(
    r"(?P<name>.+?)\s*,\s*(?:(?:pages?|pp?|pg)\b\.?\s*(?P<page>\d{1,6})|(?:sections?|sect?|§)\.?\s*(?P<section>.+))\s*",
    re.IGNORECASE,
)
_FILE = re.compile(r"[^\s/\\][^\n/\\]*\.[A-Za-z][A-Za-z0-9]{1,5}")
_SOURCES = re.compile(
    r"\n\s*(?:[#>*_\s]*)(?:sources?|references?|citations?)[*_\s]*:?[*_\s]*\n(?:[ \t]*(?:[-*]\s*)?(?:\[\^?\d+\]|【\d+】|\d+[.)])[^\n]*(?:\n|\Z)\s*)+\Z",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"\s*(?:\[\[?|【)\s*[\^#]?[\d\s,;–-]*\Z")
_CODE_NAMES = frozenset("arr array args argv buf data items list lst matrix params row rows tuple values vec xs".split())


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker of the draft. ``chunks`` are 0-based places of the chunks it names, without repeats.

    ``any_of`` is true for a marker that names a document or a page, which may be several chunks: one that supports
    the sentence is enough, and only that one is cited.
    """

    chunks: tuple[int, ...]
    any_of: bool = False


def parse(text: str, chunks: Sequence[Chunk]) -> list[str | Marker]:
    """Cut *text* into pieces, in order; joined, the strings are the text without its markers.

    Reference lists at the end, link definitions and links that only carry a number go, since they are citations in a
    form nobody can verify. An array index outside code is set as code, so that no bracketed number of it is left.
    """
    text = _SOURCES.sub("\n", text)
    pieces: list[str | Marker] = []
    done = 0
    for found in _TOKEN.finditer(text):
        piece = _read(found, text, chunks)
        if piece is None:
            continue
        pieces.append(text[done : found.start()])
        pieces.append(piece)
        done = found.end()
    pieces.append(text[done:])
    return [piece for piece in pieces if piece != ""]


def without_markers(text: str) -> str:
    """*text* of a document as an answer may repeat it: what looks like a numbered marker is taken out."""
    return "".join(tidy([p if isinstance(p, str) else None for p in parse(text, ())])).strip()


def without_dangling(text: str) -> str:
    """*text* of a model that was cut off, without the marker it had begun."""
    return _DANGLING.sub("", text)


def held_back(text: str) -> int:
    """How many characters at the end of *text* may still become a marker, and so must not be shown yet."""
    found = re.search(r"(?:\s*)(?:\[|【)[^\]】\n]{0,300}\Z|\s+\Z", text)
    return len(text) - found.start() if found else 0


def tidy(pieces: Sequence[str | None]) -> list[str]:
    """Join the text around dropped markers (None): no space is left before punctuation, none is doubled."""
    out: list[str] = []
    dropped = False
    for piece in pieces:
        if piece is None:
            dropped = True
            continue
        if dropped and out:
            before = out[-1].rstrip(" ")
            after = piece.lstrip(" ")
            gap = " " if after and (after[0].isalnum() or after[0] in "([“\"'") and before and before[-1] != "\n" else ""
            out[-1], piece = before, gap + after
        elif dropped:
            piece = piece.lstrip(" ")
        out.append(piece)
        dropped = False
    if dropped and out:
        out[-1] = out[-1].rstrip(" ")
    return out


def _read(found: re.Match[str], text: str, chunks: Sequence[Chunk]) -> str | Marker | None:
    """The piece a match stands for; None leaves the text as it is."""
    if found["fence"] or found["inline"]:
        return None
    if found["definition"]:
        return Marker(())
    if found["link"]:
        return Marker(()) if _numbers(found["label"], len(chunks)) is not None else None
    inside = unicodedata.normalize("NFKC", found["double"] or found["single"] or found["lenticular"])
    numbers = _numbers(inside, len(chunks))
    if numbers is None:
        return _named(inside, chunks)
    name = re.search(r"[A-Za-z_][\w.]*\Z", text[max(0, found.start() - 64) : found.start()])
    if name and found["single"] and _is_index(name[0], text[found.end() : found.end() + 2]):
        return Marker(()) if not name[0] else f"`{found[0]}`"
    return Marker(numbers)


def _is_index(name: str, after: str) -> bool:
    """Whether a bracket glued to *name* is an array index rather than a citation set without a space."""
    looks_like_code = (
        name.lower() in _CODE_NAMES or "_" in name or len(name) == 1 or bool(re.search(r"[a-z][A-Z]|\w\.\w", name))
    )
    return looks_like_code or bool(re.match(r"\.[a-z]|\(| ?=", after))


def _numbers(inside: str, count: int) -> tuple[int, ...] | None:
    """0-based chunk places of a numeric marker within 1..*count*, or None when *inside* is no list of numbers."""
    places: dict[int, None] = {}
    for part in _SEPARATOR.split(inside.strip()):
        found = _NUMBERS.fullmatch(part)
        if found is None:
            return None
        first = int(found[1])
        last = int(found[2]) if found[2] else first
        places.update(dict.fromkeys(range(max(first, 1) - 1, min(last, count))))
    return tuple(places)


def _named(inside: str, chunks: Sequence[Chunk]) -> Marker | None:
    """A marker that names documents, or None when the brackets hold ordinary words."""
    parts = [part.strip() for part in inside.split(";") if part.strip()]
    read = [_place(part, chunks) for part in parts]
    known = [places for places in read if places is not None]
    if not known or len(known) != len(read):
        return None
    return Marker(tuple(dict.fromkeys(place for places in known for place in places)), any_of=True)


def _place(part: str, chunks: Sequence[Chunk]) -> tuple[int, ...] | None:
    """The chunks of "doc, page 5" or "doc, section Y" or "doc"; () when none fits, None when it names no document."""
    whole = tuple(i for i, chunk in enumerate(chunks) if _is_name_of(part, chunk))
    if whole:
        return whole
    found = _PLACE.fullmatch(part)
    if found is None:
        return () if _FILE.fullmatch(part) else None
    named = [i for i, chunk in enumerate(chunks) if _is_name_of(found["name"], chunk)]
    if found["page"]:
        return tuple(i for i in named if chunks[i].page == int(found["page"]))
    wanted = _fold(found["section"])
    return tuple(i for i in named if wanted in (_fold(chunks[i].section or ""), _fold(chunks[i].chapter or "")))


def _is_name_of(name: str, chunk: Chunk) -> bool:
    wanted = _fold(name)
    names = {_fold(chunk.source or ""), _fold(chunk.document_id), _fold(chunk.title)}
    names |= {given.rsplit("/", 1)[-1] for given in names}
    names |= {given.rsplit(".", 1)[0] for given in names if _FILE.fullmatch(given)}
    return bool(wanted) and wanted in names


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip("\"'“”.")

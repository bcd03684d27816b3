"""The metadata that filters of a search use: a file's folder, type and day of change, and what it says of itself."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from pydantic import JsonValue

from answering.relevance.versions import NOT_IN_FORCE
from answering.text.dates import date_in, dates_in
from app.ingest.documents import MAX_LABEL_CHARS, LoadedDocument

MAX_FIELDS, MAX_ELEMENTS = 50, 100
"""Fields kept of one front matter, and elements of one list."""
MAX_NAME_CHARS = 100
EARLIEST = 1990
"""A year before it, in the first lines of a document, is that of something else: "founded on 3 May 1912"."""
HEAD_BLOCKS, MAX_HEAD_CHARS = 3, 200
"""Blocks at the head of a document in which its date is looked for, and how much of each."""
_YEAR = re.compile(r"(?<!\d)20[0-4]\d(?!\d)")
_STATES = "draft|superseded|obsolete|outdated|withdrawn|repealed|not (?:yet )?in force"
_STATE_IN_NAME = re.compile(
    rf"(?<![^\W_])(?:{_STATES})(?=[\s_]*(?:\Z|[),:;(\[–—-]|v?\d|version))|\((?:{_STATES}|archived|deprecated|expired|old)\b"
    r"|\b(?:no longer valid|old version)\Z",
    re.IGNORECASE,
)
_STATE_IN_FOLDER = re.compile(
    r"(?:\A|/)(?:archived?|obsolete|outdated|deprecated|superseded|drafts?|old)/", re.IGNORECASE
)
_STATE_IN_TEXT = re.compile(
    rf"^\W{{0,4}}status\W{{1,6}}(?:{_STATES}|deprecated|proposed)\b"
    r"|\bthis (?:\w+ ){1,2}(?:is|was|has been) (?:(?:an? )?draft\b|(?:superseded|replaced|withdrawn|repealed) by\b"
    r"|(?:obsolete|outdated|deprecated|no longer (?:valid|in force|maintained))(?=[.,;!)]|$| since\b| and\b))"
    r"|\bno longer in force\b|\((?:draft|not (?:yet )?in force)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""What a document that is not in force has in its name or title, its folder, and at its head."""
AMENDS = re.compile(r"\bamend(?:ments?|ed|s|ing)\b", re.IGNORECASE)
TAKEN = frozenset(
    "chapter chunk_id chunk_index content_hash dated doc_id document document_id document_title ingested_at "
    "json_fields metadata modified page page_content page_number section section_title source source_doc source_url "
    "spans text title url".split()
)
"""Metadata that has a meaning of its own, which no front matter may change."""


def file_fields(path: Path, source: str) -> dict[str, JsonValue]:
    """Return ``folder`` ("" for none), ``type`` (the suffix) and ``modified`` (a day, UTC) of a file."""
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    return {"folder": source.rpartition("/")[0], "type": path.suffix.lower().lstrip("."), "modified": modified}


def date_field(document: LoadedDocument) -> dict[str, JsonValue]:
    """Return the date of a document as ``dated``: of its front matter, name or title, or in its first lines.

    A message has it in its head, minutes and letters above their text; tables and lists have those of other things.
    ``NOT_IN_FORCE`` stands before that of a draft, and of what was superseded.
    """
    names = [str(document.metadata.get("date", "")), document.source, document.title]
    opening = [block for block in document.blocks[:HEAD_BLOCKS] if block.kind == "prose"]
    heads = [f"{block.chapter} {block.section} {block.text}"[:MAX_HEAD_CHARS] for block in opening]
    days = [*map(date_in, names), *(day for day in map(date_in, heads) if day[:1] >= (EARLIEST,))]
    if AMENDS.search(" ".join([*names, *heads])) and not any(map(date_in, names[:2])):  # of what it amends, too
        days = sorted((day for head in heads for day in dates_in(head)), reverse=True) or days
    years = [(int(year),) for year in _YEAR.findall(" ".join(names))]
    this_year = datetime.now(UTC).year
    found = next((date for date in (*days, *years) if date and date[0] <= this_year + 1), ())
    dated = NOT_IN_FORCE * _is_not_in_force(document) + "-".join(f"{part:02d}" for part in found if part)
    return {"dated": dated} if dated else {}


def _is_not_in_force(document: LoadedDocument) -> bool:
    """Whether a document says of itself that it is a draft, or superseded: in its name, its title or at its head."""
    stem = document.source.rpartition("/")[2].rpartition(".")[0]
    names = [str(document.metadata.get("status", "")), stem, document.title]
    head = "\n".join(block.text[:MAX_HEAD_CHARS] for block in document.blocks[:HEAD_BLOCKS])
    named = any(map(_STATE_IN_NAME.search, names))
    return named or bool(_STATE_IN_FOLDER.search(document.source) or _STATE_IN_TEXT.search(head))


def own_fields(front_matter: Mapping[object, object]) -> dict[str, JsonValue]:
    """Return the fields of a front matter that can be filtered by: texts, numbers, days, booleans, and lists of them.

    Left out are nested fields, ``TAKEN`` names, names with dots or quotation marks, and what no JSON can hold.
    """
    fields: dict[str, JsonValue] = {}
    for name, value in front_matter.items():
        if not isinstance(name, str) or name in TAKEN or not 0 < len(name) <= MAX_NAME_CHARS or set(name) & {".", '"'}:
            continue
        if isinstance(value, list):
            scalars = map(_scalar, value[:MAX_ELEMENTS])
            elements: list[JsonValue] = [scalar for scalar in scalars if scalar is not None]
            kept: JsonValue = elements or None
        else:
            kept = _scalar(value)
        if kept is not None and _scalar(name) and len(fields) < MAX_FIELDS:
            fields[name] = kept
    return fields


def _scalar(value: object) -> JsonValue:
    """Return a value as JSON holds it, a day as ISO text; None for one that cannot be kept."""
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat()[:10]
    if isinstance(value, str):
        valid = value.encode("utf-8", "ignore").decode() == value
        return value if valid and 0 < len(value) <= MAX_LABEL_CHARS else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and abs(value) < 1 << 63 else None

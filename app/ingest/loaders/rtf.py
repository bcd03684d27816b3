"""Load Rich Text Format with striprtf: its text, with headings and tables marked before the markup is removed.

What the page does not show is dropped before, since striprtf reads it as text: ``\\deleted`` (a tracked deletion) and
``\\v`` (hidden) hold up to the word with ``0``, ``\\plain`` or the end of the group (RTF Specification 1.9.1, character
formatting and revision marks).
"""

import re

from striprtf.striprtf import rtf_to_text

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import reading
from app.ingest.loaders.html_content import hidden_note
from app.ingest.loaders.outline import Outline, table_block
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import Unreadable, decode

_LEVEL, _CELL = 0xE000, 0xE010
"""Signs of private use: the first of nine heading levels, and the end of a cell."""
_STYLE = re.compile(r"\{\\s(\d+)(?![^{};]*\{)[^{};]*?heading (\d)[^{};]*;?\}", re.IGNORECASE)
_OUTLINE = re.compile(r"\\outlinelevel([0-8])(?!\d)")
_TITLE = re.compile(r"\{\\title\s((?:[^{}\\]|\\[^\n])*)\}")
_BULLET = re.compile(r"[•·▪‣◦o\-–][\t ]+|\(?\d{1,3}[.)][\t ]")
_MARK = re.compile(f"[{chr(_LEVEL)}-{chr(_LEVEL + 8)}]")
_UNREAD = {
    "footnotes": re.compile(r"\\footnote(?![a-z])"),
    "page headers and footers": re.compile(r"\\(?:header|footer)[lrf]?(?![a-z])"),
    "comments": re.compile(r"\\annotation(?![a-z])"),
}
_TOKEN = re.compile(r"\\([a-z]+)(-?\d+)? ?|\\'[0-9a-f]{2}|\\[^a-z]|[{}]|[^\\{}]+", re.IGNORECASE)
_HIDES = re.compile(r"\\(?:deleted|v)(?![a-z])")
_WRITTEN = frozenset("u par line tab emdash endash bullet lquote rquote ldblquote rdblquote emspace enspace".split())
"""Words of RTF that stand for text; the others, such as the end of a cell, stay."""


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a file of Rich Text Format: headings by style or outline level, tables, lists; no pictures.

    Notes tell of footnotes, page headers, comments and hidden text, which are not read. Title: the property, the first
    heading, or the file name. Raises ``Unreadable`` when it is damaged or none.
    """
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("not an RTF file")
    markup = decode(data)
    levels = {number: int(level) - 1 for number, level in _STYLE.findall(markup)}
    with reading("RTF file"):
        title = _text_of(f"{{\\rtf1 {found[1]}}}").strip() if (found := _TITLE.search(markup)) else ""
        shown, hidden = without_hidden(markup)
        text = _text_of(_marked(shown, levels))
        unseen = [line.strip() for line in _text_of(f"{{\\rtf1 {hidden}}}").split("\n") if line.strip()]
    outline = Outline()
    held: list[str] = []
    rows: list[list[str]] = []
    headings = not _MARK.search(text)
    for line in [*text.split("\n"), ""]:
        if chr(_CELL) in line:
            _add(outline, held, headings=headings)
            rows.append(_MARK.sub("", line).rstrip().removesuffix(chr(_CELL)).split(chr(_CELL)))
            continue
        outline.add(*table_block(rows)) if rows else None
        rows = []
        if (mark := _MARK.search(line)) and (label := _MARK.sub("", line).strip()):
            _add(outline, held, headings=headings)
            outline.heading(ord(mark[0]) - _LEVEL + 1, label)
        elif label := _MARK.sub("", line).strip():
            held.append(label)
    _add(outline, held, headings=headings)
    outline.notes += (f"{name} are not read" for name, sign in _UNREAD.items() if sign.search(markup))
    outline.notes += hidden_note(unseen)
    return outline.document(source, title or None)


def _text_of(markup: str) -> str:
    return str(rtf_to_text(markup, errors="replace"))  # type: ignore[no-untyped-call] # it has no annotations


def _marked(markup: str, levels: dict[str, int]) -> str:
    """Put signs of private use where a heading or the end of a cell is, for all that follows is text."""
    marked = _OUTLINE.sub(lambda found: found[0] + _sign(_LEVEL + int(found[1])), markup)
    for number, level in levels.items():
        sign = _sign(_LEVEL + level).replace("\\", r"\\")
        marked = re.sub(rf"\\s{number}(?!\d)(?![^{{}};]*;\}})", rf"\g<0>{sign}", marked)
    return re.sub(r"\\cell(?![a-z])", lambda _: _sign(_CELL), marked)


def _sign(code: int) -> str:
    return f"{{\\uc0\\u{code} }}"


def _add(outline: Outline, paragraphs: list[str], *, headings: bool) -> None:
    """Add paragraphs, adjacent list items together, and empty the list."""
    text = ""
    for paragraph in paragraphs:
        item = _BULLET.match(paragraph)
        text += ("\n" if item and _BULLET.match(text.rsplit("\n", 1)[-1]) else "\n\n") if text else ""
        text += paragraph.replace("\t", " ") if item else paragraph
    add_text(outline, text, headings=headings)
    paragraphs.clear()


def without_hidden(markup: str) -> tuple[str, str]:
    """Return the markup without its deleted and hidden text, and the markup of the hidden text, a group each."""
    if not _HIDES.search(markup):
        return markup, ""
    kept: list[str] = []
    hidden: list[str] = []
    state: frozenset[str] = frozenset()
    groups: list[frozenset[str]] = []
    for found in _TOKEN.finditer(markup):
        piece, word = found[0], found[1]
        before = state
        if piece == "{":
            groups.append(state)
        elif piece == "}":
            state = groups.pop() if groups else frozenset()
        elif word == "plain":
            state = frozenset()
        elif word in ("deleted", "v"):
            state = state - {word} if found[2] == "0" else state | {word}
        is_text = word in _WRITTEN or (not word and piece not in ("{", "}"))
        if "v" in state:
            hidden.append(piece if "v" in before else "{")
        elif "v" in before:
            hidden.append("}\\line ")
        if not (state and is_text):
            kept.append(piece)
    return "".join(kept), "".join(hidden)

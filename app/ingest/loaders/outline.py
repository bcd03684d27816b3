"""Derive title, chapters and sections from headings; write code and tables as plain text."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from app.ingest.documents import MAX_TITLE_CHARS, MAX_URL_CHARS, Block, Kind, LoadedDocument
from app.ingest.loaders.header_rows import labelled_entries, with_groups

MAX_LANGUAGE_CHARS = 40
T = TypeVar("T")
_SEPARATOR = re.compile(r"(?<!\d)(\d{4}-\d\d(?:-\d\d)?)(?!\d)|[-_]")
_ANY_TITLE = frozenset(
    """
    about changelog contents default documentation faq guide home index info installation introduction main manual notes
    overview page readme setup start summary usage
    """.split()
)
"""Titles that a file in any folder may have."""
_ANY_FOLDER = frozenset(
    "content contents data doc docs documentation files main pages site source src text wiki".split()
)
"""Folders of any files."""


class _Placed(NamedTuple):
    """A block below the headings with the numbers in ``path``; with ``heading``, a heading itself."""

    block: Block
    path: tuple[int, ...]
    heading: int | None = None


@dataclass(slots=True)
class Outline:
    """Collects headings and blocks in reading order, then gives each block its chapter and section.

    The first heading is the document's title if it is of level 1 or alone on its level, and no other title is given.
    Of two or more levels below it the upper ones are chapters and the nearest heading is the section; of one level all
    are sections. A heading that is none of these is a block itself.
    """

    notes: list[str] = field(default_factory=list)
    """What of the file is left out, and why."""
    _open: list[int] = field(default_factory=list)
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _placed: list[_Placed] = field(default_factory=list)

    def heading(self, level: int, text: str, page: int | None = None) -> None:
        """Open a heading of ``level`` (1 is the highest); close those of its level and below.

        One longer than a title may be is a block instead.
        """
        label = " ".join(text.split())
        if len(label) > MAX_TITLE_CHARS:
            self.add(label, page=page)
        elif label:
            while self._open and self._headings[self._open[-1]][0] >= level:
                self._open.pop()
            number = len(self._headings)
            self._placed.append(_Placed(Block(text=label, page=page), tuple(self._open), number))
            self._open.append(number)
            self._headings.append((level, label))

    @property
    def depth(self) -> int:
        """The number of open headings."""
        return len(self._open)

    def level_below(self) -> int:
        """Return the level of a heading below the open one; beside it, if that is a question."""
        if not self._open:
            return 2
        level, label = self._headings[self._open[-1]]
        return level if label.endswith("?") else level + 1

    def close(self, depth: int) -> None:
        """Close open headings until *depth* are left: what follows a panel is no part of it."""
        del self._open[depth:]

    def add(self, text: str, kind: Kind = "prose", page: int | None = None) -> None:
        """Add a block below the open headings; blank text is left out."""
        text = text.strip("\n").rstrip()
        if text.strip():
            self._placed.append(_Placed(Block(text=text, kind=kind, page=page), tuple(self._open)))

    def document(self, source: str, title: str | None = None, url: object = None) -> LoadedDocument:
        """Return the document, titled by ``title``, else the title heading, else the file name.

        A ``url`` that is not a web address is left out. A document of headings alone becomes one block of them.
        """
        heading = self._title_heading(title)
        placed = self._with_paths(heading)
        chapters = max((len(path) for _, path in placed), default=0) > 1
        blocks = tuple(
            block.model_copy(update={"chapter": path[0] if chapters else None, "section": path[-1]}) if path else block
            for block, path in placed
        )
        is_url = isinstance(url, str) and url.startswith(("http://", "https://")) and len(url) <= MAX_URL_CHARS
        found = of_folder(heading[1], source) if heading else title_from_name(source)
        return LoadedDocument(
            document_id=source,
            source=source,
            title=one_line(title or found, MAX_TITLE_CHARS),
            url=str(url) if is_url else None,
            notes=tuple(self.notes),
            blocks=blocks,
        )

    def _with_paths(self, title: tuple[int, str] | None) -> list[tuple[Block, list[str]]]:
        """Return what becomes a block, each with the headings above it except ``title``."""
        if self._headings and all(placed.heading is not None for placed in self._placed):
            labels = "\n".join(f"- {label}" for _, label in self._headings)
            return [(Block(text=labels, kind="list"), [])]
        shown = {number for number, heading in enumerate(self._headings) if heading == title}
        blocks: list[tuple[Block, list[str]]] = []
        for placed in reversed(self._placed):  # a heading comes before what may show it
            if placed.heading is None or placed.heading not in shown:
                path = [number for number in placed.path if self._headings[number] != title]
                shown.update(path[:1], path[-1:])  # its chapter and its section
                blocks.append((placed.block, [self._headings[number][1] for number in path]))
        return blocks[::-1]

    def _title_heading(self, title: str | None) -> tuple[int, str] | None:
        """Return the heading that is the title, if one is."""
        if not self._headings:
            return None
        first, *others = self._headings
        named = title is None or one_line(title, MAX_TITLE_CHARS) == first[1]
        return first if named and (first[0] == 1 or all(level > first[0] for level, _ in others)) else None


def one_line(text: str, limit: int) -> str:
    """Collapse white space and cut to ``limit`` code points with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def title_from_name(source: str) -> str:
    """Make a title of a file name: without suffix, separators as spaces except those within a date."""
    stem = source.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return of_folder(one_line(_words(stem), MAX_TITLE_CHARS) or source[:MAX_TITLE_CHARS], source)


def of_folder(title: str, source: str) -> str:
    """Return *title* after the name of its folder, where it could be that of a file in any other: "ears manual"."""
    folders = [folder for folder in source.split("/")[:-1] if folder.lower() not in _ANY_FOLDER]
    return f"{_words(folders[-1])} {title}" if folders and title.lower() in _ANY_TITLE else title


def _words(name: str) -> str:
    return _SEPARATOR.sub(lambda found: found[1] or " ", name)


def first_of(items: Sequence[str], limit: int, what: str = "") -> list[str]:
    """Return the first items, and how many more there are; *what* names them."""
    more = [f"{len(items) - limit} more {what}".rstrip()] if len(items) > limit else []
    return [*items[:limit], *more]


def unread_note(counts: Mapping[str, int], place: str = "") -> list[str]:
    """Return a note that says how many of each thing are not read, and where; none for no thing."""
    counted = [f"{count} {what}{'s' if count > 1 else ''}" for what, count in counts.items() if count]
    return [f"not read{place}: {', '.join(counted)}"] if counted else []


def number_of(digits: str | None, default: int = 0) -> int:
    """Return the number that a file has in digits; *default* for none, or for one of no use, of ten digits."""
    return int(digits) if digits and digits.isdecimal() and len(digits) < 10 else default


def fenced(code: str, info: str = "") -> str:
    """Put ``code`` in a Markdown fence; a short first word of ``info`` is its language."""
    language = "".join(info.split()[:1])
    fence = "~~~" if "```" in code else "```"
    return f"{fence}{language if len(language) <= MAX_LANGUAGE_CHARS else ''}\n{code.rstrip()}\n{fence}"


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """Return the non-empty rows of a table, one line ``| a | b |`` each; a bar in a cell becomes ``\\|``.

    A row that names the group of those below it becomes a cell in each of them.
    """
    filled = with_groups([row for row in rows if any(map(str.strip, row))])
    return "\n".join("| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in row) + " |" for row in filled)


def table_block(rows: Sequence[Sequence[str]]) -> tuple[str, Kind]:
    """Return the rows of a table as a block: with its header as ``table_text``, of labels and values as a list."""
    entries = labelled_entries(rows)
    return (entries, "list") if entries else (table_text(rows), "table")


def grouped(items: Iterable[T], goes_on: Callable[[list[T], T], bool]) -> list[list[T]]:
    """Return items in groups: one that goes on with the group before it belongs to it."""
    groups: list[list[T]] = []
    for item in items:
        if groups and goes_on(groups[-1], item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def indent_of(line: str) -> int:
    """Count the white space before ``line``."""
    return len(line) - len(line.lstrip())

"""Headings → title, chapters and sections; the one rule for every format that has headings."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.ingest.documents import MAX_LABEL_CHARS, MAX_TITLE_CHARS, Block, Kind


@dataclass(slots=True)
class Outline:
    """Collects headings and blocks in reading order, then places each block.

    The first heading is the document's title if it is of level 1 or stands alone on its level, and no other title is
    given. Below the title, where
    headings of two or more levels follow, the upper ones are chapters and the nearest heading is the section; where
    there is one level, they are sections.
    """

    _open: list[tuple[int, str]] = field(default_factory=list)
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _blocks: list[tuple[str, Kind, int | None, tuple[tuple[int, str], ...]]] = field(default_factory=list)

    @property
    def started(self) -> bool:
        """Whether it holds a heading or a block yet."""
        return bool(self._headings or self._blocks)

    def heading(self, level: int, text: str) -> None:
        """Open a heading of ``level`` (1 is the highest); it closes those of its level and below."""
        label = one_line(text, MAX_LABEL_CHARS)
        if not label:
            return
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, label))
        self._headings.append((level, label))

    def add(self, text: str, kind: Kind = "prose", page: int | None = None) -> None:
        """Add a block below the open headings; blank text is left out."""
        text = text.strip("\n").rstrip()
        if text.strip():
            self._blocks.append((text, kind, page, tuple(self._open)))

    def finish(self, title: str | None, fallback: str) -> tuple[str, tuple[Block, ...]]:
        """Return the title (``title``, else the title heading, else ``fallback``) and the placed blocks.

        A document that has headings and no text becomes one block of its headings.
        """
        heading = self._title_heading(title)
        if not self._blocks and self._headings:
            self._blocks.append(("\n".join(f"- {label}" for _, label in self._headings), "list", None, ()))
        paths = [[label for level, label in opened if (level, label) != heading] for *_, opened in self._blocks]
        chapters = max((len(path) for path in paths), default=0) > 1
        blocks = tuple(
            Block(
                text=text,
                kind=kind,
                page=page,
                chapter=path[0] if path and chapters else None,
                section=path[-1] if path else None,
            )
            for (text, kind, page, _), path in zip(self._blocks, paths, strict=True)
        )
        return one_line(title or (heading[1] if heading else fallback), MAX_TITLE_CHARS), blocks

    def _title_heading(self, title: str | None) -> tuple[int, str] | None:
        """The heading that is the title, if one is."""
        if not self._headings:
            return None
        first, *others = self._headings
        named = title is None or one_line(title, MAX_LABEL_CHARS) == first[1]
        return first if named and (first[0] == 1 or all(level > first[0] for level, _ in others)) else None


def one_line(text: str, limit: int) -> str:
    """``text`` with white space collapsed, cut to ``limit`` code points with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def title_from_name(source: str) -> str:
    """A title for a document that names none: its file name without suffix, separators as spaces."""
    stem = source.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return one_line(stem.replace("_", " ").replace("-", " "), MAX_TITLE_CHARS) or source[:MAX_TITLE_CHARS]

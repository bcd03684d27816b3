"""Markdown as site generators extend it → CommonMark: admonitions, tabs, containers, definitions, template tags."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.ingest.loaders.template_tags import is_include, without_tags

_FENCE = re.compile(r"(?P<quote>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_INDENTED = re.compile(
    r"(?P<indent>[ ]*)(?:!!!|\?\?\?\+?)[ ]*(?P<kinds>[A-Za-z][\w -]*?)[ ]*(?:\"(?P<title>.*)\")?[ ]*$"
)
_TAB = re.compile(r"(?P<indent>[ ]*)===[!+]?[ ]+\"(?P<title>.+)\"[ ]*$")
_SLASHES = re.compile(r"[ ]*/{3,}[ ]*(?P<kind>[A-Za-z][\w-]*)[ ]*(?:\|[ ]*(?P<title>.+?)[ ]*)?$")
_COLONS = re.compile(
    r"[ ]*:{3,}[ ]*(?:\{(?P<directive>[\w.#: =\"'-]*)\}|(?P<kind>[A-Za-z][\w.-]*))"
    r"[ ]*(?:\{[^{}]*\})?[ ]*(?:\[(?P<label>.*)\]|(?P<title>[^{}\n]*))[ ]*(?:\{[^{}]*\})?$"
)
_CLOSED = re.compile(r"[ ]*(?:/{3,}|:{3,})[ ]*$")
_OPTION = re.compile(r"[ ]{4,}[\w-]+:[ ]")
_ALERT = re.compile(r"(?P<quote>[ ]*(?:>[ ]?)+)\[!\w+\][+-]?[ ]*(?P<title>.*)$")
_HIGHLIGHT = re.compile(r"[ ]*\{[{%][<%]?[ ]*highlight[ ]+(?P<language>[\w+#-]+)[^{}]*[%>]?[}]+[ ]*$")
_END_HIGHLIGHT = re.compile(r"[ ]*\{[{%][<%]?[ ]*(?:end|/[ ]*)highlight[ ]*[%>]?[%}]+[ ]*$")
_DEFINITION = re.compile(r"(?P<indent>[ ]{0,3}):(?P<gap>[ ]{1,3})(?=\S)")


def plain_markdown(text: str) -> str:
    """Write ``text`` in CommonMark. Code in fences stays verbatim but for lines that include other files.

    Titles of admonitions, tabs and containers become paragraphs, and their text follows unindented.
    """
    return without_tags_outside_code("\n".join(_Lines().run(text.split("\n"))))


def without_tags_outside_code(text: str) -> str:
    """Take template tags out of CommonMark, but not out of its code blocks."""
    if "{" not in text:
        return text
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    code = [
        token.map
        for token in MarkdownIt("commonmark").parse(text)
        if token.type in ("fence", "code_block") and token.map
    ]
    parts: list[str] = []
    at = 0
    for start, end in code:
        parts += [without_tags("\n".join(lines[at:start]))] if start > at else []
        parts += lines[start:end]
        at = end
    return "\n".join([*parts, without_tags("\n".join(lines[at:]))])


@dataclass(slots=True)
class _Lines:
    """One pass over the lines; ``indents`` are the columns by which the open admonitions indent their text."""

    out: list[str] = field(default_factory=list)
    indents: list[int] = field(default_factory=list)
    containers: list[tuple[int, int]] = field(default_factory=list)  # lines of ``out`` before their title, and after
    fence: str = ""  # that of the open code block
    fenced_at: int = 0
    includes: bool = False
    options: bool = False  # whether lines of options may follow

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines in CommonMark."""
        for line in lines:
            if self.fence:
                self.in_code(line)
            else:
                self.in_text(line.expandtabs(4) if self.indents else line)
        return self.out

    def in_code(self, line: str) -> None:
        """Add a line of a code block; one that holds nothing but inclusions is left out as a whole."""
        line = self.dedented(line)
        bare = line.strip(" \t>")
        if _END_HIGHLIGHT.match(line) and self.fence == "highlight":
            self.out.append("```")
            self.fence = ""
        elif is_include(line):
            self.includes = True
        else:
            self.out.append(line)
            if bare.startswith(self.fence) and not bare.strip(self.fence[0]):
                self.fence = ""
                if self.includes and not any(held.strip() for held in self.out[self.fenced_at + 1 : -1]):
                    del self.out[self.fenced_at :]

    def in_text(self, line: str) -> None:
        """Add a line outside code, or open or close what it opens or closes."""
        after_blank = not self.out or not self.out[-1].strip()
        while self.indents and after_blank and line.strip() and _indent(line) < self.indents[-1]:
            self.indents.pop()
        options, self.options = self.options, False
        line = self.dedented(line)
        if opened := _FENCE.match(line):
            self.open_code(line, opened.group("fence"))
        elif highlight := _HIGHLIGHT.match(line):
            self.open_code(f"```{highlight.group('language')}", "highlight")
        elif options and _OPTION.match(line):
            self.options = True
        else:
            self.out.extend(self.read(line))

    def open_code(self, line: str, fence: str) -> None:
        """Begin a code block."""
        self.fence, self.includes, self.fenced_at = fence, False, len(self.out)
        self.out.append(line)

    def read(self, line: str) -> list[str]:
        """Return what stands for one line, without its indentation by admonitions."""
        if found := _INDENTED.match(line) or _TAB.match(line):
            self.indent(4 + len(found["indent"]))
            return _title(found["title"])
        if found := _SLASHES.match(line) or _COLONS.match(line):
            fields = found.groupdict()
            title = _title(fields.get("title") or fields.get("label"))
            self.containers.append((len(self.out), len(self.out) + len(title)))
            self.options = line.lstrip().startswith("/")
            return title
        if _CLOSED.match(line):
            self.close()
            return [""]
        if found := _ALERT.match(line):
            return [found["quote"] + _strong(found["title"])]
        return self.definition(line, found) if (found := _DEFINITION.match(line)) else [line]

    def indent(self, columns: int) -> None:
        """Expect the following lines indented by so many columns more."""
        self.indents.append((self.indents[-1] if self.indents else 0) + columns)

    def close(self) -> None:
        """End the innermost container; one without text loses its title too."""
        start, text = self.containers.pop() if self.containers else (0, 0)
        if text and not any(line.strip() for line in self.out[text:]):
            del self.out[start:]

    def definition(self, line: str, found: re.Match[str]) -> list[str]:
        """Return a definition, with the term that stands above it in the same paragraph."""
        self.indent(4)
        words = line[found.end() :]
        if not self.out or not self.out[-1].strip() or self.out[-1].lstrip().startswith(("#", "|", ">")):
            return [words]
        return [f"{self.out.pop().rstrip().rstrip(':')}: {words}"]

    def dedented(self, line: str) -> str:
        """Take the indentation of the open admonitions from a line."""
        columns = self.indents[-1] if self.indents else 0
        return line[min(columns, _indent(line)) :]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _strong(title: str) -> str:
    words = title.strip(" *")
    return f"**{words}**" if words else ""


def _title(title: str | None) -> list[str]:
    """A title as a paragraph of its own."""
    return ["", _strong(title), ""] if title and title.strip() else [""]

"""Rewrite Markdown as site generators extend it in CommonMark: admonitions, tabs, containers, definitions, tags.

mdit-py-plugins (0.7) reads no template tags, tabs, slashes or short table headers, and keeps what stands in braces:
with six of its plugins in the place of this module 29 of the 61 tests of Markdown fail.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from markdown_it import MarkdownIt

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
_HIGHLIGHT = re.compile(r"^[ ]*\{[{%][<%]?[ ]*highlight[ ]+([\w+#-]+)[^{}\n]*[%>]?[}]+[ ]*$", re.MULTILINE)
_END_HIGHLIGHT = re.compile(r"^[ ]*\{[{%][<%]?[ ]*(?:end|/[ ]*)highlight[ ]*[%>]?[%}]+[ ]*$", re.MULTILINE)
_FOOTNOTE = re.compile(r"[ ]{0,3}\[\^[\w-]+\]:[ \t]")
_REFERENCE = re.compile(r"[ ]{0,3}\[[^\]]+\]:[ \t]")
"""What a mark or a link stands for: no text above it may run into it."""
_DEFINITION = re.compile(r"(?P<indent>[ ]{0,3}):(?P<gap>[ ]{1,3})(?=\S)")
_DELIMITERS = re.compile(r"[ ]*\|?(?:[ ]*:?-+:?[ ]*\|)+[ ]*(?::?-+:?[ ]*)?$")
_CELL_END = re.compile(r"(?<!\\)\|")
_CODE_SPAN = r"(?P<ticks>(?<!`)`+(?!`))[^`].{0,400}?(?<!`)(?P=ticks)(?!`)"
_TAG = (
    r"\{%(?P<block>(?:(?!\{%).){0,600}?)%\}"
    r"|\{\{(?P<output>(?:(?!\{\{).){0,600}?)\}\}"
    r"|\{#\s(?:(?!\{#).){0,2000}?#\}"
    r"|\{\*(?:(?!\{\*).){0,400}?\*\}"
    r"|\{!(?!!)[^{}\n]{0,400}?(?<!!)!\}"
)
_ATTRIBUTES = (
    r"(?<=[)\]*_`>])\{:?[ ]?(?:[.#][\w-]|[\w-]+=)[^{}\n]{0,300}\}"
    r"|[ \t]*\{:[^{}\n]{0,300}\}[ \t]*$"
    r"|[ \t]+\{[ ]?[.#][\w-][^{}\n]{0,300}\}[ \t]*$"
    r"|^[ ]{0,3}\[\^[\w-]+\]:[ \t]*|\[\^[\w-]+\]"  # a footnote's mark, in the text and before the note
    r"|^[ ]{0,3}\[{1,2}_?TOC_?\]{1,2}[ \t]*$"
)
_ANY = re.compile(rf"{_CODE_SPAN}|(?P<tag>{_TAG})|(?P<attributes>{_ATTRIBUTES})", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"\b(?:title|name|caption|summary|label)\s*=\s*(?:\"([^\"\n]+)\"|'([^'\n]+)')")
_QUOTED = re.compile(r"(?<![=\w])(?:\"([^\"\n]+)\"|'([^'\n]+)')")
_CONTROL = re.compile(
    r"[-+<%]*\s*(?:/|end|if|elif|elsif|else|unless|for|case|when|set|assign|capture|include|import|from|extends|block|"
    r"macro|call|with|load|raw|link|url|static|ref|relref|img|image|figure|youtube)",
    re.IGNORECASE,
)
_INCLUDE = re.compile(r"\s*(?:\{!>?\s*[^!{}\s]+(?:\s[^!{}]*)?!\}|\{\*\s*\S*/\S+[^{}]*\*\})\s*$")


def plain_markdown(text: str) -> str:
    """Write ``text`` in CommonMark. Fenced code stays as it is, but for lines that include files.

    Titles of admonitions, tabs and containers become paragraphs, and their text follows unindented. Template tags are
    dropped outside code, and so are attribute lists, footnote marks and the mark of a table of contents.
    """
    rewriter = _Rewriter()
    text = _END_HIGHLIGHT.sub("```", _HIGHLIGHT.sub(r"```\1", text))
    for line in text.split("\n"):
        if rewriter.fence:
            rewriter.in_code(line)
        else:
            rewriter.in_text(line.expandtabs(4) if rewriter.indents else line)
    lines = [f"{line}\n" for line in rewriter.out]
    tokens = MarkdownIt("commonmark").parse("".join(lines))
    code = [token.map for token in tokens if token.type in ("fence", "code_block")]
    bounds = [0, *(at for line_range in code if line_range for at in line_range), len(lines)]
    segments = ["".join(lines[start:end]) for start, end in pairwise(bounds)]  # text and code by turns
    segments[::2] = [_ANY.sub(_replacement, segment) for segment in segments[::2]]
    return "".join(segments)


@dataclass(slots=True)
class _Rewriter:
    """Rewrites line by line; ``indents`` are the text columns of the open admonitions."""

    out: list[str] = field(default_factory=list)
    indents: list[int] = field(default_factory=list)
    containers: list[tuple[int, int]] = field(default_factory=list)  # lines of ``out`` before their title, and after
    fence: str = ""  # that of the open code block
    fenced_at: int = 0
    includes: bool = False
    options: bool = False  # whether lines of options may follow

    def in_code(self, line: str) -> None:
        """Add a line of a code block; drop a block that only includes other files."""
        line = self._dedented(line)
        bare = line.strip(" \t>")
        if _INCLUDE.match(line):  # another file, of which this is all that is shown
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
        line = self._dedented(line)
        if opened := _FENCE.match(line):
            self.fence, self.includes, self.fenced_at = opened["fence"], False, len(self.out)
            self.out.append(line)
        elif options and _OPTION.match(line):
            self.options = True
        elif match := _INDENTED.match(line) or _TAB.match(line):
            self._open_indented(4 + len(match["indent"]))
            self.out += _title(match["title"])
        elif match := _SLASHES.match(line) or _COLONS.match(line):
            fields = match.groupdict()
            title = _title(fields.get("title") or fields.get("label"))
            self.containers.append((len(self.out), len(self.out) + len(title)))
            self.options = line.lstrip().startswith("/")
            self.out += title
        elif _CLOSED.match(line):
            start, text = self.containers.pop() if self.containers else (0, 0)
            if text and not any(line.strip() for line in self.out[text:]):
                del self.out[start:]  # without text its title goes, too
            self.out.append("")
        elif match := _ALERT.match(line):
            self.out.append(match["quote"] + _strong(match["title"]))
        elif match := _DEFINITION.match(line):
            self._open_indented(4)
            self._define(line[match.end() :])
        else:
            if _DELIMITERS.match(line) and self.out and "|" in self.out[-1]:
                missing = _columns(line) - _columns(self.out[-1])  # a table needs a header cell per column
                self.out[-1] = self.out[-1].rstrip().removesuffix("|") + " |" * (missing + 1)
            if _REFERENCE.match(line) and self.out and _FOOTNOTE.match(self.out[-1]):
                self.out.append("")
            self.out.append(line)

    def _open_indented(self, columns: int) -> None:
        self.indents.append((self.indents[-1] if self.indents else 0) + columns)

    def _define(self, words: str) -> None:
        """Add a definition, with the term above it in the same paragraph."""
        above = self.out[-1] if self.out else ""
        if above.strip() and not above.lstrip().startswith(("#", "|", ">")):
            words = f"{self.out.pop().rstrip().rstrip(':')}: {words}"
        self.out.append(words)

    def _dedented(self, line: str) -> str:
        columns = self.indents[-1] if self.indents else 0
        return line[min(columns, _indent(line)) :]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _columns(row: str) -> int:
    return len(_CELL_END.findall(row.strip().strip("|"))) + 1


def _strong(title: str) -> str:
    words = title.strip(" *")
    return f"**{words}**" if words else ""


def _title(title: str | None) -> list[str]:
    """Return a title as a paragraph of its own."""
    return ["", _strong(title), ""] if title and title.strip() else [""]


def _replacement(match: re.Match[str]) -> str:
    """Return what replaces a match: a code span itself, attributes or a mark nothing, a tag its text.

    That is its title or name, or within a line its last quoted words.
    """
    if match.group("tag") is None:
        return "" if match.group("attributes") is not None else match.group()
    inner = match.group("block") or match.group("output") or ""
    before = match.string[: match.start()].rpartition("\n")[2].strip(" >\t")
    after = match.string[match.end() :].partition("\n")[0].strip()
    if named := _NAMED.search(inner):
        title = named.group(1) or named.group(2)
        return f"{title}: " if after else f"**{title}**\n"
    quoted = [double or other for double, other in _QUOTED.findall(inner)]
    if not (before or after) or _CONTROL.match(inner) or not quoted or before.endswith("("):
        return ""
    return "" if re.search(r"/|\.\w{2,4}$", quoted[-1]) else quoted[-1]

"""Load source code and logs: code in a fence, what it says in sentences as text, a log line by line."""

import ast
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import PurePosixPath
from typing import NamedTuple

from app.ingest.documents import MAX_TITLE_CHARS, LoadedDocument
from app.ingest.loaders.outline import Outline, fenced
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import decode

LANGUAGES = {
    **{f".{name}": name for name in "c css go java lua r scala sh sql swift toml vue dart jsx tsx".split()},
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp"), "cpp"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    **dict.fromkeys((".ini", ".cfg", ".conf", ".properties"), "ini"),
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".bash", ".zsh"), "sh"),
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    ".ts": "typescript",
    ".cs": "csharp",
    ".rb": "ruby",
    ".rs": "rust",
    ".php": "php",
    ".ps1": "powershell",
    ".bat": "batch",
    ".scss": "scss",
    ".tex": "latex",
    ".tf": "hcl",
    ".ex": "elixir",
    ".hs": "haskell",
    ".jl": "julia",
}
"""Suffix → language, as in a Markdown fence."""
LOG = ".log"
SETTINGS = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties")
"""Suffixes that ``config_file`` reads; what is no settings there is source code."""
EXAMPLES = (".example", ".sample", ".dist")
"""Endings of an example of settings, which holds no secrets: ".env.example"."""
MAX_PYTHON_CHARS = 1_000_000  # longest Python source that is parsed
MIN_WORDS = 4  # words of the shortest comment that is a sentence
_COMMENT = re.compile(r"\s*(?:#+|//[/!]?|--|;+|%+)(?:\s+(?P<words>.*))?$")
SETTING = re.compile(r"[\w.-]+\s*=|[a-z][\w.-]*:(?:\s+\S+)?$|[\[{}<]")
"""What opens a line of settings or code that is commented out."""
_BLOCK_LINE = re.compile(r"^\s*\*+ ?", re.MULTILINE)
_HAS_BLOCKS = frozenset(
    "c cpp csharp css dart go java javascript jsx kotlin php rust scala scss sql swift tsx typescript vue".split()
)
"""Languages whose comments may stand between ``/*`` and ``*/``."""
_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_SENTENCE = re.compile(r"""["'(`]?[A-Z0-9].*[.!?]["')`]?$""", re.DOTALL)


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a file of source code, titled by its name, or a log, whose lines are the items of a list.

    What the code says in sentences is text beside it, each below the name it describes, or its line.
    Raises ``Unreadable`` for binary data.
    """
    path = PurePosixPath(source)
    outline = Outline()
    if path.suffix.lower() == LOG:
        lines = (line.rstrip() for line in decode(data).split("\n"))
        marked = (line if line[:1].isspace() else f"- {line}" for line in lines if line.strip())
        outline.add("\n".join(marked), "list")
    elif text := decode(data).strip("\n"):
        language = LANGUAGES.get(path.suffix.lower(), "")
        outline.add(fenced(text, language), "code")
        for prose in prose_of(text, language):
            outline.heading(1, prose.label)
            add_text(outline, prose.text, headings=False)
    return outline.document(source, path.name[:MAX_TITLE_CHARS])


class Prose(NamedTuple):
    """What the code says at a line (1-based); ``name`` is that of the function or class it describes."""

    line: int
    text: str
    name: str = ""

    @property
    def label(self) -> str:
        """The heading above it."""
        return f"{self.name}, line {self.line}" if self.name else f"Line {self.line}"


def prose_of(text: str, language: str) -> list[Prose]:
    """Return documentation strings and the comments that are sentences, by line."""
    found = [*comments(text)]
    if language in _HAS_BLOCKS:
        found += _blocks(text)
    if language == "python" and len(text) <= MAX_PYTHON_CHARS:
        found += _documentation(text)
    return sorted(found)


def comments(text: str) -> Iterator[Prose]:
    """Yield the runs of comment lines that are sentences; settings and code that are commented out are none."""
    matches = map(_COMMENT.match, text.split("\n"))
    lines = [(number, (match["words"] or "").strip() if match else "") for number, match in enumerate(matches, 1)]
    for is_text, run in groupby(lines, key=lambda line: bool(line[1]) and not SETTING.match(line[1])):
        (first, *_), words = zip(*run, strict=True)
        if is_text and _is_sentence("\n".join(words)):
            yield Prose(first, "\n".join(words))


def _blocks(text: str) -> Iterator[Prose]:
    """Yield the comments between ``/*`` and ``*/`` that are sentences."""
    end, line, counted = 0, 1, 0
    while (start := text.find("/*", end)) >= 0 and (end := text.find("*/", start + 2)) >= 0:
        line += text.count("\n", counted, start)
        counted = start
        words = _BLOCK_LINE.sub("", text[start + 2 : end]).strip()
        if _is_sentence(words):
            yield Prose(line, words)


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= MIN_WORDS and bool(_SENTENCE.match(text.strip()))


def _documentation(text: str) -> list[Prose]:
    """Return the documentation strings of a module, its classes and its functions; none of what is not Python."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(_described(module, (), 1))


def _described(node: ast.Module | _Definition, names: tuple[str, ...], line: int) -> Iterator[Prose]:
    words = ast.get_docstring(node) or ""
    if len(words.split()) >= MIN_WORDS:
        yield Prose(line, words, ".".join(names))
    for inner in node.body:
        if isinstance(inner, _Definition):
            yield from _described(inner, (*names, inner.name), inner.lineno)

"""Load source code and logs as text: code in a fence that names its language, a log line by line."""

from pathlib import PurePosixPath

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline, fenced
from app.ingest.loaders.text_encoding import decode

LANGUAGES = {
    **{f".{name}": name for name in "c css go java lua r scala sh sql swift toml vue xml dart jsx tsx".split()},
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


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a file of source code, titled by its name, or a log, whose lines are the items of a list.

    Raises ``Unreadable`` for binary data.
    """
    path = PurePosixPath(source)
    outline = Outline()
    if path.suffix.lower() == LOG:
        lines = (line.rstrip() for line in decode(data).split("\n"))
        marked = (line if line[:1].isspace() else f"- {line}" for line in lines if line.strip())
        outline.add("\n".join(marked), "list")
    elif text := decode(data).strip("\n"):
        outline.add(fenced(text, LANGUAGES.get(path.suffix.lower(), "")), "code")
    document = outline.document(source)
    return document.model_copy(update={"title": path.name[:300]})

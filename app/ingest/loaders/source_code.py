"""Load source code and logs as text: code in a fence that names its language, a log line by line."""

from pathlib import PurePosixPath

from app.ingest.documents import MAX_TITLE_CHARS, LoadedDocument
from app.ingest.loaders.code_prose import prose_of
from app.ingest.loaders.outline import Outline, fenced
from app.ingest.loaders.text import add_text
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
SETTINGS = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties")
"""Suffixes that ``config_file`` reads; what is no settings there is source code."""


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

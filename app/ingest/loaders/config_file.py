"""Load settings: YAML, TOML, INI and Java properties, their values as lists below the names that lead to them."""

import re
from collections.abc import Iterator
from configparser import ConfigParser, DuplicateOptionError, DuplicateSectionError
from configparser import Error as ConfigError
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from app.ingest.documents import MAX_TITLE_CHARS, LoadedDocument
from app.ingest.loaders import source_code
from app.ingest.loaders.as_written import toml_as_written, yaml_as_written
from app.ingest.loaders.json_file import ValueWriter, title_of
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.source_code import comments
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import decode

MAX_CHARS, MAX_VALUES = 500_000, 100_000
"""Longest text that is parsed, and most values, aliases followed, that are written; a larger file is read as code."""
_TOP = "settings"
_CONTINUED = re.compile(r"\\\n[ \t]*")
_COMMENT = re.compile(r"^\s*[#;!]|\s#\s", re.MULTILINE)


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a file of settings, titled by its ``title`` or ``name``, or by its file name.

    Comments that are sentences are read, and a note tells of others. What is in no such form is read as source code;
    a note says why. Raises ``Unreadable`` for binary data.
    """
    path = PurePosixPath(source)
    text = decode(data)
    try:
        value = _parsed(text, path.suffix.lower())
    except (ValueError, ConfigError) as error:
        note = f"read as code, not as settings: {str(error).splitlines()[0]}"
        has_form = isinstance(error, ValueError | DuplicateOptionError | DuplicateSectionError)
        document = source_code.load(data, source)
        return document.model_copy(update={"notes": (note, *document.notes)}) if has_form else document
    outline = Outline()
    ValueWriter(outline).add(value, ())
    said = list(comments(text))
    for prose in said:
        outline.heading(1, prose.label)
        add_text(outline, prose.text, headings=False)
    unread = len(_COMMENT.findall(text)) - sum(prose.text.count("\n") + 1 for prose in said)
    if unread > 0:
        outline.notes.append(f"comments that are no sentences are not read, lines: {unread}")
    return outline.document(source, title_of(value) or path.name[:MAX_TITLE_CHARS])


def _parsed(text: str, suffix: str) -> Any:
    """Return the settings in a text. Raises ``ValueError`` or ``configparser.Error`` for what holds none."""
    if len(text) > MAX_CHARS:
        raise ValueError("too large")
    value: Any
    if suffix in (".yaml", ".yml"):
        documents = yaml_as_written(text, unique=True)
        value = documents[0] if len(documents) == 1 else documents
    elif suffix == ".toml":
        value = toml_as_written(text)
    else:
        value = _sections(_CONTINUED.sub("", text) if suffix == ".properties" else text)
    if not isinstance(value, dict | list) or not value:
        raise ValueError("no names with values")
    if sum(1 for _ in islice(_values(value), MAX_VALUES + 1)) > MAX_VALUES:
        raise ValueError("too many values")
    return value


def _sections(text: str) -> dict[str, Any]:
    """Return the sections of an INI file; names above the first section, as in properties, stand at the top."""
    parser = ConfigParser(interpolation=None, default_section="\0", comment_prefixes=("#", ";", "!"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(f"[{_TOP}\0]\n{text}")
    sections = {name: dict(parser.items(name)) for name in parser.sections()}
    return sections.pop(f"{_TOP}\0") | sections


def _values(value: Any) -> Iterator[Any]:
    """Yield a value and all in it; YAML may repeat one without end."""
    stack = [value]
    while stack:
        yield (member := stack.pop())
        if isinstance(member, dict | list):
            stack.extend(member.values() if isinstance(member, dict) else member)

"""Load settings as lists below the names that lead to them: YAML, TOML, INI, Java properties, environment files."""

import re
from collections.abc import Iterator
from configparser import ConfigParser, DuplicateOptionError, DuplicateSectionError
from configparser import Error as ConfigError
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from app.ingest.documents import MAX_TITLE_CHARS, LoadedDocument
from app.ingest.loaders import source_code
from app.ingest.loaders.as_written import toml_as_written, yaml_as_written
from app.ingest.loaders.json_file import ValueWriter, title_of
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.source_code import EXAMPLES, SETTING, comments
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import decode

MAX_CHARS, MAX_VALUES = 500_000, 100_000
"""Longest text that is parsed, and most values, aliases followed, that are written; a larger file is read as code."""
_TOP = "settings"
_EXPORT = re.compile(r"^export +(?=\w+=)", re.MULTILINE)
_CONTINUED = re.compile(r"\\\n[ \t]*")
_COMMENT = re.compile(r"^[^\S\n]*[#;!]|\s#\s", re.MULTILINE)
_COMMENT_LINE = re.compile(r"\s*[#;!]+\s*(?P<words>[\w\"'(].*)")
"""A line of comment, but for one that draws a rule: "# --- database ---"."""
_SETTING_LINE = re.compile(r"""\s*(?:export +)?["']?(?P<name>[\w.-]+)["']?[ \t]*[:=](?P<rest>.*)""")
MIN_WORDS = 2
"""Words of a comment that says something of its setting."""


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a file of settings, or an example of one, titled by its ``title`` or ``name``, or by its file name.

    A comment beside a value, or right above it, stands behind it; others that are sentences are read, and a note tells
    of the rest. What is in no such form is read as source code; a note says why. Raises ``Unreadable`` for binary data.
    """
    path = PurePosixPath(source)
    text = decode(data)
    name = path.stem if path.suffix.lower() in EXAMPLES else path.name
    try:
        value = _parsed(text, PurePosixPath(f"x{name}").suffix.lower())
    except (ValueError, ConfigError) as error:
        note = f"read as code, not as settings: {str(error).splitlines()[0]}"
        has_form = isinstance(error, ValueError | DuplicateOptionError | DuplicateSectionError)
        document = source_code.load(data, source)
        return document.model_copy(update={"notes": (note, *document.notes)}) if has_form else document
    outline = Outline()
    remarks = _remarks(text)
    writer = ValueWriter(outline, {setting: remark.text for setting, remark in remarks.items()})
    writer.add(value, ())
    beside = {line for setting in writer.remarked for line in remarks[setting].lines}
    said = [prose for prose in comments(text) if prose.line not in beside]
    for prose in said:
        outline.heading(1, prose.label)
        add_text(outline, prose.text, headings=False)
    unread = len(_COMMENT.findall(text)) - sum(prose.text.count("\n") + 1 for prose in said) - len(beside)
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


class _Remark(NamedTuple):
    """The comment of a setting, and the lines (1-based) it stands on."""

    text: str
    lines: tuple[int, ...]


def _remarks(text: str) -> dict[tuple[str, str], _Remark]:
    """Return what is said beside each setting, by its name and value, else in the comment right above it.

    None where several of that name and value have not the same comment. What opens the file is about all of it.
    """
    found: dict[tuple[str, str], list[_Remark]] = {}
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        comment = _COMMENT_LINE.match(line)
        if comment and not SETTING.match(comment["words"]):
            above.append((number, comment["words"].strip()))
            continue
        if setting := _SETTING_LINE.match(line):
            value, _, words = setting["rest"].partition(" #")
            beside = [(number, words.strip())] if words else [] if above and above[0][0] == 1 else above
            remark = _Remark(" ".join(said for _, said in beside), tuple(line for line, _ in beside))
            found.setdefault((setting["name"], value.strip().strip("\"'")), []).append(remark)
        above = []
    said = {setting: same[0] for setting, same in found.items() if len({remark.text for remark in same}) == 1}
    return {setting: remark for setting, remark in said.items() if len(remark.text.split()) >= MIN_WORDS}


def _sections(text: str) -> dict[str, Any]:
    """Return the sections of an INI file; names above the first section, as in properties, stand at the top."""
    parser = ConfigParser(interpolation=None, default_section="\0", comment_prefixes=("#", ";", "!"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(f"[{_TOP}\0]\n{_EXPORT.sub('', text)}")
    sections = {name: dict(parser.items(name)) for name in parser.sections()}
    return sections.pop(f"{_TOP}\0") | sections


def _values(value: Any) -> Iterator[Any]:
    """Yield a value and all in it; YAML may repeat one without end."""
    stack = [value]
    while stack:
        yield (member := stack.pop())
        if isinstance(member, dict | list):
            stack.extend(member.values() if isinstance(member, dict) else member)

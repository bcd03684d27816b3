"""Read settings, line by line: of code (YAML, TOML, INI, JSON, nginx, environment files, scripts), and of lists."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from answering.text.blocks import bullet, is_fenced, name_as_words, row_with_column_names
from answering.text.sentences import code_spans
from answering.types import Chunk

_COMMENT = re.compile(r"\s*(?:#+|//+|;+|--(?= ))\s*(?P<words>.*)")
_COMMENTED_OUT = re.compile(r"[\w.-]+\s*=|[a-z][\w.-]*:(?:\s+\S+)?$|\W")
"""What opens a comment that says nothing: a setting that is switched off, or a rule that is drawn."""
_BESIDE = re.compile(r"\s(?:#|//)\s+(?P<words>\S.*)")
_LINE = re.compile(r"^[^\n]*$", re.MULTILINE)
_SECTION = re.compile(r"""\[+(?P<name>[\w./:@ "'-]+)\]+""")
_OPENS = ":={[ "
"""What stands behind the name of a group of settings: "gate:", "server {"."""
_GROUP = re.compile(r"""["']?(?P<name>[\w./~ -]+)["']?""")
_SETTING = re.compile(r"""(?:export +)?["']?(?P<name>[\w.-]+)["']?(?P<sign> *[:=]+ *| +)(?P<value>\S.*)""")
_MEMBER = re.compile(r"""(?<![\w.-])(?P<name>[\w.-]{1,60})["']? ?[:=] ?(?P<value>[^,{}]+)""")
"""One of several settings on a line: "{ payload_kg: 980, lift: true }"."""
_ITEM = re.compile(r"(?P<name>[A-Za-z][\w.-]*): (?P<value>\S.*?)(?: – (?P<remark>.*))?", re.DOTALL)
"""An item of a list of settings: "payload_kg: 980"."""
_FILE = re.compile(r"\.(?:ya?ml|toml|ini|cfg|conf|properties|json|xml|example|sample|dist)\Z", re.IGNORECASE)


class Setting(NamedTuple):
    """A setting, or another line of code with a comment, which has no ``name``: ``text[start:end]`` of its chunk.

    ``group`` names what it belongs to, the outermost first; ``remark`` is the comment beside it or right above it.
    """

    name: str
    value: str
    group: str
    remark: str
    start: int
    end: int

    @property
    def sentence(self) -> str:
        """What it says, as prose."""
        remark = f" ({self.remark.rstrip('.')})" if self.remark else ""
        if not self.name:
            return f"{self.remark}: {self.value}"
        return f"The {self.name}{' of ' if self.group else ''}{self.group} is {self.value}{remark}."


def settings_of(chunk: Chunk, n: int) -> list[Setting]:
    """Return the settings in sentence *n*: code, or an item of a list in a file of settings."""
    start, end = chunk.spans[n]
    if _FILE.search(chunk.source or "") and bullet(chunk, n) and (item := _ITEM.fullmatch(chunk.text[start:end])):
        group = ", ".join(_words(name) for name in dict.fromkeys((chunk.chapter, chunk.section)) if name)
        return [Setting(_words(item["name"]), item["value"].strip(), group, item["remark"] or "", start, end)]
    if not any(fence in chunk.text for fence in ("```", "~~~")) or not is_fenced(chunk, n):
        return []
    begin, stop = next(span for span in code_spans(chunk.text) if span[0] <= start and end <= span[1])
    begin = chunk.text.index("\n", begin)
    settings = _in_code(chunk.text, begin, stop)
    return [setting for setting in settings if start <= setting.start and setting.end <= end]


def as_prose(chunk: Chunk, n: int) -> str:
    """Return sentence *n*, if it is a single setting as a sentence, else as it can be read alone."""
    settings = settings_of(chunk, n)
    is_one = [(setting.start, setting.end) for setting in settings] == [chunk.spans[n]]
    return settings[0].sentence if is_one else row_with_column_names(chunk, n)


def _in_code(text: str, begin: int, stop: int) -> Iterator[Setting]:
    """Yield the settings of the code *text*[*begin*:*stop*], in its order."""
    groups: list[tuple[int, str]] = []
    above: list[str] = []
    first: int | None = None
    for match in _LINE.finditer(text, begin, stop):
        line = match[0].rstrip()
        indent = len(line) - len(line.lstrip())
        if not line:
            above, first = [], None
            continue
        if comment := _COMMENT.fullmatch(line):
            if _COMMENTED_OUT.match(comment["words"]):
                above, first = [], None
            else:
                above.append(comment["words"])
                first = first or match.start() + indent
            continue
        beside = _BESIDE.search(line)
        body = (line[: beside.start()] if beside else line).strip().removeprefix("- ")
        remark = beside["words"] if beside else " ".join(above)
        span = (match.start() + indent if beside or not above else first or 0, match.start() + len(line))
        above, first = [], None
        if not indent and (section := _SECTION.fullmatch(body)):
            groups = [(-1, section["name"])]
            continue
        groups = [group for group in groups if group[0] < indent]
        if body[-1] in _OPENS and (group := _GROUP.fullmatch(body.rstrip(_OPENS))):
            groups.append((indent, group["name"]))
            continue
        names = ", ".join(_words(name) for _, name in groups)
        pairs = _pairs(body)
        for name, value in pairs:
            yield Setting(name, value, names, remark, *span)
        if remark and not pairs:
            yield Setting("", body, names, remark, *span)


def _pairs(body: str) -> list[tuple[str, str]]:
    """Return the names, as words, and the values that a line of code sets."""
    setting = _SETTING.fullmatch(body.rstrip(",;"))
    if not setting or (setting["sign"].isspace() and not body.endswith(";")):
        return []
    name, value = _words(setting["name"]), setting["value"]
    if value.startswith("{"):
        return [(f"{_words(of)} of {name}", member.strip(" \"'")) for of, member in _MEMBER.findall(value)]
    return [(name, value.strip("\"'"))]


def _words(name: str) -> str:
    return name_as_words(name.replace(".", " ")).lower()

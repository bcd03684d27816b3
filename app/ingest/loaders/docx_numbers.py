"""Compute the numbers that Word prints before headings and items: "2.1", "Article 4", "(a)".

A file has only their rules (Office Open XML, ECMA-376, part 1, 17.9). A paragraph, or its style, names a list and a
level.
"""

import re
from typing import Any, NamedTuple
from zipfile import ZipFile

from app.ingest.loaders.archive import attribute, parse_xml, targets
from app.ingest.loaders.outline import number_of

DEEPEST = 8  # level of a list, from 0
MAX_LETTERS = 780  # the highest number that Word writes as a letter, repeated 30 times
_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl"}
_ROMAN |= {10: "x", 9: "ix", 5: "v", 4: "iv", 1: "i"}


class _List(NamedTuple):
    """A list as paragraphs name it: its levels, starts of its own, and counts shared by lists of one definition."""

    levels: dict[int, Any]
    starts: dict[int, int]
    counts: dict[int, int]

    def start(self, level: int) -> int:
        return self.starts.get(level, number_of(_value(self.levels.get(level), "start"), 1))

    def add(self, level: int) -> None:
        """Count a paragraph; the levels below it begin anew, unless they say otherwise (``lvlRestart``)."""
        for above in range(level):
            self.counts.setdefault(above, self.start(above))
        self.counts[level] = self.counts[level] + 1 if level in self.counts else self.start(level)
        for below in range(level + 1, DEEPEST + 1):
            if level < number_of(_value(self.levels.get(below), "lvlRestart"), below):
                self.counts.pop(below, None)

    def label(self, level: int) -> str:
        """Return the number of the paragraph that was counted last; "" for a bullet."""
        rules = self.levels.get(level)
        if _value(rules, "numFmt") == "bullet":
            return ""
        digits = rules is not None and rules.find("{*}isLgl") is not None

        def number(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            form = _value(self.levels.get(at), "numFmt") or ""
            return _written(self.counts.get(at, self.start(at)), "" if digits else form)

        return " ".join(re.sub(r"%([1-9])", number, _value(rules, "lvlText") or "").split())


class Numbers:
    """The numbers of a Word document; good for one pass over its paragraphs, in their order."""

    def __init__(self, archive: ZipFile, main: str) -> None:
        parts = (next(iter(targets(archive, main, kind).values()), "") for kind in ("/numbering", "/styles"))
        numbering, styles = (parse_xml(archive.read(part) if part else b"<none/>") for part in parts)
        self._lists = _by(numbering, "num", "numId")
        self._definitions = _by(numbering, "abstractNum", "abstractNumId")
        self._styles = _by(styles, "style", "styleId")
        self._used: dict[str, _List | None] = {}
        self._counts: dict[Any, dict[int, int]] = {}

    def label(self, paragraph: Any) -> str:
        """Count a paragraph and return its number; "" where it has none, or is not printed."""
        own = paragraph.find("{*}pPr")
        stands_twice = next(paragraph.iterancestors("{*}Choice"), None) is not None
        marks = [mark for name in ("vanish", "del") for mark in paragraph.iterfind(f"{{*}}pPr/{{*}}rPr/{{*}}{name}")]
        if own is None or stands_twice or any(attribute(mark, "val") not in ("0", "false", "off") for mark in marks):
            return ""
        styles = self._styles_of(_value(own, "pStyle"))
        rules = [own, *(self._styles[name].find("{*}pPr") for name in styles)]
        lists = (_value(rule, "numPr/numId") for rule in rules)
        name = next(filter(None, lists), "")
        is_new = name not in self._used
        if is_new:
            self._used[name] = self._list(name)
        if (numbered := self._used[name]) is None:
            return ""
        linked = {_value(definition, "pStyle"): str(at) for at, definition in numbered.levels.items()}
        of_styles = [linked.get(style) for style in styles]
        of_rules = [_value(rule, "numPr/ilvl") for rule in rules]
        candidates = filter(None, [of_rules[0], *of_styles, *of_rules[1:]])
        level = min(number_of(next(candidates, None), 0), DEEPEST)
        for at in numbered.starts if is_new else ():
            if at >= level:
                numbered.counts.pop(at, None)
        numbered.add(level)
        return numbered.label(level)

    def _styles_of(self, name: str | None) -> list[str]:
        """Return a style and those that it is based on."""
        chain: list[str] = []
        while name in self._styles and name not in chain:
            chain.append(name)
            name = _value(self._styles[name], "basedOn")
        return chain

    def _list(self, name: str | None, seen: tuple[str | None, ...] = ()) -> _List | None:
        """Return a list by its number; one may refer to that of a style."""
        given = self._lists.get(name or "")
        definition = self._definitions.get(_value(given, "abstractNumId") or "")
        if definition is None or name in seen:
            return None
        if style := _value(definition, "numStyleLink"):
            return self._list(_value(self._styles.get(style), "pPr/numPr/numId"), (*seen, name))
        levels = {number_of(at, 0): level for at, level in _by(definition, "lvl", "ilvl").items()}
        starts = {}
        for at, override in _by(given, "lvlOverride", "ilvl").items():
            if (level := override.find("{*}lvl")) is not None:
                levels[number_of(at, 0)] = level
            if start := _value(override, "startOverride"):
                starts[number_of(at, 0)] = number_of(start, 1)
        return _List(levels, starts, self._counts.setdefault(definition, {}))


def _by(root: Any, name: str, key: str) -> dict[str, Any]:
    return {attribute(element, key) or "": element for element in root.iterfind(f"{{*}}{name}")}


def _value(parent: Any, path: str) -> str | None:
    """Return the value of the element at a path of names below *parent*; None without one."""
    found = parent.find("{*}" + path.replace("/", "/{*}")) if parent is not None else None
    return attribute(found, "val") if found is not None else None


def _written(number: int, form: str) -> str:
    """Write a number in one of Word's forms; in digits where it is another one."""
    written = str(number)
    if form == "none":
        return ""
    if form == "decimalZero":
        return written.zfill(2)
    if form.endswith("Letter") and 0 < number <= MAX_LETTERS:
        written = chr(ord("a") + (number - 1) % 26) * (1 + (number - 1) // 26)
    elif form.endswith("Roman") and 0 < number < 4000:
        written = ""
        for value, signs in _ROMAN.items():
            written += signs * (number // value)
            number %= value
    return written.upper() if form.startswith("upper") else written

"""Load JSON: records are a table, other values a list below the names that lead to them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.ingest.documents import Kind, LoadedDocument
from app.ingest.loaders.outline import Outline, fenced, one_line, table_text, title_from_name
from app.ingest.loaders.text_encoding import Unreadable, decode

MAX_NAMED = 10  # names that a note lists
MAX_DEPTH = 5  # names that lead to a section; what is deeper is shown as JSON
MAX_LABEL_CHARS = 100
MAX_COLUMNS = 20  # values of a record that holds objects and yet is one row
MAX_CELL_CHARS = 300  # of a text in a row: a longer one is read sentence by sentence, in a section of its record
TITLES = ("title", "name")  # names of the values that title what they stand in


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a JSON file, or one of a JSON value a line. Title: the object's ``title`` or ``name``, or the file name.

    A name that stands twice in an object has both values, and a note names it (RFC 8259, 4, leaves open which one
    counts). Raises ``Unreadable`` for what is not JSON.
    """
    repeated: list[str] = []
    value = _parsed(decode(data), repeated)
    outline = Outline()
    ValueWriter(outline).add(value, ())
    if repeated:
        names = ", ".join(one_line(name, MAX_LABEL_CHARS) for name in list(dict.fromkeys(repeated))[:MAX_NAMED])
        outline.notes.append(f"names that stand twice in one object, of which all values are read: {names}")
    return outline.document(source, title_of(value) or title_from_name(source))


def _parsed(text: str, repeated: list[str]) -> Any:
    """Return the value of a JSON text; names that an object has more than once are added to *repeated*."""

    def as_object(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, list[Any]] = {}
        for name, value in members:
            values = found.setdefault(name, [])
            if value not in values:
                values.append(value)
        repeated.extend(name for name, values in found.items() if len(values) > 1)
        return {name: values if len(values) > 1 else values[0] for name, values in found.items()}

    try:
        return json.loads(text, object_pairs_hook=as_object)
    except ValueError as error:
        lines = [line for line in text.split("\n") if line.strip()]
        try:
            return [json.loads(line, object_pairs_hook=as_object) for line in lines]
        except ValueError:
            raise Unreadable(f"not JSON ({error})") from None


def title_of(value: Any) -> str:
    """Return the title or the name of an object; "" without one."""
    named = [value.get(name) for name in TITLES] if isinstance(value, dict) else []
    return next((one_line(name, MAX_LABEL_CHARS) for name in named if isinstance(name, str) and name.strip()), "")


@dataclass(slots=True)
class ValueWriter:
    """Adds values, each in the section of the names that lead to it: the first is the chapter."""

    outline: Outline
    remarks: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What is said of a name with that value; ``remarked`` are those that were written."""
    remarked: set[tuple[str, str]] = field(default_factory=set)
    chapter: str = ""

    def add(self, value: Any, path: tuple[str, ...]) -> None:
        """Add a value: what is simple as a list, records as a table, the rest below it."""
        if len(path) > MAX_DEPTH:
            self._put(fenced(json.dumps(value, ensure_ascii=False, indent=1), "json"), "code", path)
        elif isinstance(value, dict):
            simple = {key: member for key, member in value.items() if _is_simple(member)}
            lines = [self._line(key, _shown(member)) for key, member in simple.items() if _shown(member)]
            self._put("\n".join(lines), "list", path)
            for key, member in value.items():
                if key not in simple:
                    self.add(member, (*path, one_line(key, MAX_LABEL_CHARS)))
        elif _is_simple(value):
            values = value if isinstance(value, list) else [value]
            self._put("\n".join(f"- {_shown(element)}" for element in values if _shown(element)), "list", path)
        elif records := _records(value):
            self._put(table_text(_rows(records)), "table", path)
        else:
            for number, member in enumerate(value, 1):
                self.add(member, (*path, _label(member, number)))

    def _line(self, name: str, value: str) -> str:
        if remark := self.remarks.get((name, value)):
            self.remarked.add((name, value))
        return f"- {name}: {value} – {remark}" if remark else f"- {name}: {value}"

    def _put(self, text: str, kind: Kind, path: tuple[str, ...]) -> None:
        if text and path and path[0] != self.chapter:
            self.chapter = path[0]
            self.outline.heading(1, path[0])
        if text and len(path) > 1:
            self.outline.heading(2, " · ".join(path[1:]))
        self.outline.add(text, kind)


def _is_simple(value: Any) -> bool:
    """Tell whether a value fits one line: no object, and no list of objects or lists."""
    values = value if isinstance(value, list) else [value]
    return not any(isinstance(element, dict | list) for element in values)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list) and _is_simple(value):
        return ", ".join(map(_shown, value))
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _rows(records: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the header, the names in order of first use, and a row for each record."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return [names, *([_shown(record.get(name)) for name in names] for record in records)]


def _records(values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the rows of a table of *values*, each in one row: of records that hold objects as "item name".

    Empty where a value is no record, has a list of objects or a long text, or more than ``MAX_COLUMNS`` values by that.
    """
    if not all(isinstance(value, dict) for value in values) or any(map(_has_long_text, values)):
        return []
    if all(map(_is_simple, (member for value in values for member in value.values()))):
        return list(values)
    records: list[dict[str, Any]] = []
    for value in values:
        members = list(_members(value, ()))
        if len(values) == 1 or not members or len(members) > MAX_COLUMNS:
            return []
        if not all(_is_simple(member) for _, member in members):
            return []
        records.append({" ".join(names): member for names, member in members})
    return records


def _has_long_text(record: dict[str, Any]) -> bool:
    return any(isinstance(member, str) and len(member) > MAX_CELL_CHARS for member in record.values())


def _members(value: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values of an object and of the objects in it, each with the names that lead to it."""
    for name, member in value.items():
        if isinstance(member, dict) and len(path) < MAX_DEPTH:
            yield from _members(member, (*path, name))
        else:
            yield (*path, name), member


def _label(record: Any, number: int) -> str:
    """Return what names a record among others: its title, name or id, else its number."""
    record = record if isinstance(record, dict) else {}
    names = (str(record[name]) for name in (*TITLES, "id", "key") if isinstance(record.get(name), str | int))
    return one_line(next(names, "") or f"Record {number}", MAX_LABEL_CHARS)

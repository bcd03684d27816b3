"""Load JSON: a list of records is a table, an object a list of its values below the names that lead to them."""

import json
from collections.abc import Sequence
from typing import Any

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline, one_line, title_from_name
from app.ingest.loaders.text_encoding import Unreadable, decode
from app.ingest.loaders.values import MAX_LABEL_CHARS, ValueWriter, title_of

MAX_NAMED = 10
"""Names that a note lists."""


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

"""Where the documents of an embedded collection came from: ``sources.json`` beside its shards, for ``garden rebuild``.

::

    {"version": 1, "paths": ["/srv/docs", …], "tasks": ["/srv/tasks.jsonl"]}

Only paths, as they were given, made absolute: ids are made of what lies below them, so the same paths give the same
ids. What came over HTTP from elsewhere, or from Python, has no path and is not in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SOURCES_FILE = "sources.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Sources:
    """Files and folders of documents, and files of tasks; absolute."""

    paths: tuple[Path, ...] = ()
    tasks: tuple[Path, ...] = ()


def read_sources(collection: Path) -> Sources:
    """The sources noted in a collection's folder; none where there is no note that can be read."""
    try:
        said = json.loads((collection / SOURCES_FILE).read_text(encoding="utf-8"))
        return Sources(*(tuple(Path(str(one)) for one in said[kind]) for kind in ("paths", "tasks")))
    except (OSError, ValueError, KeyError, TypeError):
        return Sources()


def note_sources(collection: Path, paths: Iterable[Path], *, tasks: bool = False) -> None:
    """Add *paths* to the note."""
    known = read_sources(collection)
    given = tuple(path.absolute() for path in paths)
    now = tuple(dict.fromkeys((*(known.tasks if tasks else known.paths), *given)))
    noted = {"paths": known.paths if tasks else now, "tasks": now if tasks else known.tasks}
    text = json.dumps({"version": VERSION, **{kind: list(map(str, found)) for kind, found in noted.items()}}, indent=1)
    replace_file(collection / SOURCES_FILE, text)


def replace_file(path: Path, text: str) -> None:
    """Write *path*, and its folder if need be, so that a crash leaves the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)

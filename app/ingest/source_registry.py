"""Where the documents of an embedded collection came from: ``sources.json`` beside it, for ``garden check --repair``.

::

    {"version": 1, "paths": ["/srv/docs", …], "tasks": ["/srv/tasks.jsonl"]}

Only paths, as they were given, made absolute: ids are made of what lies below them, so the same paths give the same
ids. What came over HTTP from elsewhere, or from Python, has no path and is not in it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

SOURCES_FILE, LOCK_FILE = "sources.json", "notes.lock"
LOCK_SECONDS = 30.0
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
    given = tuple(path.absolute() for path in paths)
    with alone(collection):
        known = read_sources(collection)
        now = tuple(dict.fromkeys((*(known.tasks if tasks else known.paths), *given)))
        noted = {"paths": known.paths if tasks else now, "tasks": now if tasks else known.tasks}
        said = {"version": VERSION, **{kind: list(map(str, found)) for kind, found in noted.items()}}
        replace_file(collection / SOURCES_FILE, json.dumps(said, indent=1))


@contextmanager
def alone(collection: Path) -> Iterator[None]:
    """Change a collection's notes while no other process does; a killed one holds nobody up."""
    collection.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(collection / LOCK_FILE, timeout=LOCK_SECONDS, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield


def replace_file(path: Path, text: str) -> None:
    """Write *path* so that a crash leaves the old text or the new one."""
    draft = path.with_name(f"{path.name}.new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)

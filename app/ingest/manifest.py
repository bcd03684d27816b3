"""Keep which paths a collection was filled from: ``ingested.json`` in the collection's folder.

::

    {"version": 1, "paths": {"/srv/docs": {"travel.md": "<content hash>", …}, …}}

``garden ingest --prune`` removes only what a path brought, and ``garden check --repair`` reads the paths again. A
document belongs to the path that brought it last. One that came since under the same id from elsewhere has another
hash, and is not pruned. What was uploaded or came from Python has no path and is not listed; web pages are listed below
the address they came from.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from app.ingest.find import FoundFile, find_file

MANIFEST_FILE, LOCK_FILE = "ingested.json", "ingested.lock"
LOCK_SECONDS = 30.0
VERSION = 1

log = logging.getLogger("garden.ingest")
Manifest = dict[str, dict[str, str]]
"""Path → document id → content hash."""


class IngestManifest:
    """The manifest as one run over *paths* reads and changes it; with *prune* the run removes what is gone."""

    def __init__(self, collection: Path, paths: Sequence[Path | str], *, prune: bool = False) -> None:
        """*collection* is the collection's folder in the data directory, also when a server stores the documents.

        Of *paths*, web addresses are strings.
        """
        self.prune = prune
        self._collection = collection
        self._roots = [_key(path) for path in paths]
        self._brought: dict[str, str] = {}

    def brings(self, document_id: str, path: Path | str) -> None:
        """Record that a document was found under *path*; of several paths the first counts."""
        self._brought.setdefault(document_id, _key(path))

    def earlier(self) -> dict[str, str]:
        """Return document id → content hash of what earlier runs brought from these paths."""
        manifest = _read(self._collection)
        return {one: hash_ for root in self._roots for one, hash_ in manifest.get(root, {}).items()}

    def note(self, met: Mapping[str, str], removed: Collection[str]) -> None:
        """Keep what this run met (document id → content hash), and forget what it removed.

        A file that cannot be written is logged: a later run then removes less, never more.
        """
        try:
            with _changed(self._collection) as manifest:
                for documents in manifest.values():
                    for document_id in (*met, *removed):
                        documents.pop(document_id, None)
                for document_id, content_hash in met.items():
                    if root := self._brought.get(document_id):
                        manifest.setdefault(root, {})[document_id] = content_hash
        except (OSError, sqlite3.Error) as error:
            log.warning("manifest_not_written", extra={"reason": str(error)})


def read_sources(collection: Path) -> list[Path]:
    """Return the files and folders that a collection was filled from."""
    return [Path(path) for path in _read(collection) if "://" not in path]


def find_originals(collection: Path, stored: Mapping[str, Collection[str]]) -> dict[str, tuple[Path, FoundFile]]:
    """Return document id → ingested path and file, for those whose file can be read again.

    *stored* is document id → content hashes. A document with another hash than the path's came from elsewhere since.
    """
    return {
        document_id: (Path(root), file)
        for root, held in _read(collection).items()
        for document_id in held.keys() & stored.keys()
        if held[document_id] in stored[document_id] and (file := find_file(Path(root), document_id))
    }


def note_sources(collection: Path, paths: Iterable[Path]) -> None:
    """Add *paths* to the manifest before they are read. Raises ``OSError``."""
    with _changed(collection) as manifest:
        for path in paths:
            manifest.setdefault(_key(path), {})


def _read(collection: Path) -> Manifest:
    """Return the manifest; an empty one where there is none that can be read."""
    try:
        paths = json.loads((collection / MANIFEST_FILE).read_text(encoding="utf-8"))["paths"]
        return {str(root): {str(one): str(hash_) for one, hash_ in held.items()} for root, held in paths.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


@contextmanager
def _changed(collection: Path) -> Iterator[Manifest]:
    """Yield the manifest to be changed while no other process does, then replace the file in one step.

    SQLite's lock ends with the process that holds it.
    """
    collection.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(collection / LOCK_FILE, timeout=LOCK_SECONDS, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield (manifest := _read(collection))
        draft = collection / f"{MANIFEST_FILE}.new"
        with draft.open("w", encoding="utf-8") as file:
            json.dump({"version": VERSION, "paths": manifest}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(collection / MANIFEST_FILE)


def _key(path: Path | str) -> str:
    """Return the path made absolute, with no ``..`` in it; a link stays a link. A web address is its own key."""
    if isinstance(path, str):
        return path
    absolute = os.path.abspath(path)  # noqa: PTH100  # a link that is set anew is the same path to its user
    return absolute.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

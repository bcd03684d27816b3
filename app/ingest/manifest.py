"""Record the paths a collection was filled from, in ``ingested.sqlite3`` in its folder.

``garden ingest --prune`` removes only what a path brought, ``garden check --repair`` reads the paths again. A document
belongs to the path that brought it last; one replaced from elsewhere has another hash, and is not pruned. One deleted
by hand is listed too: its path brings it back only where that is asked for. Uploads are kept in ``uploads`` beside it,
except JSON Lines. Documents from Python are not listed, web pages under their address.
"""

import logging
import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from app.ingest.find import FoundFile, find_file, readable_name

MANIFEST_FILE = "ingested.sqlite3"
LOCK_SECONDS = 30.0
ALIVE = timedelta(seconds=60)
"""Time since the last word of a watcher in which it counts as running."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS paths (path TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS documents (document_id TEXT PRIMARY KEY, path TEXT, content_hash TEXT);
CREATE TABLE IF NOT EXISTS folders (path TEXT PRIMARY KEY, synced TEXT, watched TEXT);
CREATE TABLE IF NOT EXISTS deleted (document_id TEXT PRIMARY KEY, path TEXT, day TEXT);
"""
DOCUMENTS = "SELECT document_id, path, content_hash FROM documents ORDER BY document_id"

log = logging.getLogger("garden.ingest")


class IngestManifest:
    """The manifest for one run over *paths*.

    With *prune* the run removes missing documents, with *restore* it brings back those deleted by hand.
    """

    def __init__(
        self, collection: Path, paths: Sequence[Path | str], *, prune: bool = False, restore: bool = False
    ) -> None:
        """*collection* is its folder in the data directory, whatever store holds the documents.

        Of *paths*, web addresses are strings.
        """
        self.prune = prune
        self._restore = restore
        self._collection = collection
        self._paths = paths
        self._roots = set(map(_key, paths))
        self._brought: dict[str, str] = {}

    def begin(self) -> None:
        """Keep the paths, but no web addresses, for ``garden check --repair``."""
        rows = [(_key(path),) for path in self._paths if isinstance(path, Path)]
        _change(self._collection, "INSERT OR IGNORE INTO paths VALUES (?)", rows)

    def synced(self, *, watched: bool = False) -> None:
        """Record that the collection is in step with these paths now, and whether they are being watched."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(_key(path), now, now if watched else None) for path in self._paths]
        _change(self._collection, "INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", rows)

    def unwatched(self) -> None:
        """Record that these paths are watched no longer."""
        rows = [(root,) for root in self._roots]
        _change(self._collection, "UPDATE folders SET watched = NULL WHERE path = ?", rows)

    def brings(self, document_id: str, path: Path | str) -> None:
        """Record that a document was found under *path*; of several paths the first counts."""
        self._brought.setdefault(document_id, _key(path))

    def earlier(self) -> dict[str, str]:
        """Return document id → content hash of what earlier runs brought from these paths."""
        return {id_: hash_ for id_, path, hash_ in _rows(self._collection, DOCUMENTS) if path in self._roots}

    def elsewhere(self, stored: Mapping[str, str]) -> dict[str, str]:
        """Return document id → path of what other paths brought, as it is *stored*."""
        others = (row for row in _rows(self._collection, DOCUMENTS) if row[1] not in self._roots)
        return {id_: path for id_, path, hash_ in others if stored.get(id_) == hash_}

    def deleted(self) -> dict[str, str]:
        """Return document id → day of what was deleted by hand and these paths are not to bring back."""
        rows = [] if self._restore else _rows(self._collection, "SELECT document_id, path, day FROM deleted")
        return {id_: day for id_, path, day in rows if path is None or path in self._roots}

    def note(self, met: Mapping[str, str], removed: Collection[str]) -> None:
        """Keep what this run met (document id → content hash), and forget what it removed."""
        brought = [(id_, self._brought[id_], hash_) for id_, hash_ in met.items() if id_ in self._brought]
        _change(self._collection, "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", brought)
        _change(self._collection, "DELETE FROM documents WHERE document_id = ?", [(id_,) for id_ in removed])
        if self._restore:
            _change(self._collection, "DELETE FROM deleted WHERE document_id = ?", [(id_,) for id_ in met])


def note_deleted(collection: Path, document_id: str) -> None:
    """Record that a document was deleted by hand today, with the path that brought it, if one did."""
    paths = {id_: path for id_, path, _ in _rows(collection, DOCUMENTS)}
    day = datetime.now(UTC).date().isoformat()
    row = (document_id, paths.get(document_id), day)
    _change(collection, "INSERT OR REPLACE INTO deleted VALUES (?, ?, ?)", [row])
    _change(collection, "DELETE FROM documents WHERE document_id = ?", [(document_id,)])


class SyncedPath(NamedTuple):
    """A path that was ingested: when last (UTC, ISO 8601), and whether it is being watched."""

    path: str
    synced: str
    watched: bool


def synced_paths(collection: Path) -> list[SyncedPath]:
    """Return the paths a collection was ingested from, uploads left out, in their order."""
    now = datetime.now(UTC)
    uploads = _key(uploads_of(collection))
    rows = _rows(collection, "SELECT path, synced, watched FROM folders ORDER BY path")
    return [
        SyncedPath(path, synced, watched is not None and now - datetime.fromisoformat(watched) < ALIVE)
        for path, synced, watched in rows
        if path != uploads
    ]


def read_sources(collection: Path) -> list[Path]:
    """Return the files and folders that a collection was filled from."""
    return [Path(path) for (path,) in _rows(collection, "SELECT path FROM paths ORDER BY rowid")]


def recorded_documents(collection: Path) -> list[str]:
    """Return the ids of the documents that ingests of paths and web addresses brought."""
    return [id_ for id_, _, _ in _rows(collection, DOCUMENTS)]


def find_originals(collection: Path, stored: Mapping[str, Collection[str]]) -> dict[str, tuple[Path, FoundFile]]:
    """Return document id → ingested path and file, for files that can be read again.

    *stored* is document id → content hashes. A document with another hash than the path's came from elsewhere since.
    """
    return {
        id_: (Path(root), file)
        for id_, root, hash_ in _rows(collection, DOCUMENTS)
        if hash_ in stored.get(id_, ()) and (file := find_file(Path(root), id_))
    }


def uploads_of(collection: Path) -> Path:
    """Return the folder in which a collection's uploaded files are kept, absolute."""
    return collection.absolute() / "uploads"


def keep_upload(collection: Path, name: str, content: bytes) -> None:
    """Store an uploaded file for display, re-ingest and repair; a full disk is logged."""
    path = uploads_of(collection) / name
    part = path.with_name(f".{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        log.warning("upload_not_kept", extra={"reason": error.strerror})
        with suppress(OSError):
            part.unlink()


def is_folder_and_file(collection: Path, name: str) -> bool:
    """Tell whether an upload *name* would be a folder and a file at once, with what is kept already."""
    uploads = uploads_of(collection)
    return (uploads / name).is_dir() or any((uploads / parent).is_file() for parent in Path(name).parents)


def forget_upload(collection: Path, document_id: str) -> None:
    """Delete a document's uploaded file, if there is one, and folders that are empty then; never another file."""
    uploads = uploads_of(collection)
    path = Path(os.path.abspath(uploads / document_id))  # noqa: PTH100 - links unresolved
    if path.is_relative_to(uploads) and os.path.isfile(path):  # noqa: PTH113 - no errors
        path.unlink(missing_ok=True)
        with suppress(OSError):  # the first folder that holds another file
            for folder in path.parents[: len(path.relative_to(uploads).parts) - 1]:
                folder.rmdir()


def _rows(collection: Path, select: str) -> list[Any]:
    """Return rows of the manifest; none where there is no manifest that can be read."""
    try:
        with _opened(collection) as connection:
            return connection.execute(select).fetchall()
    except (OSError, sqlite3.Error):
        return []


def _change(collection: Path, statement: str, rows: Sequence[tuple[str | None, ...]]) -> None:
    """Change the manifest. A failed write is logged: a later run then removes less, never more."""
    try:
        with _opened(collection) as connection:
            connection.executemany(statement, rows)
    except (OSError, sqlite3.Error) as error:
        log.warning("manifest_not_written", extra={"reason": str(error)})


@contextmanager
def _opened(collection: Path) -> Iterator[sqlite3.Connection]:
    collection.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(collection / MANIFEST_FILE, timeout=LOCK_SECONDS)) as connection, connection:
        connection.executescript(SCHEMA)
        yield connection


def _key(path: Path | str) -> str:
    """Return the path as absolute text without ``..``, links unresolved; an address as it is."""
    if isinstance(path, str):
        return path
    return readable_name(Path(os.path.abspath(path)))  # noqa: PTH100  # a link set anew is the same path to its user

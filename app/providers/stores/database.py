"""One embedded collection as a SQLite database in WAL mode, which any number of processes may have open.

::

    <DATA_DIR>/<collection>/garden.sqlite3    all that is stored; beside it SQLite's own -wal and -shm
    <DATA_DIR>/<collection>/segment-*         the search index, derived from it (``app.providers.stores.segments``)

A reader sees one snapshot of the collection and never waits for a writer. Writers take turns.

Each write of a chunk gives it a new, higher id, so an id names one version of a chunk. ``segments`` lists the saved
index files: the chunks with ids in (low, high]. ``removed`` lists the ids deleted since their segment was saved.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from graph.errors import ConfigurationError, StoreDamaged, StoreUnavailable

FILE, VERSION = "garden.sqlite3", 3
_CREATING = Lock()  # for the threads of this process, which share its lock on a file
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE version (id INTEGER PRIMARY KEY, writes INTEGER);
INSERT INTO version VALUES (0, random() / 2);  -- not that of a collection which this one replaces
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chunk_id TEXT UNIQUE NOT NULL, document_id TEXT NOT NULL,
    position INTEGER NOT NULL, content_hash TEXT NOT NULL, source TEXT, checksum INTEGER NOT NULL,
    metadata TEXT NOT NULL, words BLOB NOT NULL, dense BLOB NOT NULL, text TEXT NOT NULL, sentences BLOB NOT NULL);
CREATE INDEX by_document ON chunks (document_id, position, content_hash, chunk_id);
CREATE INDEX by_source ON chunks (source);
CREATE INDEX by_status ON chunks (json_extract(metadata, '$."status"'));
CREATE INDEX by_priority ON chunks (json_extract(metadata, '$."priority"'));
CREATE TABLE removed (id INTEGER PRIMARY KEY);
CREATE TABLE segments (name TEXT PRIMARY KEY, low INTEGER, high INTEGER, rows INTEGER, checksum INTEGER);
PRAGMA user_version = {VERSION};
COMMIT;
"""
_NO_LOCKS = "its file system lacks the locks that SQLite needs"
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_NOT_WRITABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE")


class Database:
    """The database file of one collection; safe for threads. ``wait``: seconds a writer waits for another one.

    Errors are ``StoreUnavailable``, ``StoreDamaged``, or ``ConfigurationError`` where the folder cannot be used.
    """

    def __init__(self, data_dir: Path, collection: str, wait: float) -> None:
        if not re.fullmatch(r"[\w-][\w.-]*", collection):  # the name is that of a folder
            raise ConfigurationError(f"The collection {collection!r} is not allowed: letters, digits, '_', '-', '.'")
        self.collection, self.folder, self.path = collection, data_dir / collection, data_dir / collection / FILE
        self._wait = wait
        self._idle: dict[tuple[int, int] | None, list[sqlite3.Connection]] = {}

    def create(self) -> None:
        """Create folder and database unless they exist. Raises ``ConfigurationError`` where that is impossible."""
        if self.path.exists() and not os.access(self.folder, os.W_OK):
            return  # it can be read
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with _CREATING, (self.folder / "creating.lock").open("wb") as file:
                fcntl.lockf(file, fcntl.LOCK_EX)  # SQLite takes a file system without locks for a busy writer
                if not self.path.exists():
                    self._create_file()
        except OSError as error:
            no_locks = error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
            raise self._unusable(_NO_LOCKS if no_locks else error.strerror or "it cannot be used") from error

    def _create_file(self) -> None:
        """Make a draft and rename it when complete: SQLite's switch to WAL fails beside another connection."""
        draft = self.path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        with self._mapped_errors(), closing(self._open(draft, "rwc")) as connection:
            connection.execute("PRAGMA page_size = 8192")
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise self._unusable(_NO_LOCKS)
            connection.executescript(SCHEMA)
        draft.rename(self.path)

    @contextmanager
    def reading(self, begin: str = "BEGIN") -> Iterator[sqlite3.Connection]:
        """One snapshot of the collection; an empty one where nothing was ever stored."""
        with self._mapped_errors():
            idle = self._idle.setdefault(inode := self._inode(), [])
            try:
                connection = idle.pop()
            except IndexError:
                writable = os.access(self.folder, os.W_OK) or self.path.with_name(f"{FILE}-wal").exists()
                mode = "rw" if writable else "ro&immutable=1"  # a read-only medium
                connection = self._open(self.path, mode if inode else "memory")
                if not inode:
                    connection.executescript(SCHEMA)
            try:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute(begin)
                if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                    raise self._unusable("another version of Knowledge Garden made it; remove it and ingest again")
                yield connection
            finally:
                connection.rollback()
                idle.append(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One atomic write; on disk when the block is left."""
        self.create()
        inode = self._inode()
        with self.reading("BEGIN IMMEDIATE") as connection:
            if not inode or inode != self._inode():  # a repair moved the file away meanwhile
                raise StoreUnavailable(f'The collection "{self.collection}" was replaced during the write: try again.')
            yield connection
            connection.execute("UPDATE version SET writes = writes + 1")
            connection.execute("COMMIT")

    def close(self) -> None:
        """Close every connection."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def damaged(self, what: str) -> StoreDamaged:
        """The error for a collection that differs from what was written."""
        return StoreDamaged(
            f'The collection "{self.collection}" is damaged: {what}. '
            f"Repair it with: garden check --repair --collection {self.collection}",
            collection=self.collection,
        )

    def _inode(self) -> tuple[int, int] | None:
        """Device and inode of the file; they change when the collection is removed or replaced."""
        with suppress(FileNotFoundError, NotADirectoryError):
            status = self.path.stat()
            return status.st_dev, status.st_ino
        return None

    def _open(self, path: Path, mode: str) -> sqlite3.Connection:
        uri = f"file:{quote(str(path))}?mode={mode}"
        return sqlite3.connect(uri, self._wait, isolation_level=None, check_same_thread=False, uri=True)

    def _unusable(self, reason: str) -> ConfigurationError:
        return ConfigurationError(
            f'The collection "{self.collection}" cannot be kept in DATA_DIR={str(self.folder.parent)!r}: {reason}'
        )

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        """Raise SQLite's errors as errors of ``graph.errors``."""
        try:
            yield
        except sqlite3.Error as error:
            code, reason = getattr(error, "sqlite_errorname", ""), f"answered with an error: {error}."
            if code.startswith(_DAMAGED):
                raise self.damaged(f"{FILE}: {error}") from error
            if code.startswith(_NOT_WRITABLE):
                raise self._unusable(str(error)) from error
            if code.startswith("SQLITE_BUSY"):
                reason = f"is being written by another process and was not free within {self._wait:g} s: try again."
            if code.startswith(_FULL):
                reason = "cannot grow: no space left on its disk. What is stored is safe."
            raise StoreUnavailable(f'The collection "{self.collection}" {reason}') from error

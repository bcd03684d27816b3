"""One embedded collection as a SQLite database in WAL mode, which any number of processes may have open.

::

    <DATA_DIR>/<collection>/garden.sqlite3    all that is stored; beside it SQLite's own -wal and -shm
    <DATA_DIR>/<collection>/segment-*         the search index, derived from it (``app.providers.stores.segments``)

A reader sees one snapshot of the collection and never waits for a writer. Writers take turns.

Each write of a chunk gives it a new, higher id, so an id names one version of a chunk. ``segments`` lists the saved
index files: the chunks with ids in (low, high] as they were after ``at`` writes. ``removed`` lists the ids deleted
since their segment was saved, with the number of the write.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from app.providers.stores.layout import COLLECTION_NAME
from graph.errors import ConfigurationError, RAGError, StoreDamaged, StoreUnavailable

FILE = "garden.sqlite3"
Inode = tuple[int, int]
VERSION = 2
SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
INSERT INTO meta VALUES ('size', NULL), ('writes', 0);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chunk_id TEXT UNIQUE NOT NULL, document_id TEXT NOT NULL,
    position INTEGER NOT NULL, content_hash TEXT NOT NULL, source TEXT, checksum INTEGER NOT NULL,
    metadata TEXT NOT NULL, words BLOB NOT NULL, dense BLOB NOT NULL, text TEXT NOT NULL, sentences BLOB NOT NULL);
CREATE INDEX by_document ON chunks (document_id, position, content_hash, chunk_id);
CREATE INDEX by_source ON chunks (source);
CREATE INDEX by_status ON chunks (json_extract(metadata, '$."status"'));
CREATE INDEX by_priority ON chunks (json_extract(metadata, '$."priority"'));
CREATE TABLE removed (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
CREATE TABLE segments (name TEXT PRIMARY KEY, low INTEGER, high INTEGER, rows INTEGER, at INTEGER);
"""
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_NO_LOCKS = ("SQLITE_PROTOCOL", "SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK", "SQLITE_IOERR_SHM")
_NO_LOCKS_REASON = "its file system lacks the locks that SQLite needs"
_NOT_WRITABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE")


class Database:
    """The database file of one collection; safe for threads. ``wait``: seconds a writer waits for another one.

    Errors are ``StoreUnavailable``, ``StoreDamaged``, or ``ConfigurationError`` where the folder cannot be used.
    """

    def __init__(self, data_dir: Path, collection: str, wait: float) -> None:
        if not COLLECTION_NAME.fullmatch(collection):
            raise ConfigurationError(f"The collection {collection!r} is not allowed: letters, digits, '_', '-', '.'")
        self.collection, self.folder, self.path = collection, data_dir / collection, data_dir / collection / FILE
        self._wait = wait
        self._idle: list[tuple[Inode | None, sqlite3.Connection]] = []
        self._created: Inode | None = None
        self._closed = False

    def create(self) -> None:
        """Create folder and database unless they exist. Raises ``ConfigurationError`` where that is impossible."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error.strerror or "it cannot be created") from error
        with (
            self._mapped_errors(),
            closing(sqlite3.connect(self.path, timeout=self._wait, isolation_level=None)) as connection,
        ):
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                connection.execute("PRAGMA page_size = 8192")
                if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                    raise self._unusable(_NO_LOCKS_REASON)
                connection.execute("BEGIN IMMEDIATE")
                if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                    for statement in SCHEMA.split(";\n"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {VERSION}")
                connection.execute("COMMIT")
            self._created = self._inode()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """One snapshot of the collection; None where nothing was ever stored."""
        with self._mapped_errors(), self._connected() as connection:
            if connection is not None:
                connection.execute("BEGIN")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One atomic write; on disk when the block is left."""
        if self._created is None or self._created != self._inode():
            self.create()
        with self._mapped_errors(), self._connected() as connection:
            if connection is not None:
                connection.execute("BEGIN IMMEDIATE")
            if connection is None or self._created != self._inode():  # a repair moved the file away meanwhile
                raise StoreUnavailable(f'The collection "{self.collection}" was replaced during the write: try again.')
            yield connection
            connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'writes'")
            connection.execute("COMMIT")

    def set_aside(self) -> Path:
        """Move a damaged database into a folder of its own and return that; the next write begins a new one."""
        aside = self.folder / f"damaged-{1 + len(list(self.folder.glob('damaged-*')))}"
        aside.mkdir()
        for path in self.folder.glob(f"{FILE}*"):
            path.rename(aside / path.name)
        return aside

    def close(self) -> None:
        """Close every connection; from now on every call raises ``StoreUnavailable``."""
        self._closed = True
        while self._idle:
            self._idle.pop()[1].close()

    def damaged(self, what: str) -> StoreDamaged:
        """The error for a collection that differs from what was written."""
        return StoreDamaged(
            f'The collection "{self.collection}" is damaged: {what}. '
            f"Repair it with: garden check --repair --collection {self.collection}",
            collection=self.collection,
        )

    def _inode(self) -> Inode | None:
        """Device and inode of the file; they change when the collection is removed or replaced."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_dev, status.st_ino

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection | None]:
        """A pooled connection, rolled back at the end; None where there is no database."""
        if self._closed:
            raise StoreUnavailable(f'The collection "{self.collection}" is closed.')
        inode = self._inode()
        of, connection = self._idle.pop() if self._idle else (None, None)
        if connection is not None and of != inode:
            connection.close()
            connection = None
        if connection is None and inode is not None:
            connection = self._connect()
        try:
            yield connection
        finally:
            if connection is not None:
                self._give_back(inode, connection)

    def _give_back(self, inode: Inode | None, connection: sqlite3.Connection) -> None:
        connection.rollback()
        self._idle.append((inode, connection))
        if self._closed:
            self.close()

    def _connect(self) -> sqlite3.Connection | None:
        mode = "rw" if os.access(self.folder, os.W_OK) else "ro"
        if mode == "ro" and not self.path.with_name(f"{FILE}-wal").exists():
            mode = "ro&immutable=1"  # on a read-only medium SQLite needs no lock
        uri = f"file:{quote(str(self.path))}?mode={mode}"
        options: Any = {"timeout": self._wait, "isolation_level": None, "check_same_thread": False}
        with ExitStack() as failed:
            connection: sqlite3.Connection = failed.enter_context(closing(sqlite3.connect(uri, uri=True, **options)))
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:  # another process is about to create the tables
                return None
            if version != VERSION:
                raise StoreUnavailable(
                    f'The collection "{self.collection}" was made by another version of Knowledge Garden: '
                    f"remove {self.folder} and ingest again."
                )
            connection.execute("PRAGMA synchronous = FULL")
            failed.pop_all()
            return connection

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
            raise self._mapped(error) from error

    def _mapped(self, error: sqlite3.Error) -> RAGError:
        code = getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR"
        if code.startswith(_DAMAGED):
            return self.damaged(f"{FILE}: {error}")
        if code.startswith(_NO_LOCKS):
            return self._unusable(_NO_LOCKS_REASON)
        if code.startswith(_NOT_WRITABLE):
            return self._unusable("its files cannot be written")
        reason = f"answered with an error: {error}."
        if code.startswith("SQLITE_BUSY"):
            reason = f"is being written by another process and was not free within {self._wait:g} s: try again."
        elif code.startswith(_FULL):
            reason = "cannot grow: no space left on its disk. What is stored is safe."
        return StoreUnavailable(f'The collection "{self.collection}" {reason}')

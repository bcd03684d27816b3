"""One embedded collection in SQLite (WAL mode), shared by any number of processes.

::

    <DATA_DIR>/<collection>/garden.sqlite3    all that is stored; beside it SQLite's own -wal and -shm
    <DATA_DIR>/<collection>/segment-*         the search index, derived from it (``app.providers.stores.segments``)

A reader sees one snapshot of the collection and never waits for a writer. Writers take turns.
Each write of a chunk gives it a new, higher id, so an id names one version of a chunk. ``segments`` lists the saved
index files: the chunks with ids in (low, high]. ``removed`` lists the ids deleted since their segment was saved.
"""

import errno
import fcntl
import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np
import orjson

from app.providers.stores.filters import Where
from app.providers.stores.layout import Point
from app.providers.stores.sql import condition
from graph.errors import ConfigurationError, StoreDamaged, StoreUnavailable

FILE, VERSION = "garden.sqlite3", 3
COLUMNS = "id, chunk_id, checksum, metadata, words, dense, text, sentences"  # the checksum covers all that follow it
WORD = np.dtype([("term", "<u4"), ("weight", "<f4")])  # a BM25 dimension of a chunk and its weight there
T = TypeVar("T")
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
CREATE TABLE removed (id INTEGER PRIMARY KEY);
CREATE TABLE segments (name TEXT PRIMARY KEY, low INTEGER, high INTEGER, rows INTEGER, checksum INTEGER);
PRAGMA user_version = {VERSION};
COMMIT;
"""
_NO_LOCKS = "its file system lacks the locks that SQLite needs"


class Database:
    """The thread-safe database of one collection; writers wait for each other ``wait`` seconds.

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
        draft = self.path.with_suffix(".new")  # as SQLite's switch to WAL fails beside another connection
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with _CREATING, (self.folder / "creating.lock").open("wb") as file, self._mapped_errors():
                fcntl.lockf(file, fcntl.LOCK_EX)  # SQLite takes a file system without locks for a busy writer
                if self.path.exists():
                    return
                draft.unlink(missing_ok=True)
                with closing(self._open(draft, "rwc")) as connection:
                    connection.execute("PRAGMA page_size = 8192")
                    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                        raise self._unusable(_NO_LOCKS)
                    connection.executescript(SCHEMA)
                draft.rename(self.path)
        except OSError as error:
            no_locks = error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
            raise self._unusable(_NO_LOCKS if no_locks else error.strerror or "it cannot be used") from error

    @contextmanager
    def reading(self, begin: str = "BEGIN") -> Iterator[sqlite3.Connection]:
        """One snapshot of the collection; an empty one where nothing was ever stored."""
        with self._mapped_errors():
            idle = self._idle.setdefault(inode := self._inode(), [])
            connection = None
            with suppress(IndexError):
                connection = idle.pop()
            connection = connection or self._open(self.path, "rw" if inode else "memory")
            try:
                connection.execute(begin)
                if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                    raise self._unusable("another version of Knowledge Garden made it; remove it and ingest again")
                if inode != self._inode():  # a repair moved the file away meanwhile
                    raise StoreUnavailable(f'The collection "{self.collection}" was replaced just now: try again.')
                yield connection
            finally:
                connection.rollback()
                idle.append(connection)

    def read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        with self.reading() as connection:
            return job(connection)

    def write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run *job* as one atomic write; it is on disk when this returns."""
        self.create()
        with self.reading("BEGIN IMMEDIATE") as connection:
            done = job(connection)
            connection.execute("UPDATE version SET writes = writes + 1")
            connection.execute("COMMIT")
            return done

    def close(self) -> None:
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def point(self, row: Sequence[Any]) -> Point:
        """The chunk of a row of ``COLUMNS``. Raises ``StoreDamaged`` for a wrong checksum."""
        if checksum(row[3:]) != row[2]:
            raise self.damaged(f"the checksum of chunk {row[1]!r} is wrong")
        words, dense = np.frombuffer(row[4], WORD), np.frombuffer(row[5], "<f4")
        sentences = np.frombuffer(row[7], "<f2").astype(np.float32).reshape(-1, len(dense))
        return Point(row[1], row[6], orjson.loads(row[3]), dense, sentences, dict(words.tolist()))

    def damaged(self, what: str) -> StoreDamaged:
        """The error for a collection that differs from what was written."""
        repair = f"Repair it with: garden check --repair --collection {self.collection}"
        return StoreDamaged(
            f'The collection "{self.collection}" is damaged: {what}. {repair}', collection=self.collection
        )

    def _inode(self) -> tuple[int, int] | None:
        """Device and inode of the file; they change when the collection is removed or replaced."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return (status := self.path.stat()).st_dev, status.st_ino
        return None

    def _open(self, path: Path, mode: str) -> sqlite3.Connection:
        if mode == "rw" and not (os.access(self.folder, os.W_OK) or path.with_name(f"{FILE}-wal").exists()):
            mode = "ro&immutable=1"  # a read-only medium
        uri = f"file:{quote(str(path))}?mode={mode}"
        connection = sqlite3.connect(uri, self._wait, isolation_level=None, check_same_thread=False, uri=True)
        connection.executescript(SCHEMA if mode == "memory" else "PRAGMA synchronous = FULL")
        return connection

    def _unusable(self, reason: str) -> ConfigurationError:
        folder = f"DATA_DIR={str(self.folder.parent)!r}"
        return ConfigurationError(f'The collection "{self.collection}" cannot be kept in {folder}: {reason}')

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        """Raise SQLite's errors as errors of ``graph.errors``."""
        try:
            yield
        except sqlite3.Error as error:
            code, reason = getattr(error, "sqlite_errorname", ""), f"answered with an error: {error}."
            if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
                raise self.damaged(f"{FILE}: {error}") from error
            if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
                raise self._unusable(str(error)) from error
            if code.startswith("SQLITE_BUSY"):
                reason = f"is being written by another process and was not free within {self._wait:g} s: try again."
            if code.startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE")):
                reason = "cannot grow: no space left on its disk. What is stored is safe."
            raise StoreUnavailable(f'The collection "{self.collection}" {reason}') from error


def checksum(values: Sequence[str | bytes]) -> int:
    """CRC-32 of the stored columns of a chunk."""
    return zlib.crc32(b"".join(value.encode() if isinstance(value, str) else value for value in values))


def version_of(connection: sqlite3.Connection) -> int:
    """Return a number that changes with every write."""
    (writes,) = connection.execute("SELECT writes FROM version").fetchone()
    return int(writes)


def stored_size(connection: sqlite3.Connection) -> int | None:
    """The dimension of the stored vectors; None where there are none."""
    size: int | None = connection.execute("SELECT (SELECT length(dense) / 4 FROM chunks LIMIT 1)").fetchone()[0]
    return size


def select(connection: sqlite3.Connection, columns: str, where: Where = None, rest: str = "") -> sqlite3.Cursor:
    clause, values = condition(where) if where else ("TRUE", [])
    return connection.execute(f"SELECT {columns} FROM chunks WHERE {clause} {rest}", values)


def remove(where: Where, connection: sqlite3.Connection) -> int:
    """Delete the chunks that pass a filter; return how many."""
    clause, values = condition(where)
    connection.execute(f"INSERT INTO removed SELECT id FROM chunks WHERE {clause}", values)
    return connection.execute(f"DELETE FROM chunks WHERE {clause}", values).rowcount

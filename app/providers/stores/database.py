"""One embedded collection as a SQLite database in WAL mode, which any number of processes may have open.

::

    <DATA_DIR>/<collection>/garden.sqlite3    all that is stored; beside it SQLite's own -wal and -shm
    <DATA_DIR>/<collection>/segment-*         what is searched, made of it (``app.providers.stores.segments``)

A reader sees one state of the collection and never waits for a writer. Writers take turns.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from app.providers.stores.layout import COLLECTION_NAME
from app.providers.stores.schema import SCHEMA, VERSION
from graph.errors import ConfigurationError, RAGError, StoreDamaged, StoreUnavailable

FILE = "garden.sqlite3"
NO_LOCKS = "its file system has not the locks that SQLite needs"
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_UNUSABLE = {
    ("SQLITE_PROTOCOL", "SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK", "SQLITE_IOERR_SHM"): NO_LOCKS,
    ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"): "its files cannot be written",
}
_TOLD = {
    ("SQLITE_BUSY",): "is being written by another process, and was not free within {wait:g} s: try again.",
    ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE"): (
        "cannot grow: its disk is full, or takes no more. Make room; what is stored is safe."
    ),
}


class _Connection(sqlite3.Connection):
    """A connection, and which file it has open."""

    file: tuple[int, int] = (0, 0)


class Database:
    """The database file of one collection; safe for threads. ``wait``: seconds a writer waits for another one.

    What goes wrong is ``StoreUnavailable``, ``StoreDamaged``, or ``ConfigurationError`` where the folder is at fault.
    """

    def __init__(self, data_dir: Path, collection: str, wait: float) -> None:
        if not COLLECTION_NAME.fullmatch(collection):
            raise ConfigurationError(f"The collection {collection!r} is not allowed: letters, digits, '_', '-', '.'")
        self.collection, self.folder, self.path = collection, data_dir / collection, data_dir / collection / FILE
        self._wait = wait
        self._guard = Lock()
        self._idle: list[_Connection] = []
        self._closed = False

    def make(self) -> None:
        """Make folder and database unless they are there. Raises ``ConfigurationError`` where that cannot be."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error.strerror or "it cannot be made") from error
        with self._errors():
            connection = sqlite3.connect(self.path, timeout=self._wait, isolation_level=None)
            try:
                if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                    connection.execute("PRAGMA page_size = 8192")
                    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                        raise self._unusable(NO_LOCKS)
                    connection.execute("BEGIN IMMEDIATE")
                    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                        for statement in SCHEMA.split(";\n"):
                            connection.execute(statement)
                        connection.execute(f"PRAGMA user_version = {VERSION}")
                    connection.execute("COMMIT")
            finally:
                connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """One state of the collection, whatever is written meanwhile; None where nothing was ever stored."""
        with self._errors():
            connection = self._take()
            if connection is None:
                yield None
                return
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One write, done wholly or not at all; on disk when it is left."""
        with self._errors():
            while True:
                connection = self._take()
                if connection is None:
                    self.make()
                    continue
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    if self._stands() != connection.file:  # set aside while we waited
                        continue
                    yield connection
                    connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'writes'")
                    connection.execute("COMMIT")
                    return
                finally:
                    self._give(connection)

    def set_aside(self) -> Path:
        """Move a damaged database into a folder of its own, and return that; others then begin a new one."""
        aside = self.folder / f"damaged-{1 + len(list(self.folder.glob('damaged-*')))}"
        aside.mkdir()
        for path in self.folder.glob(f"{FILE}*"):
            path.rename(aside / path.name)
        return aside

    def close(self) -> None:
        """Close every connection; from now on every call raises ``StoreUnavailable``."""
        with self._guard:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def damaged(self, what: str) -> StoreDamaged:
        """The error for a collection that is not as it was written."""
        return StoreDamaged(
            f'The collection "{self.collection}" is damaged: {what}. '
            f"Mend it with: garden check --repair --collection {self.collection}",
            collection=self.collection,
        )

    def _stands(self) -> tuple[int, int] | None:
        """What the file is now: another one when the collection was removed, or made anew."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_dev, status.st_ino

    def _take(self) -> _Connection | None:
        """A connection outside of any transaction; None where there is no database."""
        with self._guard:
            if self._closed:
                raise StoreUnavailable(f'The collection "{self.collection}" is closed.')
            file = self._stands()
            while self._idle:
                if (connection := self._idle.pop()).file == file:
                    return connection
                connection.close()
            if file is None:
                return None
        mode = "rw" if os.access(self.folder, os.W_OK) else "ro"
        if mode == "ro" and not self.path.with_name(f"{FILE}-wal").exists():
            mode = "ro&immutable=1"  # on a medium that nobody can write to, SQLite needs no lock
        connection = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode={mode}",
            uri=True,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
        )
        connection.file = file
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error:
            connection.close()
            raise
        if version == VERSION:
            return connection
        connection.close()
        if version == 0:  # nothing but the file is made
            return None
        raise StoreUnavailable(f'The collection "{self.collection}" was made by a later version of Knowledge Garden.')

    def _give(self, connection: _Connection) -> None:
        if connection.in_transaction:
            connection.rollback()
        with self._guard:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _unusable(self, why: str) -> ConfigurationError:
        return ConfigurationError(
            f'The collection "{self.collection}" cannot be kept in DATA_DIR={str(self.folder.parent)!r}: {why}'
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """SQLite's errors in our words; others pass."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._told(error) from error

    def _told(self, error: sqlite3.Error) -> RAGError:
        code = getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR"
        if code.startswith(_DAMAGED):
            return self.damaged(f"{FILE}: {error}")
        reason = next((reason for codes, reason in _UNUSABLE.items() if code.startswith(codes)), None)
        if reason:
            return self._unusable(reason)
        told = next(
            (told for codes, told in _TOLD.items() if code.startswith(codes)), f"answered with an error: {error}."
        )
        return StoreUnavailable(f'The collection "{self.collection}" {told.format(wait=self._wait)}')

"""The embedded vector engine of one collection: opened once, safe to use from any number of threads and tasks.

Work goes to it as jobs, functions of the open ``Shard``: reads on a few threads, writes on one, so writes are serial.
A caller waits for the future (``.result()``) or awaits it (``asyncio.wrap_future``; ``aread`` without a thread). The
shard is opened by the first job, and tried again by the next if that failed, so a collection held by another process
becomes usable by itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from app.providers.edge_damage import Inspection, damaged
from app.providers.edge_errors import in_our_words, other_size
from app.providers.edge_folder import EdgeFolder
from app.providers.edge_gate import ReadGate
from app.providers.edge_room import LEAST_FREE, make_sure_of_room
from app.providers.edge_shard import Shard
from app.providers.edge_sums import write_sums
from app.providers.edge_warm import Warming
from app.providers.holder import CollectionLock, in_use
from app.providers.layout import COLLECTION_NAME
from graph.errors import ConfigurationError, GardenError, StoreUnavailable

T = TypeVar("T")

READERS = 2
"""Threads for reading; more would only wait for each other (see ``edge_shard``)."""


class EdgeEngine:
    """One collection under ``data_dir``. Making the object touches nothing.

    ``size`` is the dimension of the embedding model's vectors, None when it is not known before the first of them.
    Nothing is written where less than ``least`` bytes of the disk are free. ``writes`` counts the write jobs done, so
    that what is derived from the collection can tell whether it is stale.
    Raises ``ConfigurationError`` for a name that cannot be that of a folder.
    """

    def __init__(self, data_dir: Path, collection: str, size: int | None = None, *, least: int = LEAST_FREE) -> None:
        if not COLLECTION_NAME.fullmatch(collection):
            raise ConfigurationError(
                f"The collection name {collection!r} (VECTOR_STORE_COLLECTION, TASKS_COLLECTION) is not allowed: "
                "letters, digits, '_', '-' and '.', not first a '.'"
            )
        self.collection = collection
        self.size = size
        self.writes = 0
        self._least_free = least
        self.folder = EdgeFolder(data_dir / collection)
        self._inspection = Inspection(self.folder)
        self._lock = CollectionLock(self.folder.path)
        self._shard: Shard | None = None
        self.warming: Warming | None = None
        """The reading of the current shard's files, from the opening on."""
        self._opened = self._closed = False
        self._opening = threading.Lock()
        self._gate = ReadGate(READERS)
        self._readers = ThreadPoolExecutor(READERS, f"{collection}-read")
        self._writer = ThreadPoolExecutor(1, f"{collection}-write")

    def open(self) -> None:
        """Take the collection if nobody has it; a collection that does not exist yet is made by the first write.

        Raises ``StoreUnavailable`` when another process has it, ``StoreDamaged`` when its files are not as they were
        left, ``ConfigurationError`` when it was made with vectors of another size. A second call does nothing.
        """
        with self._opening:
            if self._opened:
                return
            if self._closed:
                raise StoreUnavailable(f'The collection "{self.collection}" has been closed.')
            try:
                self._lock.acquire()
                self._inspection.again()
                self.folder.sweep()
                current = self.folder.current()
                self._shard = self._load(current) if current else None
                self._warm()
                self._opened = True
            except OSError as error:
                raise ConfigurationError(
                    f'The folder of the collection "{self.collection}" (in DATA_DIR) cannot be used: {error.strerror}.'
                ) from error
            finally:
                if not self._opened:
                    self._lock.release()

    def announce(self, address: str) -> None:
        """Let other processes read at which address this one serves the collection."""
        self._lock.announce(address)

    def read(self, job: Callable[[Shard], T], empty: T) -> Future[T]:
        """Queue a job that only reads; ``empty`` is its result while the collection does not exist."""

        def run() -> T:
            self.open()
            with self._gate.reading(), in_our_words(self.folder):
                return job(self._shard) if self._shard else empty

        return self._submit(self._readers, run)

    async def aread(self, job: Callable[[Shard], T], empty: T) -> T:
        """``read``, awaited; on the spot where nothing is in the way, for a thread would hold up the loop as long."""
        if not self._opened or not self._gate.take():
            return await asyncio.wrap_future(self.read(job, empty))
        try:
            if not self._closed:
                with in_our_words(self.folder):
                    return job(self._shard) if self._shard else empty
        finally:
            self._gate.leave()
        return await asyncio.wrap_future(self.read(job, empty))  # which says that it is closed

    def write(self, job: Callable[[Shard], T], empty: T, size: int | None = None) -> Future[T]:
        """Queue a job that writes; when its future is done, what it wrote survives a kill of the process.

        With ``size`` a collection that does not exist is made; without, the job is not run and the result ``empty``.
        Raises ``StoreUnavailable`` in the future where *size* is given and the disk is nearly full.
        """

        def run() -> T:
            self.open()
            if size is not None:
                make_sure_of_room(self.folder.path, self._least_free)
            with in_our_words(self.folder):
                if size is not None:
                    self._make(size)
                if self._shard is None:
                    return empty
                try:
                    return job(self._shard)
                finally:
                    self.writes += 1

        return self._submit(self._writer, run)

    def replace(self, make: Callable[[Shard], Shard]) -> Future[None]:
        """Queue a write job that makes a finished shard from the current one; it then takes the current one's place."""

        def job(old: Shard) -> None:
            new = make(old)
            self.folder.make_current(new.path)
            with self._gate.alone():
                self._shard = new
            old.close()
            self._warm()
            self.folder.sweep()

        return self.write(job, None)

    def close(self) -> None:
        """Finish the queued jobs, flush, close and give the collection free; a second call does nothing."""
        with self._opening:
            first, self._closed = not self._closed, True
        if not first:
            return
        self._readers.shutdown()
        self._writer.shutdown()
        with self._gate.alone():  # somebody may read without a thread
            shard, self._shard = self._shard, None
            warming = self.warming
            self._warm()
        if warming:
            warming.wait()  # for a block at most; then the folder is nobody's
        try:
            if shard:
                shard.close()
                with suppress(OSError):  # a full disk: then the next opening tries the shard instead
                    write_sums(shard.path)
        finally:
            self._lock.release()

    def _submit(self, pool: ThreadPoolExecutor, run: Callable[[], T]) -> Future[T]:
        try:
            return pool.submit(run)
        except RuntimeError as error:
            raise StoreUnavailable(f'The collection "{self.collection}" has been closed.') from error

    def _make(self, size: int) -> None:
        """Make the collection if it does not exist; raise ``ConfigurationError`` if its vectors are of another size."""
        if self._shard is None:
            if self.size not in (None, size):
                raise ConfigurationError(f"Vectors of {size} dimensions, but the embedding model makes {self.size}.")
            path = self.folder.next()
            Shard.create(path, size)
            self.folder.make_current(path)
            self._shard = self._load(path)
        self.check(self._shard, size)

    def check(self, shard: Shard, size: int | None, error: type[GardenError] = ConfigurationError) -> None:
        """Raise *error* when vectors of ``size`` dimensions do not fit the shard."""
        if size is not None and size != shard.size:
            raise other_size(error, self.collection, shard.size, size)

    def _warm(self) -> None:
        """Have the files of the shard that is current now be read, and no others."""
        if self.warming:
            self.warming.stop()
        self.warming = Warming(self._shard.path) if self._shard else None

    def _load(self, path: Path) -> Shard:
        try:
            shard = Shard(path)
        except Exception as error:
            if "WouldBlock" in str(error):
                raise in_use(self.folder.path) from error
            raise damaged(self.folder, f"{path.name} cannot be opened") from error
        try:
            self.check(shard, self.size)
        except ConfigurationError:
            shard.close()
            raise
        return shard

"""Who has an embedded collection open: a lock of the operating system, on a file that says who holds it.

The lock goes with the process, however it ends; what the file says is only believed while the lock is held.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from graph.errors import StoreUnavailable

HOLDER_FILE = "holder.json"


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that has the collection open, and the address it serves, if it serves."""

    pid: int | None = None
    address: str | None = None


class CollectionLock:
    """The right to open one collection. ``folder`` is the collection's own folder; it is made when it is missing."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / HOLDER_FILE
        self._file: IO[bytes] | None = None

    def acquire(self) -> None:
        """Take the lock, or raise ``StoreUnavailable`` naming the holder; details: collection, pid, address."""
        if self._file is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("a+b", buffering=0)  # what a full disk does not take must not be tried at the end again
        if not _lock(file):
            file.close()
            raise in_use(self._path.parent)
        self._file = file
        self.announce(None)

    def announce(self, address: str | None) -> None:
        """Write who we are, and the address we serve, for others to read. A full disk keeps nobody from reading."""
        if self._file is not None:
            # In place: a new file in its stead would be a file without the lock.
            with suppress(OSError):
                self._file.truncate(0)
                self._file.write(json.dumps(asdict(Holder(os.getpid(), address))).encode())

    def release(self) -> None:
        """Let go; a second call does nothing."""
        if self._file is not None:
            with suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            self._file = None


def read_holder(folder: Path) -> Holder:
    """What the holder of the collection in ``folder`` says of itself; an empty ``Holder`` when it says nothing."""
    try:
        said = json.loads((folder / HOLDER_FILE).read_text(encoding="utf-8"))
        return Holder(said.get("pid"), said.get("address"))
    except (OSError, ValueError, AttributeError):
        return Holder()


def in_use(folder: Path) -> StoreUnavailable:
    """The error for a collection that somebody else has open: who, and what to do."""
    holder = read_holder(folder)
    who = f"process {holder.pid}" if holder.pid else "another process"
    if holder.address:
        advice = f"which serves it at {holder.address}: ask it there, or stop it first"
    else:
        advice = "and one process at a time can: wait for it to end, or stop it first"
    message = f'The collection "{folder.name}" is open in {who}, {advice}.'
    return StoreUnavailable(message, collection=folder.name, pid=holder.pid, address=holder.address)


def _lock(file: IO[bytes]) -> bool:
    """Try to lock; where there is no flock (Windows) the engine's own lock has to do."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

"""Reading a shard's files once, so that questions find them in the system's cache.

The engine maps its files into memory and leaves them to the disk: after an opening every question would fetch its
hundreds of scattered pages by itself, at a million chunks 60 ms of them. Read from end to end by a thread, they come
at the disk's full speed, and nobody waits for it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

SHARE_OF_MEMORY = 4
"""At most a quarter of the machine's memory is filled."""
FIRST = ("vector_index", "vector_storage-dense", "payload_index", "id_tracker", "payload_storage")
"""The engine's names for the parts of a segment, in the order in which they are read; any other comes last."""
BLOCK = 1 << 20


class Warming:
    """One reading of the files under a shard's folder, begun at once, by a thread that keeps no process alive.

    ``most`` bytes are read, what searches need first; by default a share of the machine's memory.
    """

    def __init__(self, shard: Path, most: int | None = None) -> None:
        self._left = share_of_memory() if most is None else most
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(shard,), name=f"{shard.name}-warm", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Give it up."""
        self._ended.set()

    def wait(self) -> None:
        """Return when everything is read."""
        self._thread.join()

    def _run(self, shard: Path) -> None:
        block = bytearray(BLOCK)
        for path in in_order(shard):
            with suppress(OSError), path.open("rb", buffering=0) as file:  # the engine may remove one meanwhile
                while not self._ended.is_set() and self._left > 0 and (read := file.readinto(block)):
                    self._left -= read


def in_order(shard: Path) -> Iterator[Path]:
    """The files of *shard*, what is needed most first."""

    def place(path: Path) -> int:
        part = path.relative_to(shard / "segments").parts[1:]
        return next((at for at, name in enumerate(FIRST) if part and part[0].startswith(name)), len(FIRST))

    yield from sorted((path for path in (shard / "segments").rglob("*") if path.is_file()), key=place)


def share_of_memory() -> int:
    """Bytes: ``SHARE_OF_MEMORY`` of this machine's memory; 0 where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // SHARE_OF_MEMORY
    except (AttributeError, ValueError, OSError):
        return 0

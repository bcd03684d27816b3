"""Reading a shard's files once, so that questions find them in the system's cache.

The engine maps its files into memory and leaves them to the disk: after an opening every question would fetch its
hundreds of scattered pages by itself, at a million chunks 60 ms of them. Read from end to end by a thread, they come
at the disk's full speed, and nobody waits for it.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from app.providers.file_blocks import blocks

SHARE_OF_MEMORY = 4
"""At most a quarter of the memory is filled."""
FIRST = ("vector_index", "vector_storage-dense", "payload_index", "id_tracker", "payload_storage")
"""The engine's names for the parts of a segment, in the order in which they are read; any other comes last."""
BLOCK = 1 << 20
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""What a container may use of its machine's memory (Linux, "Control Group v2"): bytes, or "max"."""


class Warming:
    """One reading of the files under a shard's folder, begun at once, by a thread that keeps no process alive.

    At most ``most`` bytes are read, what searches need first; by default a share of the memory. What cannot be read is
    left to the questions.
    """

    def __init__(self, shard: Path, most: int | None = None) -> None:
        self.read = 0
        """Bytes read so far."""
        self._most = share_of_memory() if most is None else most
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(shard,), name=f"{shard.name}-warm", daemon=True)
        with suppress(RuntimeError):  # no more threads to be had
            self._thread.start()

    def stop(self) -> None:
        """Give it up."""
        self._stopped.set()

    def wait(self) -> None:
        """Return when it has ended."""
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self, shard: Path) -> None:
        with suppress(OSError):  # a folder that goes while it is listed
            for path in in_order(shard):
                with suppress(OSError):  # one file of many
                    self._file(path)

    def _file(self, path: Path) -> None:
        with path.open("rb", buffering=0) as file:
            for at in blocks(file, BLOCK):
                if self._stopped.is_set() or self.read >= self._most:
                    return
                file.seek(at)
                self.read += len(file.read(BLOCK))


def in_order(shard: Path) -> list[Path]:
    """The files of *shard*, what is needed most first. Raises ``OSError``."""

    def place(path: Path) -> int:
        part = path.relative_to(shard / "segments").parts[1:]
        return next((at for at, name in enumerate(FIRST) if part and part[0].startswith(name)), len(FIRST))

    return sorted(sorted(path for path in (shard / "segments").rglob("*") if path.is_file()), key=place)


def share_of_memory() -> int:
    """Bytes: ``SHARE_OF_MEMORY`` of what this process may use; 0 where the system does not tell."""
    try:
        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
    with suppress(OSError, ValueError):
        most = min(most, int(CGROUP_LIMIT.read_text(encoding="ascii")))
    return most // SHARE_OF_MEMORY

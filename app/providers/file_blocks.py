"""What of a file holds data. The embedded engine's files are mostly room to grow into: holes, which take no disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def blocks(file: BinaryIO, size: int) -> Iterator[int]:
    """The places of the blocks of *size* bytes that may hold data; holes are skipped where the system tells of them."""
    end = file.seek(0, os.SEEK_END)
    at = 0
    while at < end:
        found = _next_data(file, at)
        if found is None:
            return
        at = max(at, found - found % size)
        yield at
        at += size


def used(path: Path) -> int:
    """Bytes of data in a file, holes not counted. Raises ``OSError``."""
    status = path.stat()
    return min(status.st_size, getattr(status, "st_blocks", 1 << 40) * 512)


def _next_data(file: BinaryIO, at: int) -> int | None:
    """Where the next data is; ``at`` where that cannot be told, None when there is no more."""
    if not hasattr(os, "SEEK_DATA"):
        return at
    try:
        return os.lseek(file.fileno(), at, os.SEEK_DATA)
    except OSError as error:
        return None if error.errno == errno.ENXIO else at

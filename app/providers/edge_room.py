"""Room on the disk of an embedded collection, looked for before anything is written.

The engine maps its files into memory with room to grow. Where the disk cannot give a page of that room the system ends
the whole process (SIGBUS), questions and all; no error could be caught.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from graph.errors import StoreUnavailable

LEAST_FREE = 128 << 20
"""Bytes free below which nothing more is written: four times what a first ``garden ingest knowledge`` takes, 31 MB
(``df``)."""


def free_bytes(folder: Path) -> int:
    """Bytes free where *folder* is, or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def make_sure_of_room(folder: Path, least: int = LEAST_FREE) -> None:
    """Raise ``StoreUnavailable`` when less than *least* bytes are free where *folder* is."""
    free = free_bytes(folder)
    if free < least:
        raise StoreUnavailable(
            f'Nothing more is written to "{folder.name}": its disk has {free >> 20} MB free, and {least >> 20} MB are '
            "needed. Make room; what is stored is safe, and questions are answered."
        )


def taken_bytes(folder: Path) -> int:
    """Bytes of the disk that the files of *folder* take; their holes take none, where the system counts blocks."""
    found = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum(one.st_blocks * 512 if hasattr(one, "st_blocks") else one.st_size for one in found)

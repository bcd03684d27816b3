"""Temporary folders that hold what was sent while it is read, locked, so that those of ended processes are known."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

PREFIX = "garden-upload-"
"""Beginning of the names of these folders."""


@contextmanager
def upload_folder() -> Iterator[Path]:
    """Make a folder, locked as long as it is in use; the lock is released however the process ends."""
    with TemporaryDirectory(prefix=PREFIX) as folder, _opened(Path(folder)) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield Path(folder)


def clear_upload_folders() -> None:
    """Delete the folders that killed processes left; those of other users and those in use stay."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), _opened(folder) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)

"""The folder of an embedded collection: which shard in it is the current one, and how another takes its place.

::

    <collection>/holder.json      the lock, and who holds it
    <collection>/current          the name of the current shard; replaced in one step
    <collection>/shard-1          that shard; any other shard-* is an unfinished copy and goes at the next opening
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_POINTER = "current"


class EdgeFolder:
    """Paths only; nothing is opened here. Whoever changes anything holds the collection's lock."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def current(self) -> Path | None:
        """The folder of the current shard, or None when the collection has not been made yet."""
        try:
            return self.path / (self.path / _POINTER).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None

    def next(self) -> Path:
        """Where the shard that follows the current one is to be made; what lies there unfinished is removed."""
        current = self.current()
        number = int(current.name.partition("-")[2]) + 1 if current else 1
        path = self.path / f"shard-{number}"
        shutil.rmtree(path, ignore_errors=True)
        return path

    def make_current(self, shard: Path) -> None:
        """Let this complete shard be the current one, also after a crash at any moment."""
        draft = self.path / f"{_POINTER}.new"
        with draft.open("w", encoding="utf-8") as file:
            file.write(shard.name)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path / _POINTER)

    def sweep(self) -> None:
        """Remove every shard but the current one."""
        current = self.current()
        for path in self.path.glob("shard-*"):
            if path != current:
                shutil.rmtree(path, ignore_errors=True)

"""The folder of an embedded collection: which shard in it is the current one, and how another takes its place.

::

    <collection>/holder.json      the lock, and who holds it
    <collection>/current          the name of the current shard; replaced in one step
    <collection>/shard-1          that shard; any other shard-* is an unfinished copy and goes at the next opening
    <collection>/sums.json        how the current shard was left (``edge_sums``); only while nobody has it open
    <collection>/damaged-1        what a rebuild has set aside; nothing here ever removes it
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from app.providers.edge_sums import SUMS_FILE

_POINTER = "current"


class EdgeFolder:
    """Paths only; nothing is opened here. Whoever changes anything holds the collection's lock."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def current(self) -> Path | None:
        """The folder of the current shard, or None when the collection has not been made yet."""
        try:
            return self.path / (self.path / _POINTER).read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            return None

    def mark(self) -> object:
        """Something that is another one when the collection was made or put in place anew."""
        try:
            status = (self.path / _POINTER).stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns

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

    def shards(self) -> list[Path]:
        """Every shard there is, the current one, unfinished and lost ones alike."""
        return sorted(self.path.glob("shard-*"))

    def sweep(self) -> None:
        """Remove every shard but the current one."""
        current = self.current()
        for path in self.shards():
            if path != current:
                shutil.rmtree(path, ignore_errors=True)

    def set_aside(self) -> Path | None:
        """Move all that is stored into a folder of its own, and return that; None when there was nothing."""
        there = [*self.shards(), *(self.path / name for name in (_POINTER, SUMS_FILE) if (self.path / name).exists())]
        if not there:
            return None
        aside = self.path / f"damaged-{1 + max(map(_number, self.set_asides()), default=0)}"
        aside.mkdir()
        for path in there:
            path.rename(aside / path.name)
        return aside

    def set_asides(self) -> list[Path]:
        """What has been set aside, oldest first."""
        return sorted(self.path.glob("damaged-*"), key=_number)


def _number(path: Path) -> int:
    tail = path.name.rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0

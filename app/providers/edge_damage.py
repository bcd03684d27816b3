"""Is an embedded collection as it was left? Asked before the engine opens it, for damage can end whoever opens it."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from app.providers import edge_trial
from app.providers.edge_folder import EdgeFolder
from app.providers.edge_sums import SUMS_FILE, take_sums
from app.providers.holder import in_use
from graph.errors import StoreDamaged

AGAIN_AFTER = 60.0
_SHARD = re.compile(r"shard-\d+")


class Inspection:
    """``inspect``, asked again and again: damage that was found is told anew without reading everything anew.

    Until the collection is another one (rebuilt, restored whole), or ``AGAIN_AFTER`` seconds have gone.
    """

    def __init__(self, folder: EdgeFolder, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._clock = clock
        self._found: tuple[StoreDamaged, object, float] | None = None

    def again(self) -> None:
        """Raise what ``inspect`` raises."""
        known = self._found
        if known and known[1] == self._folder.mark() and self._clock() < known[2]:
            raise known[0]
        try:
            inspect(self._folder)
        except StoreDamaged as error:
            self._found = error, self._folder.mark(), self._clock() + AGAIN_AFTER
            raise
        self._found = None


def inspect(folder: EdgeFolder) -> None:
    """Compare the current shard with the sums of its last closing; after a kill, when there are none, try it.

    Raises ``StoreDamaged``, and ``StoreUnavailable`` when somebody else has the shard open.
    """
    current = folder.current()
    if current is None:
        _without_pointer(folder)
        return
    if not _SHARD.fullmatch(current.name):
        raise damaged(folder, 'the file "current" names no shard')
    if not current.is_dir():
        raise damaged(folder, f"{current.name} is gone")
    try:
        if take_sums(current):
            return
    except ValueError as error:
        raise damaged(folder, str(error)) from error
    if _points(folder, current) is None:
        raise damaged(folder, f"{current.name} cannot be opened and read")


def damaged(folder: EdgeFolder, what: str) -> StoreDamaged:
    """The error that names the damage and the command."""
    name = folder.path.name
    return StoreDamaged(
        f'The collection "{name}" is damaged: {what}. This sets the damaged folder aside and makes the collection '
        f"anew from its documents: garden rebuild --collection {name}",
        collection=name,
    )


def _without_pointer(folder: EdgeFolder) -> None:
    """Nothing says which shard counts: the first one was never finished, and is empty, or the pointer is lost."""
    lost = (folder.path / SUMS_FILE).exists() or any(_points(folder, shard) for shard in folder.shards())
    if lost:
        raise damaged(folder, 'the file "current" is gone')
    folder.set_aside()


def _points(folder: EdgeFolder, shard: Path) -> int | None:
    """How many points can be read, found by a process of its own; None when that fails."""
    trial = [sys.executable, edge_trial.__file__, str(shard)]
    done = subprocess.run(trial, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if b"WouldBlock" in done.stderr:
        raise in_use(folder.path)
    return None if done.returncode else int(done.stdout)

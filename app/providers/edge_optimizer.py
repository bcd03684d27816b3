"""When the embedded engine builds its indexes, and how searches and writes go on while it does.

Points that are not indexed are searched one by one, exactly: about 1 ms for 12,000 chunks, 9 ms for 100,000. So nothing
is built until ``OPTIMIZE_AFTER`` of them have gathered, and while points keep coming a fifth of a larger collection.
Then the shard is copied, a process of its own optimizes the copy (``edge_optimize``), what was written meanwhile is
brought over, and the copy takes the shard's place. A crash at any moment leaves the old shard in charge.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from app.providers import edge_optimize
from app.providers.edge_engine import EdgeEngine
from app.providers.edge_room import LEAST_FREE, make_sure_of_room, taken_bytes
from app.providers.edge_shard import BATCH, Shard
from graph.errors import GardenError

OPTIMIZE_AFTER = 5_000
"""Unindexed points that are worth the seconds of processor time an index costs."""

SHARE_WAITING = 5
"""While points keep coming: a fifth, so that a growing collection is copied and indexed anew a few times in all."""

_log = logging.getLogger(__name__)


class EdgeOptimizer:
    """Optimizes one engine's shard, one run at a time, from ``after`` unindexed points on."""

    def __init__(self, engine: EdgeEngine, after: int = OPTIMIZE_AFTER) -> None:
        self._engine = engine
        self._after = after
        self._left = 0  # unindexed points the last run made nothing of: those without one of the vectors, or too few
        self._touched: set[str] | None = None  # written since the copy was made; used on the writer's thread only
        self._process: subprocess.Popen[bytes] | None = None
        self._running: Future[None] | None = None
        self._closed = False
        self._starting = threading.Lock()
        self._thread = ThreadPoolExecutor(1, f"{engine.collection}-optimize")

    def note(self, ids: Collection[Any]) -> None:
        """Remember points that a write job changes; call it inside the job."""
        if self._touched is not None:
            self._touched.update(map(str, ids))

    def due(self, shard: Shard, *, more: bool = False) -> bool:
        """Whether enough unindexed points have gathered; with *more*, for a time at which others will follow."""
        enough = max(self._after, shard.count() // SHARE_WAITING) if more else self._after
        return shard.unindexed() - self._left >= enough

    def start(self) -> Future[None]:
        """Start a run, or join the one that is going on. Its failure is logged, not raised: searches stay right."""
        with self._starting:
            if self._running is None or self._running.done():
                self._running = self._thread.submit(self._run)
            return self._running

    def close(self) -> None:
        """Give up a run that is going on."""
        self._closed = True
        if process := self._process:
            process.terminate()
        self._thread.shutdown(cancel_futures=True)

    def _run(self) -> None:
        try:
            copy = self._engine.write(self._copy, None).result()
            if copy and not self._closed and self._optimize(copy):
                self._engine.replace(lambda old: self._catch_up(old, copy)).result()
        except (GardenError, OSError) as error:
            _log.warning("optimize_failed", extra={"collection": self._engine.collection, "error": repr(error)})
        finally:
            self._touched = None

    def _copy(self, shard: Shard) -> Path:
        shard.flush()
        path = self._engine.folder.next()
        make_sure_of_room(path, LEAST_FREE + 2 * taken_bytes(shard.path))  # the copy, and what is built of it
        shutil.copytree(shard.path, path)
        self._touched = set()
        return path

    def _optimize(self, path: Path) -> bool:
        command = [sys.executable, edge_optimize.__file__, str(path)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if self._closed:
            self._process.terminate()
        code, self._process = self._process.wait(), None
        if code and not self._closed:
            _log.warning("optimize_failed", extra={"collection": self._engine.collection, "exit_status": code})
        return code == 0

    def _catch_up(self, old: Shard, path: Path) -> Shard:
        new = Shard(path)
        self._left = new.unindexed()
        touched = sorted(self._touched or ())
        for at in range(0, len(touched), BATCH):
            new.copy_from(old, touched[at : at + BATCH])
        new.flush()
        self._touched = None
        return new

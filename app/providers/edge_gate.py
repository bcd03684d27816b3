"""Who may use an open shard: a few readers at once, or one who replaces it, alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadGate:
    """*readers* places; safe for threads. Who wants all of them shuts the gate first, so that no new reader goes in."""

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._places = threading.Semaphore(readers)
        self._gate = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Wait for a place, and hold it while inside."""
        with self._gate:
            self._places.acquire()
        try:
            yield
        finally:
            self._places.release()

    def take(self) -> bool:
        """Take a place if there is one at once; then ``leave`` it."""
        if not self._gate.acquire(blocking=False):
            return False
        try:
            return self._places.acquire(blocking=False)
        finally:
            self._gate.release()

    def leave(self) -> None:
        """Give up the place that was taken."""
        self._places.release()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until nobody reads, and keep everybody out while inside."""
        with self._gate:
            for _ in range(self._readers):
                self._places.acquire()
            try:
                yield
            finally:
                self._places.release(self._readers)

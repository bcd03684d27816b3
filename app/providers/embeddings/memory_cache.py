"""Keep the most recently used values, within a budget of memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class MemoryCache(Generic[V]):
    """Values by key, at most ``budget`` bytes of them as ``size`` counts; safe for threads, without expiry."""

    def __init__(self, budget: int, size: Callable[[V], int]) -> None:
        self._left = budget
        self._size = size
        self._known: OrderedDict[Hashable, V] = OrderedDict()
        self._guard = Lock()

    def find(self, keys: Iterable[Hashable]) -> dict[Hashable, V]:
        """Return those of the keys that are known."""
        with self._guard:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
        return found

    def keep(self, values: Mapping[Hashable, V]) -> None:
        """Keep these; forget the least recently used when the budget is spent."""
        with self._guard:
            for key, value in values.items():
                if key not in self._known:
                    self._known[key] = value
                    self._left -= self._size(value)
            while self._left < 0:
                _, old = self._known.popitem(last=False)
                self._left += self._size(old)

"""Report that a slow file is still being read, so that its time limit begins anew."""

from collections.abc import Callable
from contextvars import ContextVar

ON_PROGRESS: ContextVar[Callable[[], None]] = ContextVar("ON_PROGRESS", default=lambda: None)
"""Called by ``still_reading``; the process that reads files sets it."""


def still_reading() -> None:
    """Report that reading goes on."""
    ON_PROGRESS.get()()

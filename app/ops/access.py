"""What the caller of the current request may see: every collection, or those that its API key names."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """``collections`` are those that may be seen, None for all. ``key`` is the name of a restricted key, else ""."""

    key: str = ""
    collections: tuple[str, ...] | None = None
    may_write: bool = True

    def sees(self, collection: str) -> bool:
        """Tell whether this caller may search a collection, and be told that it exists."""
        return self.collections is None or collection in self.collections


EVERYTHING = Access()
NOTHING = Access("", (), may_write=False)
"""A caller without an accepted key, where one is required."""

access_var: ContextVar[Access] = ContextVar("access", default=EVERYTHING)
"""The current caller; everything outside of a request."""

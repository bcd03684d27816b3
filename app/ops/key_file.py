"""API keys that see only some collections, in ``DATA_DIR/keys.json``: ``garden keys`` writes it, servers read it.

Only the SHA-256 of a key is stored. A key has 256 random bits, so that a slow hash would protect nothing more.
"""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from graph.errors import ConfigurationError, InvalidInput

FILE = "keys.json"


class StoredKey(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    sha256: str
    collections: tuple[str, ...]
    read_only: bool
    created: str


_KEYS = TypeAdapter(tuple[StoredKey, ...])


class KeyFile:
    """The keys of one data folder; what any process writes, ``read`` returns."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def read(self) -> tuple[StoredKey, ...]:
        """Return the keys. Raises ``ConfigurationError``."""
        try:
            return _KEYS.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError) as error:
            raise ConfigurationError(f"{self.path} cannot be read: mend or remove it") from error

    def add(self, name: str, collections: Sequence[str], *, read_only: bool) -> str:
        """Make a key, store its hash, and return it. Raises ``InvalidInput`` for a name that is taken."""
        key = f"kg_{secrets.token_urlsafe(32)}"
        created = datetime.now(UTC).isoformat(timespec="seconds")
        row = StoredKey(
            name=name, sha256=digest(key), collections=tuple(collections), read_only=read_only, created=created
        )
        with self._writing() as keys:
            if any(key.name == name for key in keys):
                raise InvalidInput(f"There is a key named {name!r} already: remove it first.", "name")
            self._write((*keys, row))
        return key

    def remove(self, name: str) -> bool:
        """Remove a key; return whether there was one."""
        with self._writing() as keys:
            kept = tuple(key for key in keys if key.name != name)
            self._write(kept)
            return len(kept) < len(keys)

    @contextmanager
    def _writing(self) -> Iterator[tuple[StoredKey, ...]]:
        """Hold the lock of writers, and yield the keys."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.with_suffix(".lock").open("wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield self.read()
        except OSError as error:
            raise ConfigurationError(f"{self.path} cannot be written: {error.strerror}") from error

    def _write(self, keys: tuple[StoredKey, ...]) -> None:
        part = self.path.with_suffix(".part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_KEYS.dump_json(keys, indent=1))
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)


def digest(key: str) -> str:
    """Return the SHA-256 of a key as hex digits."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()

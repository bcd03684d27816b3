"""The API keys that a server accepts: those of ``API_KEYS``, which see everything, and those of ``garden keys``."""

import logging
from collections.abc import Callable, Sequence
from hmac import compare_digest

from app.ops.access import EVERYTHING, Access
from app.ops.key_file import KeyFile, StoredKey, digest
from graph.errors import ConfigurationError

log = logging.getLogger("garden.http")


class ApiKeys(list[str]):
    """The accepted keys; as a list, those of ``API_KEYS``."""

    def __init__(self, keys: Sequence[str] = (), file: KeyFile | None = None) -> None:
        super().__init__(keys)
        self._file = file
        self._stored: tuple[StoredKey, ...] = ()
        self._closed = bool(keys)

    @property
    def required(self) -> bool:
        """Whether a request needs a key. Once it does, only a restart opens the service."""
        self._closed = self._closed or bool(self or self.restricted)
        return self._closed

    @property
    def restricted(self) -> tuple[StoredKey, ...]:
        """The keys that see only some collections, as they are now; of a file that cannot be read, the last ones."""
        if self._file:
            try:
                self._stored = self._file.read()
            except ConfigurationError as error:
                log.error("key_file_unreadable", extra={"reason": error.message, "do": "see garden keys list"})
                self._closed = True
        return self._stored

    def accepts(self, key: str) -> bool:
        """Tell whether *key* is one of ``API_KEYS``; compares all, each in constant time."""
        presented, *accepted = (one.encode("utf-8", "replace") for one in (key, *self))
        matches = [compare_digest(presented, one) for one in accepted]
        return any(matches)

    def access(self, key: str) -> Access | None:
        """Return what the owner of *key* may see; None for a key that is not accepted."""
        if self.accepts(key):
            return EVERYTHING
        presented = digest(key)
        found = [one for one in self.restricted if compare_digest(presented, one.sha256)]
        return Access(found[0].name, found[0].collections, not found[0].read_only) if found else None

    def reload(self, read: Callable[[], Sequence[str]]) -> None:
        """Accept the keys that *read* returns, and no other; unreadable or missing keys change nothing."""
        try:
            keys = read()
            if self and not keys:
                raise ConfigurationError("API_KEYS holds no key, and only a restart opens the service")
        except ConfigurationError as error:
            log.error("keys_kept", extra={"reason": error.message, "do": "correct the setting and send SIGHUP again"})
        else:
            self[:] = keys
            log.info("keys_reloaded", extra={"keys": len(keys)})

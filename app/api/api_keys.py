"""Hold the API keys a service accepts; they can be replaced while it runs."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Callable, Sequence

from graph.errors import ConfigurationError

log = logging.getLogger("garden.keys")


class ApiKeys:
    """Holds digests of the keys. Every key is compared, each in constant time, whatever its length."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self.replace(keys)

    def __len__(self) -> int:
        return len(self._digests)

    def replace(self, keys: Sequence[str]) -> None:
        """Accept *keys*, and no other, from the next request on."""
        self._digests = [_digest(key) for key in dict.fromkeys(keys)]

    def accepts(self, key: str) -> bool:
        """Tell whether *key* is one of the keys; the time it takes reveals nothing about them."""
        digest = _digest(key)
        return sum(hmac.compare_digest(digest, known) for known in self._digests) > 0


def reload_keys(api_keys: ApiKeys, read: Callable[[], Sequence[str]]) -> None:
    """Replace the keys by what *read* returns; unreadable or missing keys change nothing."""
    try:
        keys = read()
    except ConfigurationError as error:
        log.error("keys_kept", extra={"reason": error.message, "do": "correct the setting and send SIGHUP again"})
        return
    if api_keys and not keys:
        reason = "API_KEYS and API_KEYS_FILE hold no key any more"
        log.error("keys_kept", extra={"reason": reason, "do": "to open the service, restart it without keys"})
        return
    if keys and not api_keys:
        log.info("keys_required_now", extra={"keys": len(keys)})
    api_keys.replace(keys)
    log.info("keys_reloaded", extra={"keys": len(api_keys)})


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()

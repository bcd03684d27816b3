"""The API keys a service accepts, which may be exchanged while it runs."""

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
        self._digests: list[bytes] = []
        self.replace(keys)

    def __len__(self) -> int:
        return len(self._digests)

    def replace(self, keys: Sequence[str]) -> None:
        """Accept *keys*, and no other, from the next request on."""
        self._digests = [_digest(key) for key in dict.fromkeys(keys)]

    def accepts(self, given: str) -> bool:
        """Whether *given* is one of the keys; the time it takes tells nothing about any of them."""
        digest = _digest(given)
        matches = [hmac.compare_digest(digest, key) for key in self._digests]
        return any(matches)


def reload_keys(api_keys: ApiKeys, read: Callable[[], Sequence[str]]) -> None:
    """Fill *keyring* with what *read* gives. What cannot be read, or would open a closed service, changes nothing."""
    try:
        keys = read()
    except ConfigurationError as error:
        log.error("keys_kept", extra={"reason": error.message, "do": "mend the setting and send SIGHUP again"})
        return
    if api_keys and not keys:
        reason = "there is no key in API_KEYS or API_KEYS_FILE any more"
        log.error("keys_kept", extra={"reason": reason, "do": "to open the service, restart it without keys"})
        return
    if keys and not api_keys:
        log.info("keys_wanted_now", extra={"keys": len(keys)})
    api_keys.replace(keys)
    log.info("keys_reloaded", extra={"keys": len(api_keys)})


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()

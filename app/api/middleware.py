"""Middleware of every HTTP request, as pure ASGI: ``BaseHTTPMiddleware`` would hide a client's disconnect.

In this order: request id and traffic (``app.ops.traffic``), spans, refusals, defects, body limit.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import error_response
from app.ops.access import EVERYTHING, NOTHING, Access, access_var
from app.ops.health import Health
from app.ops.key_file import KeyFile, StoredKey, digest
from app.ops.traffic import PROBE_PATHS, is_below
from graph.errors import ConfigurationError

log = logging.getLogger("garden.http")


class ApiKeys(list[str]):
    """The accepted keys; as a list, those of ``API_KEYS``."""

    def __init__(self, keys: Sequence[str] = (), file: KeyFile | None = None) -> None:
        super().__init__(keys)
        self._file = file
        self._stored: tuple[StoredKey, ...] = ()
        self._version: tuple[int, ...] | None = None
        self._closed = bool(keys)

    @property
    def required(self) -> bool:
        """Whether a request needs a key. Once it does, only a restart opens the service."""
        self._closed = self._closed or bool(self or self.restricted)
        return self._closed

    @property
    def restricted(self) -> tuple[StoredKey, ...]:
        """The keys that see only some collections, as they are now; of a file that cannot be read, the last ones."""
        if self._file and (version := _version(self._file.path)) != self._version:
            try:
                self._stored, self._version = self._file.read(), version
            except ConfigurationError as error:
                log.error("key_file_unreadable", extra={"reason": error.message, "do": "see garden keys list"})
                self._closed = True
        return self._stored

    def access(self, key: str) -> Access | None:
        """Return what the owner of *key* may see; None for a key that is not accepted. Compares in constant time."""
        presented = digest(key)
        if sum(compare_digest(presented, digest(accepted)) for accepted in self):  # all of them, whichever it is
            return EVERYTHING
        found = [stored for stored in self.restricted if compare_digest(presented, stored.sha256)]
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


def _version(path: Path) -> tuple[int, ...] | None:
    """Return what tells a file from others of its name; None where there is none, () where that cannot be seen."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ino, status.st_size


MAX_BODY = 1024 * 1024
"""Largest request body in bytes (contract, Query API: 413 past 1 MiB)."""
DRAIN_RETRY_SECONDS = 5
"""``Retry-After`` of a service that shuts down: another replica is ready by then."""


class Refusals:
    """Refuses requests during shutdown, to unknown host names, or without a key."""

    def __init__(self, app: ASGIApp, health: Health, api_keys: ApiKeys, hosts: Sequence[str]) -> None:
        self.app = app
        self._health = health
        self._api_keys = api_keys
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the refusal, None if allowed; set what the caller may see. Health and metrics are always open."""
        path, headers = scope["path"], Headers(scope=scope)
        access = self._access(headers)
        # Without keys that see only some collections, what monitoring reads names the two that are configured.
        access_var.set(access or (NOTHING if self._api_keys.restricted else EVERYTHING))
        if is_below(path, PROBE_PATHS):
            return None
        public = path == "/" or path.startswith("/page/")  # the page's own files hold nothing of the documents
        if self._health.draining and not public:
            message = "The service is shutting down. Please try again shortly."
            retry = {"Retry-After": str(DRAIN_RETRY_SECONDS), "Connection": "close"}
            return error_response(503, message, retry, retryAfterSeconds=DRAIN_RETRY_SECONDS)
        if not self._trusts((scope.get("server") or ("",))[0], headers.get("host", "")):
            return error_response(400, "This host name is not allowed: see TRUSTED_HOSTS.", field="Host")
        if access is None and not public:
            return error_response(401, "An API key is required.", {"WWW-Authenticate": "Bearer"})
        return None

    def _access(self, headers: Headers) -> Access | None:
        """Return what the caller may see; None where a key is required and there is none that is accepted."""
        if not self._api_keys.required:
            return EVERYTHING
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        key = headers.get("x-api-key") or (bearer.strip() if scheme.lower() == "bearer" else "")
        return self._api_keys.access(key)

    def _trusts(self, address: str, host: str) -> bool:
        """Tell whether a request that arrived at *address* may name this *host*.

        A page of another site can point a name of its own at 127.0.0.1 and so, in its reader's browser, reach a service
        that only listens there (DNS rebinding). So without keys, what arrives over loopback must be addressed to an IP
        address, to ``localhost`` or to one of TRUSTED_HOSTS; where these are set, that holds for every request.
        """
        if "*" in self._hosts or (not self._hosts and (self._api_keys.required or not is_loopback(address))):
            return True
        name = (host.partition("]")[0][1:] if host.startswith("[") else host.partition(":")[0]).lower().rstrip(".")
        return name in self._hosts or name == "localhost" or _is_address(name)


class BodyLimit:
    """Refuses a body past the limit: by its announced length, else while reading."""

    def __init__(self, app: ASGIApp, larger: Mapping[str, int]) -> None:
        """*larger* are limits of single paths."""
        self.app = app
        self._larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"], MAX_BODY)
        message, close = f"The request body is larger than {limit} bytes.", {"Connection": "close"}
        length = Headers(scope=scope).get("content-length", "")
        announced, size = int(length) if length.isdigit() else 0, 0

        async def limited() -> Message:
            nonlocal size
            if announced > limit:  # a client that waits for 100 Continue is answered before it sends
                raise HTTPException(413, message, close)
            part = await receive()
            size += len(part.get("body", b""))
            if size > limit:
                raise HTTPException(413, message, close)
            return part

        await self.app(scope, limited, send)


def is_loopback(address: str | None) -> bool:
    """Tell whether an IP address or ``localhost`` is of this machine."""
    return address == "localhost" or (_is_address(address or "") and ip_address(address or "").is_loopback)


def may_write(request: Request, keys: ApiKeys) -> bool:
    """Tell whether this request may add and delete documents.

    With keys, the middleware has checked one. Without, caller and host name must be of this machine (DNS rebinding).
    """
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname
    near = is_loopback(request.client.host if request.client else None) and is_loopback(host)
    return access_var.get().may_write and (keys.required or near)


def require_writer(request: Request, keys: ApiKeys) -> None:
    """Raise ``HTTPException`` 403 unless this request may add and delete documents."""
    if not access_var.get().may_write:
        raise HTTPException(403, "This API key may only read.")
    if not may_write(request, keys):
        raise HTTPException(403, "Documents are added and deleted from this machine only, unless API_KEYS is set.")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

"""Middleware of every HTTP request, as pure ASGI: ``BaseHTTPMiddleware`` would hide a client's disconnect.

In this order: request id and traffic (``app.ops.traffic``), spans, refusals, defects, body limit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.api_keys import ApiKeys
from app.api.errors import INTERNAL, error_response
from app.ops.health import Health
from app.ops.traffic import PROBE_PATHS, is_below

MAX_BODY = 1024 * 1024
"""Largest request body in bytes (contract, Query API: 413 past 1 MiB)."""

DRAIN_RETRY_SECONDS = 5
"""``Retry-After`` of a service that shuts down: another replica is ready by then."""

log = logging.getLogger("garden.http")
Rule = Callable[[Scope], Response | None]
"""Returns the response that refuses a request, or None."""


class Refusals:
    """Answers a request that one of *rules* refuses; the first refusal counts."""

    def __init__(self, app: ASGIApp, rules: Sequence[Rule]) -> None:
        self.app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        responses = (rule(scope) for rule in self._rules) if scope["type"] == "http" else ()
        refused = next((response for response in responses if response), None)
        await (refused or self.app)(scope, receive, send)


def while_draining(health: Health) -> Rule:
    """Refuse new requests while the service shuts down; those in flight go on."""

    def rule(scope: Scope) -> Response | None:
        if not health.draining or _is_public(scope["path"]):
            return None
        headers = {"Retry-After": str(DRAIN_RETRY_SECONDS), "Connection": "close"}
        message = "The service is shutting down. Please try again shortly."
        return error_response(503, message, headers, retryAfterSeconds=DRAIN_RETRY_SECONDS)

    return rule


def without_api_key(api_keys: ApiKeys) -> Rule:
    """Refuse a request without a key, except to health, metrics and the page. With no keys, everything is open."""

    def rule(scope: Scope) -> Response | None:
        if not api_keys or _is_public(scope["path"]):
            return None
        headers = Headers(scope=scope)
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        key = headers.get("x-api-key") or (bearer.strip() if scheme.lower() == "bearer" else "")
        return None if api_keys.accepts(key) else error_response(401, "An API key is needed.", WWW_AUTHENTICATE)

    return rule


WWW_AUTHENTICATE = {"WWW-Authenticate": "Bearer"}


def untrusted_host(api_keys: ApiKeys, hosts: Sequence[str]) -> Rule:
    """Refuse a request made to an unknown host name.

    A page of another site can point a name of its own at 127.0.0.1 and so, in its reader's browser, reach a service
    that only listens there (DNS rebinding). So without keys, what arrives over loopback must be addressed to an IP
    address, to ``localhost`` or to one of *hosts*; where *hosts* are set, that holds for every request.
    """

    def rule(scope: Scope) -> Response | None:
        if "*" in hosts or is_below(scope["path"], PROBE_PATHS):
            return None
        if not hosts and (api_keys or not is_loopback((scope.get("server") or ("",))[0])):
            return None
        host = Headers(scope=scope).get("host", "")
        name = (host.partition("]")[0][1:] if host.startswith("[") else host.partition(":")[0]).lower().rstrip(".")
        if name in hosts or name == "localhost" or _is_address(name):
            return None
        return error_response(400, "This host name is not allowed: see TRUSTED_HOSTS.", field="Host")

    return rule


class Defects:
    """Answers an unknown exception with 500 and logs it with its trace; the client sees nothing of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def observed(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, observed)
        except Exception:
            if scope["type"] != "http" or begun:
                raise  # the response has begun: uvicorn closes the connection, and logs the error
            log.exception("defect")
            await error_response(500, INTERNAL)(scope, receive, send)


class BodyLimit:
    """Refuses a body past the limit: at once where its length is announced, else while it is read."""

    def __init__(self, app: ASGIApp, larger: Mapping[str, int]) -> None:
        """*larger* are limits of single paths."""
        self.app = app
        self._larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"], MAX_BODY)
        message = f"The request body is larger than {limit} bytes."
        close = {"Connection": "close"}
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > limit:
            await error_response(413, message, close)(scope, receive, send)
            return
        size = 0

        async def limited() -> Message:
            nonlocal size
            part = await receive()
            size += len(part.get("body", b""))
            if size > limit:
                raise HTTPException(413, message, close)
            return part

        await self.app(scope, limited, send)


def is_loopback(address: str | None) -> bool:
    """Tell whether an IP address or ``localhost`` is of this machine."""
    return address == "localhost" or (_is_address(address or "") and ip_address(address or "").is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_public(path: str) -> bool:
    """Tell whether *path* is of health, metrics or the page's own files, which hold nothing of the documents."""
    return path == "/" or path.startswith("/page/") or is_below(path, PROBE_PATHS)

"""What every HTTP request passes, as pure ASGI so that a client's leaving stays visible to the handlers.

Request id, traffic (``app.ops.traffic``), drain, host name, API key, defects, body size: in this order.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.api_keys import ApiKeys
from app.api.errors import defect_response, error_response
from app.ops.health import Health
from app.ops.request_id import request_id_from, request_id_var
from app.ops.traffic import is_open

MAX_BODY = 1024 * 1024
"""Largest request body in bytes (contract, Door Q: 413 past 1 MiB)."""

DRAIN_RETRY_SECONDS = 5
"""When a client that is turned away by a service going down should come back: another one is there by then."""

log = logging.getLogger("garden.http")

PAGE = "/page"
"""Below it, and at ``/``, lie the page and its style and scripts, which tell nothing and so want no key."""


def tells_nothing(path: str) -> bool:
    """Whether *path* is of the health, the figures or the page itself: nothing of the documents."""
    return is_open(path) or path == "/" or path.startswith(f"{PAGE}/")


class RequestId:
    """Gives every request its id: the client's own ``X-Request-ID`` if it is printable and not long, else a new one."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = request_id_from(Headers(scope=scope).get("x-request-id", ""))
        scope.setdefault("state", {})["request_id"] = request_id
        token = request_id_var.set(request_id)

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        try:
            await self.app(scope, receive, named)
        finally:
            request_id_var.reset(token)


class Defects:
    """Any exception nobody knows: logged with its trace, and told to the client without a word of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            if scope["type"] != "http" or begun:
                raise  # the answer is on its way: the server closes the connection, and logs this
            log.exception("defect")
            await defect_response()(scope, receive, send)


class RequireApiKey:
    """Wants one of the keys on every path but health, metrics and the empty page. With no keys, everything is open."""

    def __init__(self, app: ASGIApp, api_keys: ApiKeys) -> None:
        self.app = app
        self._keyring = api_keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._keyring or scope["type"] not in ("http", "websocket") or tells_nothing(scope["path"]):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = headers.get("x-api-key") or (bearer.strip() if scheme.lower() == "bearer" else "")
        if self._keyring.accepts(given):
            await self.app(scope, receive, send)
            return
        refused = error_response(401, "An API key is needed.", {"WWW-Authenticate": "Bearer"})
        await refused(scope, receive, send)


class Draining:
    """While the service goes down, what comes anew is turned away; what is in flight goes on."""

    def __init__(self, app: ASGIApp, health: Health) -> None:
        self.app = app
        self._health = health

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._health.draining or scope["type"] != "http" or tells_nothing(scope["path"]):
            await self.app(scope, receive, send)
            return
        headers = {"Retry-After": str(DRAIN_RETRY_SECONDS), "Connection": "close"}
        message = "The service is going down. Please ask again shortly."
        refused = error_response(503, message, headers, retryAfterSeconds=DRAIN_RETRY_SECONDS)
        await refused(scope, receive, send)


class TrustedHosts:
    """Refuses a request made to a name that nobody gave this service.

    A page of a stranger can point a name of its own at 127.0.0.1 and so speak, in its reader's browser, to a service
    that only listens there (DNS rebinding). So without keys, what arrives over loopback must be addressed to an IP
    address, to ``localhost`` or to one of *hosts*; where *hosts* are given, that holds for every request.
    """

    def __init__(self, app: ASGIApp, api_keys: ApiKeys, hosts: Sequence[str]) -> None:
        self.app = app
        self._keyring = api_keys
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "*" in self._hosts or is_open(scope["path"]) or self._known(scope):
            await self.app(scope, receive, send)
            return
        refused = error_response(400, "This service does not go by that name: see TRUSTED_HOSTS.", field="Host")
        await refused(scope, receive, send)

    def _known(self, scope: Scope) -> bool:
        if not self._hosts and (self._keyring or not _is_loopback((scope.get("server") or ("",))[0])):
            return True
        host = Headers(scope=scope).get("host", "")
        name = (host.partition("]")[0][1:] if host.startswith("[") else host.partition(":")[0]).lower().rstrip(".")
        return name in self._hosts or name == "localhost" or _is_address(name)


@lru_cache(maxsize=256)
def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=256)
def _is_loopback(address: str) -> bool:
    return _is_address(address) and ip_address(address).is_loopback


class BodyLimit:
    """Refuses a body past the limit: at once where its length is announced, else as soon as it has grown too far."""

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY, larger: dict[str, int] | None = None) -> None:
        self.app = app
        self._limit = limit
        self._larger = larger or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"], self._limit)
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > limit:
            await self._refuse(limit, scope, receive, send)
            return
        # A body without a length is read here, up to the limit, and handed on whole.
        if "transfer-encoding" not in Headers(scope=scope):
            await self.app(scope, receive, send)
            return
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
            if size > limit:
                await self._refuse(limit, scope, receive, send)
                return
        waiting: list[Message] = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, replay, send)

    @staticmethod
    async def _refuse(limit: int, scope: Scope, receive: Receive, send: Send) -> None:
        refused = error_response(
            413, f"The request body is larger than {limit} bytes.", {"Connection": "close"}, limitBytes=limit
        )
        await refused(scope, receive, send)

"""What every HTTP request passes, as pure ASGI so that a client's leaving stays visible to the handlers.

Request id, API key, defects, body size: in this order.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors_http import defect_response, error_response
from app.request_id import request_id_from, request_id_var

MAX_BODY = 1024 * 1024
"""Largest request body in bytes (contract, Door Q: 413 past 1 MiB)."""

log = logging.getLogger("garden.http")

OPEN_PATHS = ("/health", "/metrics", "/page")
"""Open with all below them. ``/page`` holds the page's style and scripts, which tell nothing; so does ``/`` itself."""


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


class ApiKeys:
    """Wants one of the keys on every path but health, metrics and the empty page. With no keys, everything is open."""

    def __init__(self, app: ASGIApp, keys: Sequence[str]) -> None:
        self.app = app
        self._keys = [key.encode() for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._keys or scope["type"] not in ("http", "websocket") or self._is_open(scope["path"]):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = headers.get("x-api-key") or (bearer.strip() if scheme.lower() == "bearer" else "")
        # Every key is compared, in constant time each, so that the time tells nothing about any of them.
        matches = [hmac.compare_digest(given.encode("utf-8", "replace"), key) for key in self._keys]
        if any(matches):
            await self.app(scope, receive, send)
            return
        refused = error_response(401, "An API key is needed.", {"WWW-Authenticate": "Bearer"})
        await refused(scope, receive, send)

    @staticmethod
    def _is_open(path: str) -> bool:
        return path == "/" or any(path == start or path.startswith(f"{start}/") for start in OPEN_PATHS)


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

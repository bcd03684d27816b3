"""Assign request ids, count requests in flight, log and report finished ones."""

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PROBE_PATHS = ("/health", "/metrics")
"""Paths for monitoring: no key, never refused, not counted as in flight, logged at DEBUG."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CLIENT_GONE = 499
"""nginx's status for a client that left before its response began."""
log = logging.getLogger("garden.http")

request_id_var: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the current request; empty outside of one."""
questions_var: ContextVar[list[dict[str, Any]] | None] = ContextVar("questions", default=None)
"""Log fields of the questions of the current request; None outside of a request."""


@dataclass(frozen=True, slots=True)
class FinishedRequest:
    """A finished request. ``route`` is its route's template, never its path; "" if unmatched.

    ``interface`` is the first tag of the route, "page" for one without tags, "none" where none matched.
    """

    interface: str
    route: str
    method: str
    status: int
    ms: float


@dataclass(slots=True)
class Traffic:
    """State shared by the middleware, the metrics and the shutdown."""

    in_flight: int = 0
    observers: list[Callable[[FinishedRequest], None]] = field(default_factory=list)


def new_request_id() -> str:
    return f"req_{uuid.uuid4().hex}"


def current_request_id() -> str:
    """Return the id of the current request, or a new one outside of any."""
    return request_id_var.get() or new_request_id()


def is_below(path: str, starts: tuple[str, ...]) -> bool:
    return any(path == start or path.startswith(f"{start}/") for start in starts)


class Requests:
    """Outermost middleware. A request counts as in flight until its last byte is sent."""

    def __init__(self, app: ASGIApp, traffic: Traffic) -> None:
        self.app = app
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        header_id = Headers(scope=scope).get("x-request-id", "").strip()
        request_id = header_id if re.fullmatch(r"[\x20-\x7e]{1,128}", header_id) else new_request_id()
        request_id_var.set(request_id)
        probe = is_below(scope["path"], PROBE_PATHS)
        status = 0
        questions: list[dict[str, Any]] = []
        questions_var.set(questions)

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        self._traffic.in_flight += not probe
        try:
            await self.app(scope, receive, observed)
        except asyncio.CancelledError:
            status = status or CLIENT_GONE
            raise
        finally:
            self._traffic.in_flight -= not probe
            route = template(scope)
            method = scope["method"] if scope["method"] in METHODS else "OTHER"
            ms = round((time.perf_counter() - begun) * 1000, 1)
            tags = getattr(scope.get("route"), "tags", None) or ["page" if route else "none"]
            finished = FinishedRequest(str(tags[0]), route, method, status or 500, ms)
            for observe in self._traffic.observers:
                observe(finished)
            _log(finished, questions, logging.DEBUG if probe else logging.INFO)


def template(scope: Scope) -> str:
    """Return the matched route's template, "" for none. Plain routes and mounts set no ``route``."""
    if path := getattr(scope.get("route"), "path", None):
        return str(path)
    if "endpoint" not in scope:
        return ""
    mounted = scope.get("root_path")
    return f"{mounted}/{{path}}" if mounted else str(scope["path"])


def _log(finished: FinishedRequest, questions: list[dict[str, Any]], level: int) -> None:
    """Log one line per request, with its question's fields; a batch's questions are listed."""
    fields = asdict(finished)
    if len(questions) == 1:
        fields |= {**questions[0], "ms": finished.ms, "question_ms": questions[0]["ms"]}
    elif questions:
        fields |= {"questions": questions, "outcome": [question["outcome"] for question in questions]}
    log.log(level, "request", extra=fields)

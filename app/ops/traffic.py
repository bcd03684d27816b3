"""What passes through the doors: how many requests are in flight, one log line for each, and an observer's count."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS = ("/health", "/metrics")
"""Paths for those who watch over the service: no key, never refused, not counted as work, logged at DEBUG."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CLIENT_GONE = 499
"""nginx's status for a client that left before its answer began; nobody receives it."""

DOORS = (
    ("/query", "query"),
    ("/rag", "langserve"),
    ("/api/v1/search/semantic", "tasks"),
    ("/api/v1/chat", "tasks"),
    ("/api/v1/search", "search"),
    ("/health", "health"),
    ("/metrics", "metrics"),
)
"""Where a route's template begins, and the door it belongs to; the first match counts. Any other one is the page's."""

log = logging.getLogger("garden.http")


@dataclass(frozen=True, slots=True)
class Passed:
    """One request that is over. ``route`` is its route's template, "" where no route matched; never its path."""

    door: str
    route: str
    method: str
    status: int
    seconds: float


@dataclass(slots=True)
class Traffic:
    """Shared by the middleware below, the metrics and the server's end."""

    in_flight: int = 0
    observers: list[Callable[[Passed], None]] = field(default_factory=list)


questions_var: ContextVar[list[dict[str, Any]] | None] = ContextVar("questions", default=None)
"""What was asked by the request of this context, for its one log line; None outside of a request."""


def is_open(path: str) -> bool:
    """Whether *path* is one of ``OPEN_PATHS`` or below one."""
    return any(path == start or path.startswith(f"{start}/") for start in OPEN_PATHS)


class CountTraffic:
    """The middleware. A request counts as in flight until its last byte is sent."""

    def __init__(self, app: ASGIApp, traffic: Traffic) -> None:
        self.app = app
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        watching = is_open(scope["path"])
        status = 0
        questions: list[dict[str, Any]] = []
        token = questions_var.set(questions)

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._traffic.in_flight += not watching
        try:
            await self.app(scope, receive, watched)
        except asyncio.CancelledError:
            status = status or CLIENT_GONE
            raise
        finally:
            self._traffic.in_flight -= not watching
            questions_var.reset(token)
            passed = _passed(scope, status or 500, time.perf_counter() - begun)
            for observe in self._traffic.observers:
                observe(passed)
            _say(passed, questions, logging.DEBUG if watching else logging.INFO)


def _passed(scope: Scope, status: int, seconds: float) -> Passed:
    route = template(scope)
    method = scope["method"] if scope["method"] in METHODS else "OTHER"
    return Passed(door_of(route), route, method, status, seconds)


def template(scope: Scope) -> str:
    """The template of the route that took the request, "" for none. Plain routes and mounts leave less behind."""
    if path := getattr(scope.get("route"), "path", None):
        return str(path)
    if "endpoint" not in scope:
        return ""
    mounted = str(scope.get("root_path", "")).removeprefix(str(scope.get("app_root_path", "")))
    return f"{mounted}/{{path}}" if mounted or scope.get("path_params") else str(scope["path"])


def door_of(route: str) -> str:
    """The door a route's template belongs to; "none" for no route."""
    if not route:
        return "none"
    return next((door for start, door in DOORS if route == start or route.startswith(f"{start}/")), "page")


def _say(passed: Passed, questions: list[dict[str, Any]], level: int) -> None:
    """The line of one request. A question's own facts stand in it; several questions (a batch) are listed."""
    if not log.isEnabledFor(level):
        return
    said: dict[str, Any] = {
        "door": passed.door,
        "route": passed.route,
        "method": passed.method,
        "status": passed.status,
        "ms": round(passed.seconds * 1000, 1),
    }
    if len(questions) == 1:
        said |= {**questions[0], "ms": said["ms"], "question_ms": questions[0]["ms"]}
    elif questions:
        said |= {"questions": questions, "outcome": [question["outcome"] for question in questions]}
    log.log(level, "request", extra=said)

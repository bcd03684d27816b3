"""How the command line reaches a garden: the one in this process, or the server that has the collection open.

An embedded collection belongs to one process at a time, so beside a running server the commands go through it. Both
ways give the same wire objects.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import httpx
import orjson

from app.bootstrap import Garden, build_garden
from app.errors_http import failure_body
from app.search import search
from app.settings import Settings
from app.wire import answer_body, chunk_summary
from graph.errors import GardenError, InvalidInput, RetrievalFailed, StoreUnavailable, SynthesisFailed

Said = tuple[str, dict[str, Any]]
"""An event of ``POST /query/stream``: its name and its data."""


class Doorway(Protocol):
    """What the commands need of a garden, near or far."""

    def ask(self, fields: dict[str, Any]) -> AsyncGenerator[Said]:
        """The events of one question; always ends with "answer" or "error"."""
        ...

    async def search(self, query: str, k: int) -> dict[str, Any]:
        """Door R's results."""
        ...

    async def health(self) -> dict[str, Any]:
        """Door L's five fields, and notes on what works with less than it could."""
        ...


@asynccontextmanager
async def open_doorway(settings: Settings) -> AsyncGenerator[Doorway]:
    """The garden in this process; where a server holds the collection, a way through that server."""
    try:
        garden = build_garden(settings)
    except StoreUnavailable as error:
        address = error.details.get("address")
        if not isinstance(address, str):
            raise
        async with httpx.AsyncClient(base_url=address, headers=_key(settings), timeout=_limit(settings)) as client:
            yield Far(client)
        return
    await garden.start()
    try:
        yield Near(garden)
    finally:
        await garden.aclose()


class Near:
    """The garden in this process."""

    def __init__(self, garden: Garden) -> None:
        self._garden = garden

    async def ask(self, fields: dict[str, Any]) -> AsyncGenerator[Said]:
        async for event in self._garden.service.stream(fields):
            if event.kind == "retrieval":
                yield "retrieval", {"chunks": [chunk_summary(chunk) for chunk in event.chunks]}
            elif event.kind == "token":
                yield "token", {"text": event.text}
            elif event.result is not None and event.result.failure:
                yield "error", failure_body(event.result.failure)
            elif event.result is not None:
                yield "answer", answer_body(event.result, evidence=True)

    async def search(self, query: str, k: int) -> dict[str, Any]:
        settings = self._garden.settings
        found = await search(
            self._garden.retriever,
            query,
            k,
            seconds=settings.request_timeout_seconds,
            most_chars=settings.max_query_chars,
        )
        return found.model_dump()

    async def health(self) -> dict[str, Any]:
        health = self._garden.health
        return {**await health.check(), "notes": health.notes()}


class Far:
    """A garden served by another process."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def ask(self, fields: dict[str, Any]) -> AsyncGenerator[Said]:
        body = orjson.dumps({**fields, "includeEvidence": True})
        where = {"source": fields["source"]} if fields.get("source") is not None else None
        headers = {"Content-Type": "application/json"}
        with _Reachable():
            async with self._client.stream(
                "POST", "/query/stream", params=where, content=body, headers=headers
            ) as response:
                if response.status_code != httpx.codes.OK:
                    yield "error", orjson.loads(await response.aread())
                    return
                name = ""
                async for line in response.aiter_lines():
                    if line.startswith("event: "):
                        name = line.removeprefix("event: ")
                    elif line.startswith("data: "):
                        yield name, orjson.loads(line.removeprefix("data: "))

    async def search(self, query: str, k: int) -> dict[str, Any]:
        return await self._get("/api/v1/search", q=query, k=k)

    async def health(self) -> dict[str, Any]:
        ready = await self._get("/health/ready", failing=True)
        return {**await self._get("/health"), "notes": ready.get("notes", [])}

    async def _get(self, path: str, *, failing: bool = False, **params: Any) -> dict[str, Any]:
        with _Reachable():
            response = await self._client.get(path, params=params)
        found: dict[str, Any] = orjson.loads(response.content)
        if "error" in found and not failing:
            raise error_of(found)
        return found


class _Reachable:
    """Turns a server that went away into our error."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, httpx.HTTPError | orjson.JSONDecodeError):
            raise StoreUnavailable("The running server did not answer as expected.") from error


def error_of(body: dict[str, Any]) -> GardenError:
    """The error of the tree that an error body stands for."""
    message = str(body.get("message", "The request failed."))
    if body.get("error") == "VALIDATION_ERROR":
        return InvalidInput(message, str(body.get("details", {}).get("field", "query")))
    if body.get("error") == "SYNTHESIS_FAILED":
        return SynthesisFailed(message)
    return RetrievalFailed(message)


def _limit(settings: Settings) -> float:
    """Seconds to wait for the server: its own deadline, and some for the way."""
    return settings.request_timeout_seconds + 5


def _key(settings: Settings) -> dict[str, str]:
    return {"X-API-Key": settings.keys[0]} if settings.keys else {}

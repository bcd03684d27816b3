"""Chroma's HTTP interface, version 2 (its own ``/openapi.json``): one collection, found by name, used by id.

Spoken to directly rather than through ``chromadb``: that package brings a model runtime and telemetry for a handful of
requests, and asks the server four questions before the first of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import orjson

from app.providers.http.guarded_calls import GuardedCalls
from app.providers.http.transport import AiohttpTransport
from graph.errors import CollectionMissing

T = TypeVar("T")
_COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection as the server describes it; ``size`` is None until it holds a vector, ``space`` cosine, l2 or ip."""

    id: str
    size: int | None
    space: str


class ChromaHTTP:
    """The requests for one collection. All raise ``CollectionMissing`` or ``StoreUnavailable``."""

    def __init__(self, url: str, name: str, seconds: float, calls: GuardedCalls) -> None:
        self._name = name
        self._calls = calls
        self._known: Collection | None = None
        self._connections = AiohttpTransport()
        self._http = httpx.AsyncClient(
            base_url=url, timeout=seconds, follow_redirects=True, transport=self._connections
        )

    async def describe(self) -> Collection:
        """The collection as it is now."""
        self._known = None
        self._known = await self._calls.acall(lambda: self._read(f"{_COLLECTIONS}/{quote(self._name, safe='')}"))
        return self._known

    async def known(self) -> Collection:
        """The collection as it was last described."""
        known = self._known
        return known if known is not None and known.size is not None else await self.describe()

    async def create(self) -> Collection:
        """The collection, made for cosines if it is not there."""
        body = {"name": self._name, "get_or_create": True, "configuration": {"hnsw": {"space": "cosine"}}}
        self._known = await self._calls.acall(lambda: self._read(_COLLECTIONS, body))
        return self._known

    async def ask(self, operation: str, read: Callable[[Any], T], body: Mapping[str, Any] | None = None) -> T:
        """What *read* makes of the JSON of one operation on the collection: a POST of *body*, or a GET without one.

        *read* may raise anything for JSON of another shape. A collection that was made anew meanwhile has another id,
        so one that is gone is looked up once more.
        """
        known = await self.known()
        try:
            return await self._operate(known, operation, read, body)
        except CollectionMissing:
            again = await self.describe()
            if again.id == known.id:
                raise
            return await self._operate(again, operation, read, body)

    async def _operate(
        self, known: Collection, operation: str, read: Callable[[Any], T], body: Mapping[str, Any] | None
    ) -> T:
        async def once() -> T:
            return read(await self._send(f"{_COLLECTIONS}/{known.id}/{operation}", body))

        return await self._calls.acall(once)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._connections.aclose()

    async def _read(self, path: str, body: Mapping[str, Any] | None = None) -> Collection:
        found = await self._send(path, body)
        index = found.get("configuration_json") or {}
        space = next((index[kind]["space"] for kind in ("hnsw", "spann") if index.get(kind)), None)
        older = (found.get("metadata") or {}).get("hnsw:space", "l2")
        return Collection(str(found["id"]), found.get("dimension"), str(space or older))

    async def _send(self, path: str, body: Mapping[str, Any] | None) -> Any:
        if body is None:
            response = await self._http.get(path)
        else:
            content = orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
            response = await self._http.post(path, content=content, headers={"Content-Type": "application/json"})
        if response.status_code == httpx.codes.NOT_FOUND and _says_not_found(response.content):
            raise CollectionMissing(f"The vector store holds no collection named {self._name!r}.")
        response.raise_for_status()
        return orjson.loads(response.content)


def _says_not_found(content: bytes) -> bool:
    """Whether a 404 is Chroma's own, about the collection, and not that of a server which is no Chroma."""
    try:
        return bool(orjson.loads(content)["error"] == "NotFoundError")
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False

"""Chroma's HTTP interface, version 2 (its own ``/openapi.json``): one collection, found by name, used by id.

Spoken to directly rather than through ``langchain-chroma``: the chromadb package it needs brings an inference runtime,
gRPC and Kubernetes clients into every installation, allows requests no time limit (chroma-core/chroma#5805), and
contacts the server when a client is made, so that a server which is down would stop the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import orjson

from app.providers.http.retry import GuardedCalls
from app.providers.http.transport import AiohttpTransport
from graph.errors import CollectionMissing

COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"


class Collection(NamedTuple):
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
        self.transport = AiohttpTransport()
        self._http = httpx.AsyncClient(base_url=url, timeout=seconds, follow_redirects=True, transport=self.transport)

    async def describe(self) -> Collection:
        """The collection as it is now."""
        self._known = None
        self._known = await self._calls.acall(lambda: self._described(f"{COLLECTIONS}/{quote(self._name, safe='')}"))
        return self._known

    async def known(self) -> Collection:
        """The collection as it was last described."""
        return self._known if self._known is not None and self._known.size is not None else await self.describe()

    async def create(self) -> Collection:
        """The collection, created for cosines unless it exists."""
        body = {"name": self._name, "get_or_create": True, "configuration": {"hnsw": {"space": "cosine"}}}
        self._known = await self._calls.acall(lambda: self._described(COLLECTIONS, body))
        return self._known

    async def ask(self, operation: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON of one operation on the collection: a POST of *body*, or a GET without one.

        A collection that was created again meanwhile has another id, so one that is missing is looked up once more.
        """
        known = await self.known()
        try:
            return await self._calls.acall(lambda: self._send(f"{COLLECTIONS}/{known.id}/{operation}", body))
        except CollectionMissing:
            again = await self.describe()
            if again.id == known.id:
                raise
            return await self._calls.acall(lambda: self._send(f"{COLLECTIONS}/{again.id}/{operation}", body))

    async def _described(self, path: str, body: Mapping[str, Any] | None = None) -> Collection:
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
        if response.status_code == httpx.codes.NOT_FOUND and b'"NotFoundError"' in response.content:
            raise CollectionMissing(f"The vector store holds no collection named {self._name!r}.")
        response.raise_for_status()
        return orjson.loads(response.content)

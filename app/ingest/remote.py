"""A collection that a running server holds, as a place to ingest into (``app.ingest_api`` is the other end)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from app.ingest.documents import Part
from graph.errors import ConfigurationError, InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    import httpx

PATH = "/api/v1/ingest"
MAX_REQUEST_BYTES = 900_000
"""Largest body sent; the server takes 1 MiB."""

OWNERS_TOGETHER = 200
"""Chunk ids asked about in one request; at their longest they fill a quarter of it."""

SECONDS = 600.0
"""How long one request may take: a batch to embed on a busy machine, or indexes to build."""


@asynccontextmanager
async def remote_sink(address: str, collection: str | None, keys: Sequence[str] = ()) -> AsyncIterator[RemoteSink]:
    """Open the way to the server at ``address`` (``http://host:port``); the first of ``keys`` is shown to it."""
    import httpx

    headers = {"Authorization": f"Bearer {keys[0]}"} if keys else {}
    timeout = httpx.Timeout(SECONDS, connect=5.0)
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=timeout, trust_env=False) as client:
        yield RemoteSink(client, collection)


class RemoteSink:
    """``Sink`` over HTTP. The server embeds; a request at a time, since it embeds one batch at a time anyway.

    Every method raises ``StoreUnavailable`` when the server cannot be reached or cannot do it now,
    ``ConfigurationError`` when it wants another key, ``InvalidInput`` when it refuses what was sent.
    """

    def __init__(self, client: httpx.AsyncClient, collection: str | None) -> None:
        self._client = client
        self._collection = collection

    async def describe(self) -> tuple[str, dict[str, str]]:
        """The server's embedding model and the stored documents' hashes."""
        stored = await self._ask("GET", params={"collection": self._collection} if self._collection else {})
        return stored["model"], stored["documents"]

    async def owners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """The documents that hold these chunk ids."""
        held: dict[str, str] = {}
        for at in range(0, len(chunk_ids), OWNERS_TOGETHER):
            answer = await self._post(owners=list(chunk_ids[at : at + OWNERS_TOGETHER]))
            held |= answer.get("owners", {})
        return held

    async def write(self, parts: Sequence[Part]) -> None:
        """Send the parts; when it returns they are stored."""
        for group in _that_fit(parts):
            await self._post(parts=group)

    async def settle(self) -> None:
        """Nothing is left to do: ``write`` returns when its parts are stored."""

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Delete every chunk of these documents."""
        await self._post(remove=list(document_ids))

    async def finish(self) -> None:
        """Return when all is on the server's disk and its indexes are built."""
        await self._post(finish=True)

    async def _post(self, **what: Any) -> Any:
        return await self._ask("POST", json={"collection": self._collection, **what})

    async def _ask(self, method: str, **request: Any) -> Any:
        import httpx

        try:
            response = await self._client.request(method, PATH, **request)
        except httpx.HTTPError as error:
            raise StoreUnavailable("The server that holds the collection did not answer.") from error
        if response.is_success:
            return response.json()
        message = _message(response)
        if response.status_code == httpx.codes.UNAUTHORIZED:
            raise ConfigurationError("The server that holds the collection wants one of its API_KEYS.")
        if response.is_client_error:
            raise InvalidInput(f"The server that holds the collection refused: {message}", field="paths")
        raise StoreUnavailable(f"The server that holds the collection failed: {message}")


def _that_fit(parts: Sequence[Part]) -> Iterator[list[dict[str, Any]]]:
    """The parts as JSON values, as many together as one request holds."""
    held: list[dict[str, Any]] = []
    size = 0
    for part in parts:
        length = len(part.model_dump_json().encode())
        if held and size + length > MAX_REQUEST_BYTES:
            yield held
            held, size = [], 0
        held.append(part.model_dump(mode="json"))
        size += length
    if held:
        yield held


def _message(response: httpx.Response) -> str:
    """What our own error body says; nothing of another one."""
    try:
        said = response.json()["message"]
    except (ValueError, KeyError, TypeError):
        said = None
    return said if isinstance(said, str) else f"status {response.status_code}"

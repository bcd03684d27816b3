"""Uploads that meet: of one name at once, below each other, left behind, and with a name that is no text."""

from __future__ import annotations

import asyncio

import httpx

from tests.support.calling import BYTES


async def send(client: httpx.AsyncClient, name: str, text: str, *, replace: bool = True) -> httpx.Response:
    """Upload *text* under *name*."""
    params = {"name": name, "replace": str(replace).lower()}
    return await client.post("/api/v1/documents", params=params, content=text.encode(), headers=BYTES)


async def ids(client: httpx.AsyncClient) -> list[str]:
    """The ids of the stored documents."""
    return [row["id"] for row in (await client.get("/api/v1/documents")).json()["documents"]]


async def test_uploads_of_one_name_at_once_are_all_kept(client: httpx.AsyncClient) -> None:
    """With `replace=false` each of them gets a name of its own, however close they come."""
    texts = [f"# Ferry {number}\n\nFerry {number} leaves from quay {number}.\n" for number in range(4)]
    sent = await asyncio.gather(*(send(client, "ferry.md", text, replace=False) for text in texts))
    assert [response.status_code for response in sent] == [200] * 4
    assert await ids(client) == ["ferry-2.md", "ferry-3.md", "ferry-4.md", "ferry.md"]
    stored = [(await client.get(f"/api/v1/documents/{id_}")).text for id_ in await ids(client)]
    assert all(any(f"quay {number}" in text for text in stored) for number in range(4))

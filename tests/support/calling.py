"""Callers of a service in this process, and what they upload."""

from __future__ import annotations

import httpx

from app.api.server import create_app
from app.bootstrap.compose import AppContainer

BYTES = {"Content-Type": "application/octet-stream"}
NOTES = b"# Notes\n\nThe lighthouse of Larkfield stands on the northern pier.\n"


def caller(container: AppContainer, host: str = "127.0.0.1", base: str = "http://127.0.0.1:8000") -> httpx.AsyncClient:
    """A client that the service sees as coming from *host*, asking for *base*."""
    transport = httpx.ASGITransport(create_app(container), client=(host, 50000))
    return httpx.AsyncClient(transport=transport, base_url=base)


async def upload(
    client: httpx.AsyncClient, name: str = "notes.md", content: bytes = NOTES, **kind: str
) -> httpx.Response:
    """Upload one document."""
    return await client.post("/api/v1/documents", params={"name": name}, content=content, headers=kind or BYTES)

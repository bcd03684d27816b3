"""Uploads that meet: of one name at once, below each other, left behind, and with a name that is no text."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote

import httpx
import pytest
from starlette.testclient import TestClient

from app.api.server import create_app
from app.api.upload_folder import PREFIX, upload_folder
from app.bootstrap.compose import AppContainer
from app.ingest.manifest import uploads_of
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


@pytest.mark.parametrize(("first", "second"), [("isle.md/quay.md", "isle.md"), ("isle.md", "isle.md/quay.md")])
async def test_no_upload_is_a_folder_and_a_file(
    client: httpx.AsyncClient, container: AppContainer, first: str, second: str
) -> None:
    """Such a name is 400 until the other document is deleted; no file of a deleted document is left."""
    assert (await send(client, first, "# Isle\n\nThe isle has two quays.\n")).status_code == 200
    refused = await send(client, second, "# Isle\n\nThe isle has a crane.\n")
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "name")
    for name in (first, second):
        await client.delete(f"/api/v1/documents/{quote(name, safe='')}")
        assert list(uploads_of(container.collections.default.folder).iterdir()) == []
        assert (await send(client, second, "# Isle\n\nThe isle has a crane.\n")).status_code == 200


def test_what_a_killed_upload_left_is_deleted_at_start(container: AppContainer) -> None:
    """A service that starts deletes the folders that no running process uses, and those alone."""
    left = Path(mkdtemp(prefix=PREFIX))
    (left / "ferry.md").write_text("The ferry leaves at noon.")
    with upload_folder() as used, TestClient(create_app(container)):
        assert used.is_dir()
        assert not left.exists()
    assert not used.exists()

"""``garden ingest --watch`` keeps a collection in step with a folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import IngestReport
from app.ingest.manifest import synced_paths
from app.ingest.watch import Watcher
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.stores.embedded import EmbeddedStore

SECONDS = 60.0
"""Longest wait for a change to be ingested: it takes about two."""


async def reached(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(SECONDS):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.05)


class Watched:
    """A folder that is being watched, with the reports so far."""

    def __init__(self, store: EmbeddedStore, folder: Path, reports: list[IngestReport]) -> None:
        self.store, self.folder, self.reports = store, folder, reports

    async def until(self, *documents: str) -> None:
        """Wait until exactly these documents are stored."""

        async def stored() -> bool:
            return sorted(await self.store.adocuments()) == sorted(documents)

        await reached(stored)


@asynccontextmanager
async def watched(store: EmbeddedStore, embeddings: MiniLMEmbeddings, folder: Path) -> AsyncIterator[Watched]:
    reports: list[IngestReport] = []
    stop = asyncio.Event()
    writer = CollectionWriter(store, embeddings, "all-MiniLM-L6-v2")
    watcher = Watcher(writer, folder.parent / "data" / "documents", [folder], reports.append)
    task = asyncio.create_task(watcher.run(stop))
    try:
        yield Watched(store, folder, reports)
        assert not task.done()
    finally:
        stop.set()
        await task


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (made := tmp_path / "docs").mkdir()
    (made / "pier.md").write_text("The pier is made of oak.")
    return made


async def test_changes_are_ingested_and_what_is_gone_is_removed(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings, folder: Path
) -> None:
    """New files, changed ones, a folder moved in and out: each is found within seconds; a broken file stops nothing."""
    async with watched(store, embeddings, folder) as here:
        await here.until("pier.md")
        (folder / "weir.md").write_text("The weir is made of stone.")
        await here.until("pier.md", "weir.md")
        (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
        (outside := folder.parent / "mill").mkdir()
        (outside / "mill.txt").write_text("The mill grinds oats.")
        outside.rename(folder / "mill")
        await here.until("pier.md", "weir.md", "mill/mill.txt")
        before = (await store.adocuments())["pier.md"]
        (folder / "pier.md").write_text("The pier is made of iron.")

        async def changed() -> bool:
            return (await store.adocuments())["pier.md"] != before

        await reached(changed)
        (folder / "weir.md").unlink()
        (folder / "mill").rename(outside)
        await here.until("pier.md")
    assert [file.path for report in here.reports for file in report.skipped] == ["broken.pdf"]


async def test_a_restart_catches_up(store: EmbeddedStore, embeddings: MiniLMEmbeddings, folder: Path) -> None:
    """What was added, changed or removed while it did not run is in step after a start; the manifest tells of it."""
    async with watched(store, embeddings, folder) as here:
        await here.until("pier.md")
    assert not any(path.watched for path in synced_paths(folder.parent / "data" / "documents"))
    (folder / "pier.md").unlink()
    (folder / "weir.md").write_text("The weir is made of stone.")
    async with watched(store, embeddings, folder) as here:
        await here.until("weir.md")

        async def noted() -> bool:
            return [(path.path, path.watched) for path in synced_paths(folder.parent / "data" / "documents")] == [
                (str(folder), True)
            ]

        await reached(noted)


async def test_an_empty_folder_removes_nothing(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings, folder: Path
) -> None:
    """A start with a folder that is empty, as one is whose drive is not mounted, keeps its documents and says so."""
    async with watched(store, embeddings, folder) as here:
        await here.until("pier.md")
    (folder / "pier.md").rename(folder.parent / "pier.md")
    async with watched(store, embeddings, folder) as here:

        async def reported() -> bool:
            return bool(here.reports)

        await reached(reported)
        await here.until("pier.md")
    assert "its documents are kept" in here.reports[0].note

"""Ingest paths: files → documents → chunks → vectors → collection, streaming in bounded memory."""

import asyncio
from collections.abc import AsyncIterable, Iterable
from pathlib import Path

from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import IngestReport
from app.ingest.find import find_files
from app.ingest.manifest import IngestManifest
from app.ingest.run import IngestRun, Item, OnProgress
from app.ingest.streams import each


async def ingest_into(
    writer: CollectionWriter,
    paths: Iterable[Path],
    *,
    manifest: IngestManifest | None = None,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Store the documents of ``paths``; files and folders may be mixed.

    An unchanged document is left alone, a changed one replaces its chunks. ``manifest`` records what the paths hold; if
    it says to prune, documents that are gone from there are removed. Raises ``InvalidInput`` for a missing path,
    ``EmbeddingUnavailable``, ``StoreUnavailable`` and ``ConfigurationError``; what was stored before stays.
    """
    files: list[Item] = await asyncio.to_thread(lambda: [(root, file) for root in paths for file in find_files(root)])
    return await ingest_items(writer, files, len(files), manifest=manifest, on_progress=on_progress)


async def ingest_items(
    writer: CollectionWriter,
    items: Iterable[Item] | AsyncIterable[Item],
    total: int,
    *,
    manifest: IngestManifest | None = None,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Do what ``ingest_into`` does for *total* files or documents that are found one by one."""
    found = items if isinstance(items, AsyncIterable) else each(items)
    return await IngestRun(writer, total, manifest, on_progress).run(found)

"""Ingest paths: files → documents → chunks → vectors → collection, streaming in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from app.ingest.documents import IngestReport, SkippedFile, SplitDocument
from app.ingest.find import FoundFile, find_files
from app.ingest.manifest import IngestManifest
from app.ingest.reading import Reader
from app.ingest.run import IngestRun, OnProgress
from app.ingest.sink import Sink

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from app.providers.stores.chunk_store import ChunkStore


Found = tuple[Path | str, FoundFile | SkippedFile]
"""A root (a path, or a web address) and a file found below it."""


async def ingest(
    paths: Iterable[Path],
    *,
    store: ChunkStore,
    embeddings: Embeddings,
    model_name: str,
    manifest: IngestManifest | None = None,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Store the documents of ``paths``; files and folders may be mixed.

    A document that is stored as it is now is left alone, a changed one replaces its chunks. What the paths bring is
    noted in ``manifest``; if that says to prune, documents that an earlier run brought from these paths, and that are
    there no more, are removed.

    Raises ``InvalidInput`` for a path that does not exist, ``EmbeddingUnavailable``, ``StoreUnavailable`` and
    ``ConfigurationError`` (vectors of another size). What was stored before an error stays.
    """
    return await ingest_into(Sink(store, embeddings, model_name), paths, manifest=manifest, on_progress=on_progress)


async def ingest_into(
    sink: Sink, paths: Iterable[Path], *, manifest: IngestManifest | None = None, on_progress: OnProgress | None = None
) -> IngestReport:
    """Do what ``ingest`` does, into a sink."""
    files = await asyncio.to_thread(lambda: [(root, file) for root in paths for file in find_files([root])])

    async def found() -> AsyncIterator[Found]:
        for one in files:
            yield one

    return await ingest_found(sink, found(), len(files), manifest=manifest, on_progress=on_progress)


async def ingest_found(
    sink: Sink,
    found: AsyncIterator[Found],
    total: int,
    *,
    manifest: IngestManifest | None = None,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Do what ``ingest`` does for *total* files that are found one by one."""
    run = IngestRun(sink, files=total, manifest=manifest, on_progress=on_progress)

    async def items(reader: Reader) -> AsyncIterator[SplitDocument | SkippedFile]:
        async for root, file in found:
            if isinstance(file, FoundFile):
                async for item in reader.read(file):
                    if isinstance(item, SplitDocument):
                        if manifest:
                            manifest.brings(item.document_id, root)
                        item = item.model_copy(update={"url": file.url}) if file.url else item
                    yield item
            else:
                yield file
            run.files_read += 1

    async with Reader() as reader:
        return await run.run(items(reader))


def check_paths(paths: Iterable[Path]) -> None:
    """Raise ``InvalidInput`` for a path that does not exist."""
    next(find_files(paths), None)


async def ingest_documents(
    sink: Sink,
    documents: Iterable[SplitDocument],
    *,
    manifest: IngestManifest | None = None,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Do what ``ingest`` does for documents that are split; the caller has filled ``manifest``."""

    async def items() -> AsyncIterator[SplitDocument]:
        for document in documents:
            yield document

    return await IngestRun(sink, manifest=manifest, on_progress=on_progress).run(items())

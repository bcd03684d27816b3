"""The whole of ingest: paths → files → documents → chunks → vectors → collection, streaming in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
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

    from app.providers.stores.hybrid import ChunkStore

_Item = SplitDocument | SkippedFile


async def ingest(
    paths: Iterable[Path],
    *,
    store: ChunkStore,
    embeddings: Embeddings,
    model_name: str,
    planted: IngestManifest | None = None,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Bring what ``paths`` hold into ``store``; files and folders may be mixed.

    A document that is stored as it is now is left alone, a changed one replaces its chunks. What the paths bring is
    noted in ``planted``; if that says to prune, documents that an earlier run brought from these paths, and that are
    there no more, are removed.

    Raises ``InvalidInput`` for a path that does not exist, ``EmbeddingUnavailable``, ``StoreUnavailable`` and
    ``ConfigurationError`` (vectors of another size). What was stored before an error stays.
    """
    return await ingest_into(Sink(store, embeddings, model_name), paths, planted=planted, on_progress=on_progress)


async def ingest_into(
    sink: Sink, paths: Iterable[Path], *, planted: IngestManifest | None = None, on_progress: OnProgress | None = None
) -> IngestReport:
    """``ingest``, into any sink."""
    files = await asyncio.to_thread(find_by_root, paths)
    run = IngestRun(sink, files=len(files), planted=planted, on_progress=on_progress)
    with Reader() as reader:
        return await run.all(_read(reader, files, run))


def check_paths(paths: Iterable[Path]) -> None:
    """Raise ``InvalidInput`` for a path that does not exist."""
    next(find_files(paths), None)


def find_by_root(paths: Iterable[Path]) -> list[tuple[Path, FoundFile | SkippedFile]]:
    """The files below each of ``paths``, with that path. Raises ``InvalidInput`` for one that does not exist."""
    return [(root, file) for root in paths for file in find_files([root])]


async def ingest_documents(
    sink: Sink,
    documents: Iterable[_Item],
    *,
    planted: IngestManifest | None = None,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """``ingest`` for documents that are split already; ``planted`` was told what each path brings."""
    return await IngestRun(sink, planted=planted, on_progress=on_progress).all(iter(documents))


def _read(reader: Reader, files: Iterable[tuple[Path, FoundFile | SkippedFile]], run: IngestRun) -> Iterator[_Item]:
    for root, file in files:
        for item in [file] if isinstance(file, SkippedFile) else reader.read(file):
            run.brought(item, root)
            yield item
        run.files_read += 1

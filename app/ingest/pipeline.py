"""The whole of ingest: paths → files → documents → chunks → vectors → collection, streaming in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.ingest.documents import IngestReport, SkippedFile, SplitDocument
from app.ingest.find import FoundFile, find_files
from app.ingest.reading import Reader
from app.ingest.run import IngestRun, OnProgress
from app.ingest.sink import LocalSink, Sink

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from app.providers.layout import ChunkStore

_Item = SplitDocument | SkippedFile


async def ingest(
    paths: Iterable[Path],
    *,
    store: ChunkStore,
    embeddings: Embeddings,
    model_name: str,
    prune: bool = False,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Bring what ``paths`` hold into ``store``; files and folders may be mixed.

    A document that is stored as it is now is left alone, a changed one replaces its chunks. With ``prune`` the
    collection afterwards holds these paths and nothing else, but for documents that could not be read this time.

    Raises ``InvalidInput`` for a path that does not exist, ``EmbeddingUnavailable``, ``StoreUnavailable`` and
    ``ConfigurationError`` (vectors of another size). What was stored before an error stays.
    """
    return await ingest_into(LocalSink(store, embeddings, model_name), paths, prune=prune, on_progress=on_progress)


async def ingest_into(
    sink: Sink, paths: Iterable[Path], *, prune: bool = False, on_progress: OnProgress | None = None
) -> IngestReport:
    """``ingest``, into any sink."""
    files = await asyncio.to_thread(lambda: list(find_files(paths)))
    run = IngestRun(sink, files=len(files), on_progress=on_progress)
    with Reader() as reader:
        return await run.all(_read(reader, files, run), prune)


async def ingest_documents(
    sink: Sink, documents: Iterable[_Item], *, prune: bool = False, on_progress: OnProgress | None = None
) -> IngestReport:
    """``ingest`` for documents that are split already."""
    return await IngestRun(sink, on_progress=on_progress).all(iter(documents), prune)


def _read(reader: Reader, files: Iterable[FoundFile | SkippedFile], run: IngestRun) -> Iterator[_Item]:
    for file in files:
        yield from [file] if isinstance(file, SkippedFile) else reader.read(file)
        run.files_read += 1

"""One ingest on its way: which documents are new, changed, the same or gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from app.ingest.documents import IngestReport, Part, SkippedFile, SplitDocument
from app.ingest.identify import content_hash
from app.ingest.manifest import IngestManifest
from app.ingest.parts import BATCH_CHUNKS, batches, parts_of
from app.ingest.read_ahead import read_ahead
from app.ingest.sink import Sink, taken

KEPT = "what was stored of it before is kept and still found"
REMOVE_TOGETHER = 200
"""Documents deleted in one call."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is: files read of all found, documents met, chunks written."""

    files_read: int
    files: int
    documents: int
    chunks: int


OnProgress = Callable[[Progress], None]


class _Waiting(NamedTuple):
    document: SplitDocument
    content_hash: str
    kind: str


@dataclass(slots=True)
class IngestRun:
    """Compares what is read with what the collection holds, and writes the difference. Good for one ``all``."""

    sink: Sink
    files: int = 0
    planted: IngestManifest | None = None
    on_progress: OnProgress | None = None
    files_read: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"added": 0, "changed": 0, "unchanged": 0, "chunks": 0})
    skipped: list[SkippedFile] = field(default_factory=list)
    _model_name: str = ""
    _stored: dict[str, str] = field(default_factory=dict)
    _met: dict[str, str] = field(default_factory=dict)
    _chunk_ids: set[int] = field(default_factory=set)

    def brought(self, item: SplitDocument | SkippedFile, path: Path) -> None:
        """Say under which of the run's paths an item was found, before it is yielded."""
        if self.planted and isinstance(item, SplitDocument):
            self.planted.brings(item.document_id, path)

    async def all(self, items: Iterator[SplitDocument | SkippedFile]) -> IngestReport:
        """Put every item in its place and report."""
        started = time.monotonic()
        self._model_name, self._stored = await self.sink.describe()
        try:
            await self._write(items)
        finally:
            await self.sink.settle()  # also when it is given up: whoever closes the store finds nothing under way
        removed, note = await self._prune(self.planted) if self.planted and self.planted.prune else ([], "")
        if self.counts["chunks"] or removed:
            await self.sink.finish()
        if self.planted:
            await asyncio.to_thread(self.planted.note, self._met, removed)
        self._tell()
        seconds = time.monotonic() - started
        told = self._told()
        return IngestReport(**self.counts, removed=len(removed), skipped=told, seconds=seconds, note=note)

    async def _write(self, items: Iterator[SplitDocument | SkippedFile]) -> None:
        async with (
            aclosing(read_ahead(items)) as ahead,
            aclosing(self._parts(ahead)) as parts,
            aclosing(batches(parts)) as full,
        ):
            async for batch in full:
                await self.sink.write(batch)
                self.counts["chunks"] += sum(len(part.chunks) for part in batch)
                self._tell()

    async def _parts(self, items: AsyncIterator[SplitDocument | SkippedFile]) -> AsyncGenerator[Part]:
        """The parts of what is new or changed; the store is asked about a batch of documents at a time."""
        waiting: list[_Waiting] = []
        async for item in items:
            if isinstance(item, SkippedFile):
                self.skipped.append(item)
            elif refused := self._refused(item):
                self.skipped.append(SkippedFile(path=item.source, reason=refused))
            else:
                known = self._stored.get(item.document_id)
                current = content_hash(item, self._model_name)
                kind = "added" if known is None else "unchanged" if known == current else "changed"
                self._met[item.document_id] = current
                if kind == "unchanged":
                    self.counts[kind] += 1
                else:
                    waiting.append(_Waiting(item, current, kind))
            if sum(len(one.document.chunks) for one in waiting) >= BATCH_CHUNKS:
                for part in await self._free(waiting):
                    yield part
                waiting = []
            self._tell()
        for part in await self._free(waiting):
            yield part
        self._tell()

    async def _free(self, waiting: Sequence[_Waiting]) -> Iterator[Part]:
        """The parts of those whose chunk ids no other document of the collection has; the others are refused."""
        ids = [chunk.chunk_id for one in waiting for chunk in one.document.chunks]
        owners = await self.sink.owners(ids) if ids and self._stored else {}
        free: list[_Waiting] = []
        for one in waiting:
            if refused := taken(one.document.document_id, one.document.chunks, owners):
                del self._met[one.document.document_id]
                self.skipped.append(SkippedFile(path=one.document.source, reason=refused))
            else:
                self.counts[one.kind] += 1
                free.append(one)
        return chain.from_iterable(parts_of(one.document, one.content_hash) for one in free)

    def _told(self) -> tuple[SkippedFile, ...]:
        """What was skipped, and in words where an earlier version of it is stored, stays and can be found."""
        return tuple(
            one.model_copy(update={"reason": f"{one.reason}; {KEPT}"})
            if one.path in self._stored and one.path not in self._met
            else one
            for one in self.skipped
        )

    def _refused(self, document: SplitDocument) -> str | None:
        """Why a document cannot be stored, if so: ids are taken by what came before it in this run."""
        if not document.chunks:
            return "no text in it"
        if document.document_id in self._met:
            return f"its document id {document.document_id} is taken by another document; the first one is kept"
        given = [chunk.chunk_id for chunk in document.chunks if _numbered(chunk.chunk_id) != document.document_id]
        known = any(hash(chunk.chunk_id) in self._chunk_ids for chunk in document.chunks)
        if known or any(_numbered(chunk_id) in self._met for chunk_id in given):
            return f"a chunk id of document {document.document_id} is taken by another document; the first one is kept"
        self._chunk_ids.update(map(hash, given))
        return None

    async def _prune(self, planted: IngestManifest) -> tuple[list[str], str]:
        """Remove what these paths brought before and was not met, as long as it is stored as they brought it.

        What could not be read is kept, and all is kept if that cannot be told. Returns what went, and a note.
        """
        unknown = next((skipped.path for skipped in self.skipped if skipped.rows_lost), None)
        if unknown is not None:
            return [], f"Nothing was removed: {unknown} could not be read whole, so what is gone is not certain."
        kept = self._met.keys() | {skipped.path for skipped in self.skipped}
        earlier = await asyncio.to_thread(planted.earlier)
        gone = sorted(one for one, its in earlier.items() if one not in kept and self._stored.get(one) == its)
        for at in range(0, len(gone), REMOVE_TOGETHER):
            await self.sink.remove(gone[at : at + REMOVE_TOGETHER])
        others = len(self._stored.keys() - kept - set(gone))
        return gone, f"Kept, since they are not known to come from these paths: {others}." if others else ""

    def _tell(self) -> None:
        if self.on_progress:
            documents = self.counts["added"] + self.counts["changed"] + self.counts["unchanged"]
            self.on_progress(Progress(self.files_read, self.files, documents, self.counts["chunks"]))


def _numbered(chunk_id: str) -> str | None:
    """The document that a chunk id of our own making (``document_id#n``) belongs to."""
    document_id, mark, number = chunk_id.rpartition("#")
    return document_id if mark and number.isdecimal() else None

"""Ingest paths: files → documents → chunks → vectors → collection, streaming in bounded memory.

The documents that are read are compared with what is stored, and the difference is written.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.ingest.collection_writer import BATCH_CHUNKS, CollectionWriter
from app.ingest.documents import FileNote, IngestReport, Progress, SkippedFile, SplitDocument
from app.ingest.find import FoundFile, find_file, find_files
from app.ingest.loaders.outline import first_of
from app.ingest.manifest import IngestManifest
from app.ingest.reading import FileReaderProcess, ahead

SHOWN = 3
"""Most ids named in a note."""
SAME_ID = "An id is the path below the folder that is ingested: to keep both, ingest a folder that holds both."
RESTORE = "garden ingest --restore brings it back"
KEPT = "what was stored of it before is kept and still found"

Item = tuple[Path | str, FoundFile | SkippedFile | SplitDocument]
"""A root (a path, or a web address), and a file or a document found below it."""


OnProgress = Callable[[Progress], None]


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
    return await _IngestRun(writer, total, manifest, on_progress).run(items)


@dataclass(slots=True)
class _IngestRun:
    """Stores what is new or changed. Good for one ``run``."""

    writer: CollectionWriter
    files: int
    manifest: IngestManifest | None
    on_progress: OnProgress | None
    _files_read: int = 0
    _chunks_found: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _skipped: list[SkippedFile] = field(default_factory=list)
    _notes: list[FileNote] = field(default_factory=list)
    _stored: dict[str, str] = field(default_factory=dict)
    _met: dict[str, str] = field(default_factory=dict)
    _chunk_ids: set[str] = field(default_factory=set)
    _elsewhere: dict[str, str] = field(default_factory=dict)  # of other paths: document id -> path
    _deleted: dict[str, str] = field(default_factory=dict)  # by hand: document id -> day

    async def run(self, items: Iterable[Item] | AsyncIterable[Item]) -> IngestReport:
        """Store every document of *items*, prune if the manifest says so, and report."""
        started = time.monotonic()
        if self.manifest:
            await asyncio.to_thread(self.manifest.begin)
        self._stored = await self.writer.store.adocuments()
        if self.manifest:
            self._elsewhere = await asyncio.to_thread(self.manifest.elsewhere, self._stored)
            self._deleted = await asyncio.to_thread(self.manifest.deleted)
        async with FileReaderProcess() as reader:
            await self._write_all(ahead(self._read(reader, items)))
        removed, note = await self._prune(self.manifest) if self.manifest and self.manifest.prune else ([], "")
        if self._counts["chunks"] or removed:
            await self.writer.store.aoptimize()
        if self.manifest:
            await asyncio.to_thread(self.manifest.note, self._met, removed)
        self._report_progress()
        report = IngestReport(
            removed=len(removed),
            skipped=tuple(map(self._explained, self._skipped)),
            notes=tuple(self._notes),
            seconds=time.monotonic() - started,
            note=f"{note} {await asyncio.to_thread(self._replaced_note)}".strip(),
        )
        return report.model_copy(update=self._counts)

    async def _read(
        self, reader: FileReaderProcess, items: Iterable[Item] | AsyncIterable[Item]
    ) -> AsyncIterator[SplitDocument | SkippedFile]:
        async for root, file in items if isinstance(items, AsyncIterable) else _each(items):
            async for item in reader.read(file) if isinstance(file, FoundFile) else _each([file]):
                if self.manifest and isinstance(item, SplitDocument):
                    self.manifest.brings(item.document_id, root)
                yield item
            self._files_read += 1

    async def _write_all(self, items: AsyncIterator[SplitDocument | SkippedFile]) -> None:
        waiting: list[SplitDocument] = []
        async for item in items:
            if isinstance(item, SkippedFile):
                self._skipped.append(item)
            elif refused := self._refused(item):
                self._skipped.append(SkippedFile(path=item.source, reason=refused))
            else:
                self._notes += [FileNote(path=item.source, note=note) for note in item.notes]
                current = self._met[item.document_id] = self.writer.content_hash(item)
                if self._stored.get(item.document_id) == current:
                    self._counts["unchanged"] += 1
                else:
                    waiting.append(item)
                    self._chunks_found += len(item.chunks)
            if sum(len(document.chunks) for document in waiting) >= BATCH_CHUNKS:
                await self._write(waiting)
                waiting = []
            self._report_progress()
        await self._write(waiting)

    async def _write(self, documents: Sequence[SplitDocument]) -> None:
        """Store *documents*, except those of which a chunk id belongs to another stored document."""
        ids = [chunk.chunk_id for document in documents for chunk in document.chunks]
        owners = await self.writer.store.aowners(ids) if ids and self._stored else {}
        chosen = []
        for document in documents:
            document_id = document.document_id
            others = (owners.get(chunk.chunk_id, document_id) for chunk in document.chunks)
            other = next((owner for owner in others if owner != document_id), None)
            if other is None:
                self._counts["changed" if document_id in self._stored else "added"] += 1
                chosen.append(document)
            else:
                del self._met[document_id]
                owner = f"document {other}" if other else "a stored chunk of no document"
                reason = f"a chunk id of document {document_id} is taken by {owner}, which is kept"
                self._skipped.append(SkippedFile(path=document.source, reason=reason))
        await self.writer.write(chosen, self._written)

    def _written(self, chunks: int) -> None:
        self._counts["chunks"] += chunks
        self._report_progress()

    def _refused(self, document: SplitDocument) -> str | None:
        """Return why a document cannot be stored: no text, or ids already used in this run."""
        document_id = document.document_id
        if not document.chunks:
            return "no text in it"
        if document_id in self._deleted:
            self._counts["deleted"] += 1
            return f"deleted by hand on {self._deleted[document_id]}; {RESTORE}"
        if document_id in self._met:
            return f"its document id {document_id} is taken by another document; the first one is kept"
        ids = {chunk.chunk_id for chunk in document.chunks}
        if ids & self._chunk_ids:
            return f"a chunk id of document {document_id} is taken by another document; the first one is kept"
        self._chunk_ids |= ids
        return None

    def _replaced_note(self) -> str:
        """Say which documents took the place of others of the same id, read from elsewhere; "" for none."""
        written = [id_ for id_, hash_ in self._met.items() if id_ in self._elsewhere and self._stored[id_] != hash_]
        replaced = [id_ for id_ in written if find_file(Path(self._elsewhere[id_]), id_)]
        if not replaced:
            return ""
        some = first_of([f"{id_} (from {self._elsewhere[id_]})" for id_ in replaced], SHOWN)
        return f"Replaced, since the new document has the same id: {', '.join(some)}. {SAME_ID}"

    def _explained(self, skipped: SkippedFile) -> SkippedFile:
        """Say so where an earlier version of a skipped file is stored."""
        if skipped.path in self._stored and skipped.path not in self._met:
            return skipped.model_copy(update={"reason": f"{skipped.reason}; {KEPT}"})
        return skipped

    async def _prune(self, manifest: IngestManifest) -> tuple[list[str], str]:
        """Remove documents that these paths no longer hold, if stored as they brought them.

        Nothing is removed if a file of several documents was not fully read. Returns the removed ids and a note.
        """
        unknown = next((skipped.path for skipped in self._skipped if skipped.rows_lost), None)
        if unknown is not None:
            return [], f"Nothing was removed: {unknown} could not be read whole, so what is gone is not certain."
        present = self._met.keys() | {skipped.path for skipped in self._skipped}
        earlier = await asyncio.to_thread(manifest.earlier)
        gone = sorted(id_ for id_, hash_ in earlier.items() if id_ not in present and self._stored.get(id_) == hash_)
        if gone:
            await self.writer.store.adelete_documents(gone)
        others = len(self._stored.keys() - present - set(gone))
        return gone, f"Kept, since they are not known to come from these paths: {others}." if others else ""

    def _report_progress(self) -> None:
        if self.on_progress:
            documents = self._counts["added"] + self._counts["changed"] + self._counts["unchanged"]
            chunks = self._counts["chunks"], self._chunks_found
            self.on_progress(Progress(self._files_read, self.files, documents, *chunks))


async def _each(items: Iterable[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item

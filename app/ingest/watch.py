"""Keep a collection in step with folders: what changes in them is ingested, what is gone from them is removed."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from watchfiles import Change, awatch

from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import IngestReport
from app.ingest.find import FoundFile, find_file, find_files, source_name
from app.ingest.loaders.table import ROWS
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import Item, ingest_into, ingest_items
from graph.errors import RAGError

QUIET_MS, LONGEST_MS = 300, 2_000
"""Milliseconds without a change that end a batch of changes, and the longest batch."""
TICK_MS = 1_000
"""Milliseconds after which a watch without changes looks whether there is something else to do."""
ALIVE_SECONDS = 20.0
"""Seconds after which the manifest is told that the paths are still watched, and a failed sync is tried again."""
EMPTY = "The folder is empty or gone, a drive that is not mounted perhaps: its documents are kept."
log = logging.getLogger("garden.ingest")

OnReport = Callable[[IngestReport], None]


class Watcher:
    """Watches *paths* for one collection, whose folder in the data directory is *collection*.

    Starts with a whole sync, so that a restart catches up. A file that cannot be read is named in a report, and stops
    nothing; a store or a model that fails makes the next try a whole sync again.
    """

    def __init__(self, writer: CollectionWriter, collection: Path, paths: Sequence[Path], on_report: OnReport) -> None:
        self._writer = writer
        self._collection = collection
        self._paths = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 - links unresolved
        self._on_report = on_report
        self._behind = True
        self._told = -ALIVE_SECONDS  # when the manifest was last written, in seconds of time.monotonic

    async def run(self, stop: asyncio.Event) -> None:
        """Sync until *stop* is set. Raises ``InvalidInput`` for a path that is not there at the start."""
        for path in self._paths:
            next(iter(find_files(path)), None)  # which raises for a path that is not there
        folders = {path if path.is_dir() else path.parent for path in self._paths}
        changes = awatch(
            *folders,
            watch_filter=self._is_watched,
            debounce=LONGEST_MS,
            step=QUIET_MS,
            stop_event=stop,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        async for batch in changes:  # the first one too comes after the watch began, so that no change is missed
            if not (batch or self._told + ALIVE_SECONDS < time.monotonic()):
                continue
            try:
                await self._sync(sorted({Path(path) for _, path in batch}))
            except RAGError as error:
                self._behind = True
                log.warning("watch_not_synced", extra={"reason": error.message})
            self._told = time.monotonic()
        await asyncio.to_thread(IngestManifest(self._collection, self._paths).unwatched)

    async def _sync(self, changed: Sequence[Path]) -> None:
        """Bring the collection up to date with the *changed* paths, or with all after a failure."""
        rows = any(path.suffix.lower() in ROWS for path in changed)  # which of their documents changed is not known
        whole = self._behind or rows
        report = await (self._sync_all() if whole else self._sync_some(changed))
        self._behind = False
        await asyncio.to_thread(IngestManifest(self._collection, self._paths).synced, watched=True)
        if report.added or report.changed or report.removed or report.skipped or report.note:
            self._on_report(report)

    async def _sync_all(self) -> IngestReport:
        manifest = IngestManifest(self._collection, self._paths, prune=True)
        empty = [path for path in self._paths if not await asyncio.to_thread(_holds_anything, path)]
        manifest.prune = not empty or not await asyncio.to_thread(manifest.earlier)
        report = await ingest_into(self._writer, [path for path in self._paths if path.exists()], manifest=manifest)
        return report if manifest.prune else report.model_copy(update={"note": f"{report.note} {EMPTY}".strip()})

    async def _sync_some(self, changed: Sequence[Path]) -> IngestReport:
        items = await asyncio.to_thread(lambda: [item for path in changed for item in self._items(path)])
        manifest = IngestManifest(self._collection, self._paths)
        report = await ingest_items(self._writer, items, len(items), manifest=manifest) if items else IngestReport()
        gone = [path for path in changed if not path.exists() and self._root_of(path).exists()]
        removed = await self._remove(manifest, gone) if gone else 0
        return report.model_copy(update={"removed": removed})

    async def _remove(self, manifest: IngestManifest, gone: Sequence[Path]) -> int:
        """Remove the documents of files and folders that are *gone*, if stored as these paths brought them."""
        names = {source_name(path.relative_to(self._folder_of(path))) for path in gone}
        stored = await self._writer.store.adocuments()
        earlier = await asyncio.to_thread(manifest.earlier)
        removed = [
            id_
            for id_, hash_ in earlier.items()
            if stored.get(id_) == hash_ and any(id_ == name or id_.startswith(f"{name}/") for name in names)
        ]
        if removed:
            await self._writer.store.adelete_documents(removed)
            await asyncio.to_thread(manifest.note, {}, removed)
        return len(removed)

    def _items(self, path: Path) -> Iterator[Item]:
        """Yield the files to read of one changed path: itself, or all below a folder."""
        root, folder = self._root_of(path), self._folder_of(path)
        found = find_files(path) if path.is_dir() else [find_file(root, path.relative_to(folder).as_posix())]
        for entry in found:
            if isinstance(entry, FoundFile):
                yield root, FoundFile(entry.path, source_name(entry.path.relative_to(folder)))
            elif entry:
                yield root, entry

    def _is_watched(self, _change: Change, path: str) -> bool:
        """Tell whether a path is watched and not hidden."""
        return any(
            Path(path) == root or (Path(path).is_relative_to(root) and "/." not in f"/{Path(path).relative_to(root)}")
            for root in self._paths
        )

    def _root_of(self, path: Path) -> Path:
        return next(root for root in self._paths if path.is_relative_to(root))

    def _folder_of(self, path: Path) -> Path:
        """Return what names are relative to: the folder watched, or the one a watched file is in."""
        root = self._root_of(path)
        return root.parent if path == root and not path.is_dir() else root


def _holds_anything(path: Path) -> bool:
    return path.is_file() or (path.is_dir() and next(path.iterdir(), None) is not None)

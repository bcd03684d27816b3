"""``garden export``, ``garden import`` and ``garden push``: a collection into a file, out of one, to a server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.ingest.transfer.archive import Archive, Head, write_archive
from app.ingest.transfer.copy import check_model, copy
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.providers.http.retry import Retry
from app.providers.stores.make import make_store
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError, InvalidInput, RAGError

PATIENT = Retry(attempts=8, first_wait=0.5, longest_wait=15.0)
"""For writing to a server: a restart of it, which takes some ten seconds, ends no copy."""
PATIENT_SECONDS = 30.0
"""Time of one try of one request of a copy."""


def run_export(file: Path, *, collection: str | None, as_json: bool, embedding: EmbeddingModel | None = None) -> int:
    """Write a collection, wherever the settings have it, into *file*."""
    return _run("exported", _export(_Opened(_settings(collection), embedding), file), as_json)


def run_import(file: Path, *, collection: str | None, as_json: bool, embedding: EmbeddingModel | None = None) -> int:
    """Read *file* into a collection, wherever the settings have it."""
    return _run("imported", _import(_Opened(_settings(collection), embedding), file), as_json)


def run_push(to: str, *, collection: str | None, as_json: bool, embedding: EmbeddingModel | None = None) -> int:
    """Copy an embedded collection to the server that the settings name for *to*."""
    settings = _settings(collection)
    if settings.vector_store != "embedded":
        raise ConfigurationError("garden push copies an embedded collection: VECTOR_STORE=embedded")
    if to not in ("qdrant", "chroma"):
        raise InvalidInput(f"--to {to} is not allowed: qdrant or chroma", field="to")
    target = settings.model_copy(update={"vector_store": to})
    return _run("pushed", _push(_Opened(settings, embedding), target), as_json)


async def _export(opened: _Opened, file: Path) -> dict[str, Any]:
    async with opened as (store, embedding, name):
        if not await store.acount():
            raise ConfigurationError(f'The collection "{name}" is empty: there is nothing to export')
        dimension = 0
        async for points in store.apoints():
            await check_model(points, embedding)
            dimension = len(points[0].dense)
            break
        head = Head(collection=name, embedding_model=embedding.name, dimension=dimension)
        with _bar("exporting", await store.acount()) as told:
            try:
                written = await write_archive(file, head, store.apoints(), told)
            except OSError as error:
                raise InvalidInput(f"{file} cannot be written: {error.strerror}.", field="file") from error
        return {"file": str(file), **written.model_dump()}


async def _import(opened: _Opened, file: Path) -> dict[str, Any]:
    archive = await asyncio.to_thread(Archive, file)
    async with opened as (store, embedding, name):
        if archive.head.embedding_model != embedding.name:
            raise ConfigurationError(
                f"{file} holds vectors of {archive.head.embedding_model}, and EMBEDDING_MODEL is {embedding.name}: "
                "set EMBEDDING_MODEL to the first, or ingest the documents again"
            )
        with _bar("importing", archive.head.chunks) as told:
            keeps = opened.settings.vector_store != "chroma"
            done = await copy(archive, archive.documents, store, embedding, sentences=keeps, on_progress=told)
        return {"file": str(file), "collection": name, **_counts(done)}


async def _push(opened: _Opened, target: Settings) -> dict[str, Any]:
    async with opened as (store, embedding, name):
        remote = make_store(target, name, embedding, retry=PATIENT, seconds=PATIENT_SECONDS)
        try:
            with _bar("pushing", await store.acount()) as told:
                keeps = target.vector_store != "chroma"
                done = await copy(store, await store.adocuments(), remote, embedding, sentences=keeps, on_progress=told)
        finally:
            await remote.aclose()
        return {"to": target.vector_store, "collection": name, **_counts(done)}


class _Opened:
    """A collection as the settings have it, its embedding model and its name; closed again at the end."""

    def __init__(self, settings: Settings, embedding: EmbeddingModel | None = None) -> None:
        """An *embedding* that is given stays open."""
        self.settings = settings
        self._given = embedding
        self._closers: list[Callable[[], Any]] = []

    async def __aenter__(self) -> tuple[Any, EmbeddingModel, str]:
        embedding = self._given or make_embeddings(self.settings)
        if embedding is not self._given and (close := getattr(embedding.embeddings, "close", None)):
            self._closers.append(close)
        name = self.settings.vector_store_collection
        self._store = make_store(self.settings, name, embedding)
        return self._store, embedding, name

    async def __aexit__(self, *_: object) -> None:
        await self._store.aclose()
        for close in self._closers:
            close()


def _settings(collection: str | None) -> Settings:
    return load_settings(**({"vector_store_collection": collection} if collection else {}))


def _counts(done: Any) -> dict[str, int]:
    return {"documents": done.documents, "unchanged": done.unchanged, "chunks": done.chunks}


def _run(did: str, work: Any, as_json: bool) -> int:
    """Do it and say what was done; returns the exit status."""
    try:
        done = asyncio.run(work)
    except RAGError as error:
        if as_json:
            sys.stdout.write(orjson.dumps({"error": error.message}).decode() + "\n")
        raise
    if as_json:
        sys.stdout.write(orjson.dumps(done, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        there = f", {done['unchanged']} documents were there already" if done.get("unchanged") else ""
        place = done.get("file") or done.get("to")
        Console(stderr=True, highlight=False, soft_wrap=True).print(
            f"{did} {done['documents']} documents, {done['chunks']} chunks{there}: {place}", markup=False
        )
    return 0


@contextmanager
def _bar(doing: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, on a terminal only."""
    console = Console(stderr=True)
    columns = TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn("chunks"), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda count: bar.update(task, completed=count)

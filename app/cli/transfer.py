"""``garden export``, ``garden import`` and ``garden push``: move whole collections."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from app.bootstrap.compose import AppContainer
from app.cli.shared import OK, open_container, print_json, progress
from app.ingest.transfer.archive import Archive, Head, write_archive
from app.ingest.transfer.copy import check_model, copy
from app.providers.embeddings.models import EmbeddingModel
from app.providers.http.retry import Retry
from app.providers.stores.make import make_store
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError, InvalidInput

SERVER_RETRY = Retry(attempts=8, first_wait=0.5, longest_wait=15.0)
"""For writing to a server: outlasts its restart, which takes some ten seconds."""
SERVER_SECONDS = 30.0
"""Time limit of one request to a server."""


def run_export(file: Path, *, collection: str | None, as_json: bool, embedding: EmbeddingModel | None = None) -> int:
    """Write a collection to *file*."""
    return _run("exported", partial(_export, file), _settings(collection), embedding, as_json)


def run_import(file: Path, *, collection: str | None, as_json: bool, embedding: EmbeddingModel | None = None) -> int:
    """Read *file* into a collection."""
    return _run("imported", partial(_import, file, Archive(file)), _settings(collection), embedding, as_json)


def run_push(to: str, *, collection: str | None, as_json: bool, embedding: EmbeddingModel | None = None) -> int:
    """Copy an embedded collection to the Qdrant or Chroma server of the settings."""
    settings = _settings(collection)
    if settings.vector_store != "embedded":
        raise ConfigurationError("garden push copies an embedded collection: VECTOR_STORE=embedded")
    if to not in ("qdrant", "chroma"):
        raise InvalidInput(f"--to {to} is not allowed: qdrant or chroma", field="to")
    return _run("pushed", partial(_push, to), settings, embedding, as_json)


async def _export(file: Path, source: AppContainer) -> dict[str, Any]:
    store, model, name = source.store, source.embedding, source.settings.vector_store_collection
    if not (total := await store.acount()):
        raise ConfigurationError(f'The collection "{name}" is empty: there is nothing to export')
    first = await anext(store.apoints())
    await check_model(first, model)
    head = Head(collection=name, embedding_model=model.name, dimension=len(first[0].dense))
    with _chunk_progress("exporting", total) as on_progress:
        try:
            written = await write_archive(file, head, store.apoints(), on_progress)
        except OSError as error:
            raise InvalidInput(f"{file} cannot be written: {error.strerror}.", field="file") from error
    return {"file": str(file), **written.model_dump()}


async def _import(file: Path, archive: Archive, target: AppContainer) -> dict[str, Any]:
    head, settings, model = archive.head, target.settings, target.embedding
    if head.embedding_model != model.name:
        raise ConfigurationError(
            f"{file} holds vectors of {head.embedding_model}, and EMBEDDING_MODEL is {model.name}: "
            "set EMBEDDING_MODEL to the first, or ingest the documents again"
        )
    sentences = settings.vector_store != "chroma"
    with _chunk_progress("importing", head.chunks) as on_progress:
        done = await copy(archive, archive.documents, target.store, model, sentences=sentences, on_progress=on_progress)
    return {"file": str(file), "collection": settings.vector_store_collection, **asdict(done)}


async def _push(to: str, source: AppContainer) -> dict[str, Any]:
    store, model, name = source.store, source.embedding, source.settings.vector_store_collection
    target = source.settings.model_copy(update={"vector_store": to})
    remote = make_store(target, name, model, retry=SERVER_RETRY, seconds=SERVER_SECONDS)
    documents = await store.adocuments()
    try:
        with _chunk_progress("pushing", await store.acount()) as on_progress:
            done = await copy(store, documents, remote, model, sentences=to != "chroma", on_progress=on_progress)
    finally:
        await remote.aclose()
    return {"to": to, "collection": name, **asdict(done)}


def _settings(collection: str | None) -> Settings:
    return load_settings(**({"vector_store_collection": collection} if collection else {}))


def _run(
    verb: str,
    work: Callable[[AppContainer], Awaitable[dict[str, Any]]],
    settings: Settings,
    embedding: EmbeddingModel | None,
    as_json: bool,
) -> int:
    """Do the work on the opened collection, and print what was done; returns the exit status."""

    async def run() -> dict[str, Any]:
        async with open_container(settings, embedding) as container:
            return await work(container)

    done = asyncio.run(run())
    if as_json:
        print_json(done)
    else:
        stored = f", {done['unchanged']} documents were already stored" if done.get("unchanged") else ""
        summary = (
            f"{verb} {done['documents']} documents, {done['chunks']} chunks{stored}: {done.get('file') or done['to']}"
        )
        Console(stderr=True, highlight=False, soft_wrap=True).print(summary, markup=False)
    return OK


@contextmanager
def _chunk_progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar of chunks."""
    with progress(label, "chunks") as show:
        yield lambda count: show(count, total, "")

"""``garden export``, ``garden import`` and ``garden push``: move whole collections."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from app.bootstrap.storage import Storage, open_storage
from app.cli.shared import OK, CollectionOption, JsonFlag, print_json, print_note, progress, run_opened
from app.ingest.transfer.archive import Archive, Head, write_archive
from app.ingest.transfer.copy import check_size, copy
from app.providers.stores.make import make_store
from graph.errors import ConfigurationError, InvalidInput

Server = Literal["qdrant", "chroma"]
SERVER_SECONDS = 30.0
"""Time limit of one request that writes to a server."""


def run_export(
    file: Annotated[Path, typer.Argument(help="file to write", dir_okay=False)],
    collection: CollectionOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Write a whole collection to one file: documents, chunks, vectors."""
    return _run("exported", partial(_export, file), collection, as_json)


def run_import(
    file: Annotated[Path, typer.Argument(help="file written by garden export", dir_okay=False)],
    collection: CollectionOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Read a file written by garden export into a collection, without embedding again."""
    return _run("imported", partial(_import, file, Archive(file)), collection, as_json)


def run_push(
    to: Annotated[Server, typer.Option(help="qdrant (QDRANT_URL) or chroma (VECTOR_STORE_URL)")],
    collection: CollectionOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Copy an embedded collection to a server; a second run copies what is missing."""
    return _run("pushed", partial(_push, to), collection, as_json)


async def _export(file: Path, source: Storage) -> dict[str, Any]:
    store, model, name = source.store, source.embedding, source.settings.vector_store_collection
    if not (total := await store.acount()):
        raise ConfigurationError(f'The collection "{name}" is empty: there is nothing to export')
    first = await anext(store.apoints())
    await check_size(first, model)
    head = Head(collection=name, embedding_model=model.name, dimension=len(first[0].dense))
    with progress("exporting", "chunks", total) as on_progress:
        try:
            written = await write_archive(file, head, store.apoints(), on_progress)
        except OSError as error:
            raise InvalidInput(f"{file} cannot be written: {error.strerror}.", field="file") from error
    return {"file": str(file), **written.model_dump()}


async def _import(file: Path, archive: Archive, target: Storage) -> dict[str, Any]:
    head, settings, model = archive.head, target.settings, target.embedding
    if head.embedding_model != model.name:
        raise ConfigurationError(
            f"{file} holds vectors of {head.embedding_model}, and EMBEDDING_MODEL is {model.name}: "
            "set EMBEDDING_MODEL to the first, or ingest the documents again"
        )
    with progress("importing", "chunks", head.chunks) as on_progress:
        done = await copy(archive, archive.documents, target.store, model, on_progress=on_progress)
    return {"file": str(file), "collection": settings.vector_store_collection, **asdict(done)}


async def _push(to: Server, source: Storage) -> dict[str, Any]:
    store, model, name = source.store, source.embedding, source.settings.vector_store_collection
    if source.settings.vector_store != "embedded":
        raise ConfigurationError("garden push copies an embedded collection: VECTOR_STORE=embedded")
    target = source.settings.model_copy(update={"vector_store": to, "vector_store_timeout_seconds": SERVER_SECONDS})
    documents = await store.adocuments()
    async with aclosing(make_store(target, name, model)) as remote:
        with progress("pushing", "chunks", await store.acount()) as on_progress:
            done = await copy(store, documents, remote, model, on_progress=on_progress)
    return {"to": to, "collection": name, **asdict(done)}


def _run(verb: str, work: Callable[[Storage], Awaitable[dict[str, Any]]], collection: str | None, as_json: bool) -> int:
    """Run *work* on the opened collection and print its summary; return the exit status."""
    done = run_opened(open_storage, work, vector_store_collection=collection)
    if as_json:
        print_json(done)
    else:
        stored = f", {done['unchanged']} documents were already stored" if done.get("unchanged") else ""
        where = done.get("file") or done["to"]
        print_note(f"{verb} {done['documents']} documents, {done['chunks']} chunks{stored}: {where}")
    return OK

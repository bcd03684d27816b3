"""``garden reembed``: move a collection to the embedding model of the settings, while it is served."""

import asyncio
import re
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from app.cli.shared import OK, CollectionOption, JsonFlag, print_json, print_note, progress
from app.ingest.transfer.copy import reembed
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.make import make_store, unchecked_store
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Moved:
    """What was done with one collection. *kept* is the folder of the old one, or None where it kept its name."""

    collection: str
    embedding_model: str
    documents: int
    chunks: int
    kept: str | None = None


def run_reembed(
    collection: CollectionOption = None,
    to: Annotated[str | None, typer.Option(help="collection to fill; the old one stays as it is")] = None,
    as_json: JsonFlag = False,
) -> int:
    """Embed a collection again with EMBEDDING_MODEL; run it again after an interruption."""
    settings = load_settings()
    done = asyncio.run(_reembed(settings, collection, to))
    if as_json:
        print_json({"collections": [asdict(moved) for moved in done]})
        return OK
    for moved in done:
        kept = f"; the old collection is in {moved.kept}" if moved.kept else ""
        text = f'"{moved.collection}": {moved.documents} documents, {moved.chunks} chunks embedded by '
        print_note(f"{text}{moved.embedding_model}{kept}")
    print_note(f"start the server again with EMBEDDING_MODEL={settings.embedding_model}")
    return OK


async def _reembed(settings: Settings, collection: str | None, to: str | None) -> list[Moved]:
    """Move the collection, or without a name that of documents and that of tasks."""
    names = [collection] if collection else [settings.vector_store_collection]
    if not (collection or to):
        names.append(settings.tasks_collection)
    if settings.vector_store != "embedded" and not to:
        raise ConfigurationError(
            "garden reembed on a server fills another collection: name it with --to, then set VECTOR_STORE_COLLECTION"
        )
    model = await asyncio.to_thread(make_embeddings, settings)
    try:
        moved = [await _move(settings, model, name, to) for name in names]
    finally:
        model.close()
    if found := [collection for collection in moved if collection]:
        return found
    raise ConfigurationError(f'The collection "{names[0]}" is empty, or its vectors are of {model.name} already')


async def _move(settings: Settings, model: EmbeddingModel, name: str, to: str | None) -> Moved | None:
    """Fill *to*, or a draft that then takes the place of *name*; None where there is nothing to do."""
    async with aclosing(unchecked_store(settings, name, model)) as source:
        made_by = await source.amodel_name()
        if not await source.acount() or made_by == model.name:
            return None
        chunks = 0
        while True:
            version = await source.aversion() if isinstance(source, EmbeddedStore) else 0
            draft = to or f"{name}.reembedded"
            async with aclosing(await asyncio.to_thread(make_store, settings, draft, model)) as target:
                with progress(f"embedding {name}", "chunks", await source.acount()) as on_progress:
                    done = await reembed(source, target, model, on_progress=on_progress)
                await target.aoptimize()
            chunks += done.chunks
            if done.chunks or done.deleted:
                continue  # what was written meanwhile is met by the next pass
            if to or not isinstance(source, EmbeddedStore):
                return Moved(to or name, model.name, done.documents, chunks)
            kept = re.sub(r"[^\w.-]", "-", f"{name}.{made_by or 'before'}")
            if folder := await source.areplace(draft, kept, version):
                return Moved(name, model.name, done.documents, chunks, str(folder))

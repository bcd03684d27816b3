"""The collections that one store holds: listed and deleted as a whole."""

import asyncio
import shutil
import time
from pathlib import Path

from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.database import FILE
from app.providers.stores.names import COLLECTION_NAME
from app.providers.stores.remote import RemoteStore
from graph.errors import ConfigurationError, StoreUnavailable


async def acollection_names(store: ChunkStore, data_dir: Path) -> list[str]:
    """Return the names of the collections beside *store*, sorted, its own included. Raises ``StoreUnavailable``."""
    if isinstance(store, RemoteStore):
        return sorted(await store.acollection_names())
    found = await asyncio.to_thread(lambda: {path.parent.name for path in data_dir.glob(f"*/{FILE}")})
    return sorted({name for name in found if COLLECTION_NAME.fullmatch(name)} | {store.collection})


async def adelete_collection(store: ChunkStore, data_dir: Path, name: str) -> None:
    """Delete the collection *name* beside *store*, and its folder in *data_dir*.

    Raises ``StoreUnavailable``, or ``ConfigurationError`` where the folder cannot be removed.
    """
    if isinstance(store, RemoteStore):
        await store.adelete_collection(name)
    await asyncio.to_thread(_remove, data_dir / name)


def _remove(folder: Path) -> None:
    """Remove a folder at once for all processes: they see it whole, or not at all."""
    gone = folder.with_name(f".deleted-{folder.name}-{time.time_ns()}")
    try:
        folder.rename(gone)
        shutil.rmtree(gone)
    except FileNotFoundError:
        return
    except PermissionError as error:
        raise ConfigurationError(f"{folder} cannot be removed: {error.strerror}") from error
    except OSError as error:
        raise StoreUnavailable(f"The folder of a collection cannot be removed: {error.strerror}.") from error

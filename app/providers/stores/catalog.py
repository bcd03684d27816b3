"""The folders of embedded collections: listed, deleted and replaced as a whole."""

import os
import shutil
import sqlite3
import time
from itertools import count
from pathlib import Path

from app.providers.stores import COLLECTION_NAME
from app.providers.stores.database import FILE, Database, select, version_of
from graph.errors import ConfigurationError, StoreUnavailable


def collections_in(data_dir: Path) -> list[str]:
    """Return the names of the collections, unordered."""
    found = [path.parent.name for path in data_dir.glob(f"*/{FILE}")]
    return [name for name in found if COLLECTION_NAME.fullmatch(name)]


def remove_if_empty(database: Database) -> None:
    """Delete an embedded collection unless a chunk is in it, for which no other process can come in between.

    Raises what ``remove_folder`` and the database raise.
    """

    def job(connection: sqlite3.Connection) -> None:
        if select(connection, "1", rest="LIMIT 1").fetchone() is None:
            remove_folder(database.folder)

    database.write(job)


def remove_folder(folder: Path) -> None:
    """Remove a collection's folder at once for all processes: they see it whole, or not at all.

    Raises ``ConfigurationError`` where it may not be removed, else ``StoreUnavailable``.
    """
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


def replace_collection(database: Database, by: str, kept: str, version: int) -> Path | None:
    """Put the collection *by* in place of that of *database*, which is renamed to *kept*; return its new folder.

    None where something was written since *version*: nothing is renamed then. Uploads and the record of what was
    ingested are taken over. Processes that have the collection open find the new one with their next call. Raises
    ``ConfigurationError`` where the folders cannot be renamed, and what the database raises.
    """
    folder = database.folder
    draft, aside = folder.with_name(by), _free_name(folder.with_name(kept))

    def job(connection: sqlite3.Connection) -> Path | None:
        if version_of(connection) != version:
            return None
        try:
            _take_over(folder, draft)
            folder.rename(aside)
            draft.rename(folder)
        except OSError as error:
            raise ConfigurationError(
                f"{draft} cannot take the place of {folder}: {error.strerror or error}. Nothing is lost: rename "
                f"{draft}, and {aside} if it is there, by hand"
            ) from error
        return aside

    return database.write(job)


def _free_name(folder: Path) -> Path:
    """Return *folder*, or if it exists the first of its name and a number that does not."""
    names = (folder.with_name(f"{folder.name}-{number}") if number else folder for number in count())
    return next(name for name in names if not name.exists())


def _take_over(folder: Path, draft: Path) -> None:
    """Copy into *draft* what is no part of the index; uploads, which are never changed, are linked."""
    for file in folder.iterdir():
        if file.is_dir() and not file.name.startswith(("segment-", "damaged-")):
            shutil.copytree(file, draft / file.name, copy_function=os.link, dirs_exist_ok=True)
        elif file.is_file() and not file.name.startswith(FILE) and file.suffix != ".lock":
            shutil.copy2(file, draft / file.name)

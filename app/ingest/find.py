"""Paths → the files to read, each with its name below the root it was found under."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.ingest.documents import SkippedFile
from app.ingest.load import LOADERS
from graph.errors import InvalidInput

NO_FILE = "a link to nothing, a pipe or a device"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read; ``source`` is its path below the root, with ``/`` (a root that is a file: its name)."""

    path: Path
    source: str


def find_files(paths: Iterable[Path]) -> Iterator[FoundFile | SkippedFile]:
    """Yield the files below ``paths`` in a stable order, and what had to be left out.

    A folder is searched in depth. Passed over in silence: hidden files and folders, files whose suffix no loader reads.
    Named and left out: symbolic links that lead out of the root, folders that cannot be listed, files named one by one
    that no loader reads.

    Raises ``InvalidInput`` for a path that does not exist, before anything is yielded.
    """
    roots = [Path(path) for path in paths]
    for root in roots:
        if not root.exists():
            raise InvalidInput(f"There is no file or folder {root}.", field="paths")
    return _found(roots)


def _found(roots: list[Path]) -> Iterator[FoundFile | SkippedFile]:
    for root in roots:
        if root.is_dir():
            yield from _below(root)
        elif root.suffix.lower() not in LOADERS:
            yield SkippedFile(path=_name(Path(root.name)), reason=f"no loader reads {root.suffix or 'such a file'}")
        elif not root.is_file():
            yield SkippedFile(path=_name(Path(root.name)), reason=NO_FILE)
        else:
            yield FoundFile(root, _name(Path(root.name)))


def _name(path: Path) -> str:
    """The path with ``/``; bytes of a file name that are no UTF-8 become replacement characters."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _target(path: Path) -> Path:
    """Where *path* leads; unlike ``Path.resolve``, no error for a link that leads to itself."""
    return Path(os.path.realpath(path))


def _below(root: Path) -> Iterator[FoundFile | SkippedFile]:
    """The files below one folder, folder by folder, by name; links to folders are not followed."""
    unlisted: list[OSError] = []
    real_root = _target(root)
    for folder, folders, files in os.walk(root, onerror=unlisted.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if name.startswith(".") or path.suffix.lower() not in LOADERS:
                continue
            source = _name(path.relative_to(root))
            if path.is_symlink() and not _target(path).is_relative_to(real_root):
                yield SkippedFile(path=source, reason="a symbolic link that leads out of the folder")
            elif not path.is_file():
                yield SkippedFile(path=source, reason=NO_FILE)
            else:
                yield FoundFile(path, source)
    for error in unlisted:
        source = _name(Path(error.filename).relative_to(root))
        yield SkippedFile(path=source, reason=f"the folder cannot be listed: {error.strerror}", rows_lost=True)

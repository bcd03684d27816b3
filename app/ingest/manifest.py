"""What each path has brought: ``planted.json`` in the collection's folder, so that ``--prune`` removes nothing else.

::

    {"version": 1, "paths": {"/srv/docs": {"travel.md": "<content hash>", …}, …}}

A document belongs to the path that brought it last. The hash tells whether the collection still holds what that path
brought: what came since under the same id from elsewhere, an upload or an import, has another one, and stays.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from app.ingest.source_registry import alone, replace_file

PLANTED_FILE = "planted.json"
VERSION = 1

log = logging.getLogger("garden.ingest")


class IngestManifest:
    """The note about one run over *paths* into one collection; with *prune* that run removes what is gone from them."""

    def __init__(self, collection: Path, paths: Sequence[Path], *, prune: bool = False) -> None:
        """*collection* is the collection's folder in the data directory, also when a server stores the documents."""
        self.prune = prune
        self._file = collection / PLANTED_FILE
        self._roots = [_key(path) for path in paths]
        self._brought: dict[str, str] = {}

    def brings(self, document_id: str, path: Path) -> None:
        """Say that this document was met under *path*; of several paths the first counts, as it does for its text."""
        self._brought.setdefault(document_id, _key(path))

    def earlier(self) -> dict[str, str]:
        """Document id -> content hash of what earlier runs brought from these paths."""
        noted = self._read()
        return {one: content_hash for root in self._roots for one, content_hash in noted.get(root, {}).items()}

    def note(self, met: Mapping[str, str], removed: Collection[str]) -> None:
        """Keep what this run met (document id -> content hash), and forget what it removed.

        Where that cannot be written it is logged: a later run then removes less, never more.
        """
        try:
            with alone(self._file.parent):
                noted = self._read()
                for documents in noted.values():
                    for document_id in (*met, *removed):
                        documents.pop(document_id, None)
                for document_id, content_hash in met.items():
                    if root := self._brought.get(document_id):
                        noted.setdefault(root, {})[document_id] = content_hash
                held = {"version": VERSION, "paths": {root: some for root, some in noted.items() if some}}
                replace_file(self._file, json.dumps(held, indent=1))
        except (OSError, sqlite3.Error) as error:
            log.warning("planted_not_noted", extra={"reason": str(error)})

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            said = json.loads(self._file.read_text(encoding="utf-8"))["paths"]
            return {str(root): {str(one): str(its) for one, its in held.items()} for root, held in said.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}


def _key(path: Path) -> str:
    """The path made absolute, with no way up in it; a link stays a link."""
    whole = os.path.abspath(path)  # noqa: PTH100  # a link that is set anew is the same path to its user
    return whole.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

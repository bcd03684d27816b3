"""Keep the questions of each conversation in one SQLite file shared by processes.

A plain table: LangGraph's checkpointers store a run's whole state at each step, and its ``AsyncSqliteStore`` keeps a
background task for embeddings and expiry.
"""

import asyncio
import json
import logging
import sqlite3
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from graph.errors import StoreUnavailable

FILE = "conversations.sqlite3"
MAX_CONVERSATIONS = 1000
"""Conversations that are kept: those continued last. Each takes less than 1 kB."""
BUSY_SECONDS = 5.0
"""Time to wait for another process that writes."""
CREATE = (
    "CREATE TABLE IF NOT EXISTS conversations"
    " (id TEXT PRIMARY KEY, questions TEXT NOT NULL, continued INTEGER NOT NULL)"
)
SELECT = "SELECT questions FROM conversations WHERE id = ?"
INSERT = (
    "INSERT OR REPLACE INTO conversations VALUES (?, ?, (SELECT coalesce(max(continued), 0) + 1 FROM conversations))"
)
DELETE = "DELETE FROM conversations WHERE id = ?"
DELETE_OLDEST = (
    "DELETE FROM conversations WHERE id IN (SELECT id FROM conversations ORDER BY continued DESC LIMIT -1 OFFSET ?)"
)
Statement = tuple[str, tuple[Any, ...]]
log = logging.getLogger("garden.service")


class Conversations:
    """The questions asked so far under each id, oldest first.

    Where SQLite fails, that is logged: a question is answered all the same, without the questions before it.
    """

    def __init__(self, folder: Path, *, most: int = MAX_CONVERSATIONS) -> None:
        """Keep the *most* conversations that were continued last, in a file that is made in *folder*."""
        self._folder = folder
        self._most = most
        self._forgotten: deque[str] = deque(maxlen=most)  # what a run that is not over must not store again

    async def history(self, conversation: str) -> list[str]:
        """Return the questions of *conversation*; none where there is none, or they cannot be read."""
        while conversation in self._forgotten:
            self._forgotten.remove(conversation)
        rows = await self._tried("conversation_not_read", (SELECT, (conversation,)))
        return [str(question) for question in json.loads(rows[0][0])] if rows else []

    async def keep(self, conversation: str, history: Sequence[str]) -> None:
        """Store the questions of *conversation*, and delete the oldest conversations past the most that are kept."""
        if conversation not in self._forgotten:
            row = (conversation, json.dumps(list(history)))
            await self._tried("conversation_not_kept", (INSERT, row), (DELETE_OLDEST, (self._most,)))

    async def forget(self, conversation: str) -> None:
        """Delete *conversation*, if there is one of that name. Raises ``StoreUnavailable``."""
        self._forgotten.append(conversation)
        try:
            await asyncio.to_thread(self._run, (DELETE, (conversation,)))
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailable("The conversation could not be deleted.") from error

    async def _tried(self, event: str, *statements: Statement) -> list[Any]:
        try:
            return await asyncio.to_thread(self._run, *statements)
        except (OSError, sqlite3.Error) as error:
            log.warning(event, extra={"failed": type(error).__name__, "reason": str(error)})
            return []

    def _run(self, *statements: Statement) -> list[Any]:
        """Execute *statements* in a transaction, and return the last one's rows; only the owner may read the file."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / FILE
        path.touch(0o600)
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as file, file:
            file.execute("PRAGMA secure_delete = ON")
            file.execute(CREATE)
            return [file.execute(*statement).fetchall() for statement in statements][-1]

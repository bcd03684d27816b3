"""Store conversations as LangGraph threads in one SQLite file shared by processes."""

import asyncio
import fcntl
import logging
import os
import sqlite3
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint import base
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph

from graph.errors import StoreUnavailable

FILE = "conversations.sqlite3"
MOST_CONVERSATIONS = 1000
"""Conversations that are kept: those continued last. Each takes a few kB."""
OLDEST = "SELECT thread_id FROM checkpoints ORDER BY checkpoint_id DESC LIMIT -1 OFFSET ?"

Graph = CompiledStateGraph[Any, Any, Any, Any]
log = logging.getLogger("garden.service")


class NewestCheckpoints(AsyncSqliteSaver):
    """Stores only the newest checkpoint of each thread, and the newest ``most_threads`` threads.

    Where SQLite fails, that is logged: a question is answered all the same, without the questions before it.
    """

    most_threads = MOST_CONVERSATIONS

    def __init__(self, connection: aiosqlite.Connection) -> None:
        """Store over *connection*, on which each statement commits itself."""
        super().__init__(connection)
        self.forgotten: deque[str] = deque(maxlen=MOST_CONVERSATIONS)  # what a cancelled run must not store again

    async def aget_tuple(self, config: RunnableConfig) -> base.CheckpointTuple | None:
        """Return the thread's checkpoint; None also where it cannot be read."""
        while (thread := config["configurable"]["thread_id"]) in self.forgotten:
            self.forgotten.remove(thread)
        try:
            return await super().aget_tuple(config)
        except sqlite3.Error as error:
            _warn("conversation_not_read", error)
            return None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: base.Checkpoint,
        metadata: base.CheckpointMetadata,
        new_versions: base.ChannelVersions,
    ) -> RunnableConfig:
        """Replace the thread's checkpoint; delete the oldest threads past ``most_threads``."""
        thread = config["configurable"]["thread_id"]
        if thread in self.forgotten:
            return config
        try:
            await self.adelete_thread(thread)
            config = await super().aput(config, checkpoint, metadata, new_versions)
            for (oldest,) in await self.conn.execute_fetchall(OLDEST, (self.most_threads,)):
                await self.adelete_thread(oldest)
        except sqlite3.Error as error:
            _warn("conversation_not_kept", error)
        return config


class Conversations:
    """The graph over a checkpointer that is opened by the first question of a conversation."""

    def __init__(self, build: Callable[[base.BaseCheckpointSaver[Any]], Graph], folder: Path) -> None:
        """*build* makes the graph over a checkpointer; the file is made in *folder*."""
        self._build = build
        self._folder = folder
        self._opening = asyncio.Lock()
        self._opened: tuple[Graph, NewestCheckpoints] | None = None
        self._open = AsyncExitStack()

    async def graph(self) -> Graph | None:
        """Return the graph with conversations; None, logged, where the file cannot be opened."""
        try:
            return (await self._ready())[0]
        except (OSError, sqlite3.Error) as error:
            _warn("conversations_unavailable", error)
            return None

    async def forget(self, conversation: str) -> None:
        """Delete *conversation*, if there is one of that name. Raises ``StoreUnavailable``."""
        try:
            _, saver = await self._ready()
            saver.forgotten.append(conversation)
            await saver.adelete_thread(conversation)
            async with saver.lock:
                await saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log holds it too
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailable("The conversation could not be deleted.") from error

    async def aclose(self) -> None:
        """Close the file."""
        self._opened = None
        await self._open.aclose()

    def _make_file(self) -> None:
        """Create the file, readable by its owner alone, as SQLite's -wal and -shm will be.

        One process at a time: SQLite's switch to WAL fails beside another connection.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / FILE).touch(0o600)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            with closing(sqlite3.connect(self._folder / FILE)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
        finally:
            os.close(folder)

    async def _ready(self) -> tuple[Graph, NewestCheckpoints]:
        async with self._opening:
            if self._opened is None:
                await asyncio.to_thread(self._make_file)
                # Each statement commits itself: one that fails, or is cancelled, leaves no lock to other processes.
                connection = aiosqlite.connect(self._folder / FILE, isolation_level=None)
                async with AsyncExitStack() as failed:
                    saver = NewestCheckpoints(await failed.enter_async_context(connection))
                    await saver.setup()
                    await saver.conn.execute("PRAGMA secure_delete = ON")
                    self._opened = self._build(saver), saver
                    self._open = failed.pop_all()
            return self._opened


def _warn(event: str, error: Exception) -> None:
    log.warning(event, extra={"failed": type(error).__name__, "reason": str(error)})

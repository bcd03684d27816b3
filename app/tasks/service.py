"""``TaskService``: index and search tasks, and chat about them."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from app.ingest.collection_writer import CollectionWriter
from app.ingest.tasks import Priority, Status, Task, task_document
from app.providers.chat.chat_model import ChatModel
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.chunk_store import ChunkStore
from app.tasks.chat import CONTEXT_BUDGET_ALLOCATION, ChatPrompt, format_context, reply_pieces, reply_without_model
from app.tasks.models import SearchResult, one_of, result_of, task_of, text_of
from graph.errors import CollectionMissing, StoreUnavailable
from graph.policy import bounded_int, unit_float

MAX_RESULTS, MAX_TOKENS = 100, 1_000_000
CONTEXT_RESULTS = 3
CONTEXT_TOKENS = CONTEXT_BUDGET_ALLOCATION["rag_context"]

log = logging.getLogger("garden.tasks")


class TaskService:
    """Document S's index and search, and a streamed chat; concurrent on one event loop.

    *completion* is the settings' chat model, if any; *seconds* limits a search, and a chat. Failures are errors of
    ``graph.errors``.
    """

    def __init__(
        self, store: ChunkStore, embedding: EmbeddingModel, completion: ChatModel | None, seconds: float
    ) -> None:
        self.store = store
        self.writer = CollectionWriter(store, embedding.embeddings, embedding.name)
        self._completion = completion
        self._seconds = seconds

    async def index_task(self, task: Task | Mapping[str, Any]) -> None:
        """Store *task* (``id``, ``title`` and optional fields), in place of one with its id.

        Raises ``InvalidInput`` naming the field, ``StoreUnavailable`` or ``EmbeddingUnavailable``.
        """
        await self.writer.write([task_document(task_of(task))])

    async def search(
        self,
        query: str,
        n_results: int = 5,
        filter_status: str | None = None,
        filter_priority: str | None = None,
        min_similarity: float = 0.0,
    ) -> list[SearchResult]:
        """Return the *n_results* tasks nearest to *query* that pass the filters, highest similarity first.

        Filters run in the store. Raises ``InvalidInput``, ``StoreUnavailable`` or ``EmbeddingUnavailable``.
        """
        text = text_of(query, "query")
        most, least = bounded_int(n_results, "n_results", MAX_RESULTS), unit_float(min_similarity, "min_similarity")
        filters = {
            "status": one_of(filter_status, Status, "filter_status"),
            "priority": one_of(filter_priority, Priority, "filter_priority"),
        }
        where = {name: value for name, value in filters.items() if value is not None}
        try:
            async with asyncio.timeout(self._seconds):
                rows = await self.store.asimilarity_search_with_score(text, k=most, filter=where or None)
        except CollectionMissing:  # no task was ever stored
            return []
        except TimeoutError as error:
            raise StoreUnavailable(f"The search for tasks timed out after {self._seconds:g} s.") from error
        results = sorted((result_of(*row) for row in rows), key=lambda result: -result.similarity)
        return [result for result in results if result.similarity >= least]

    async def chat_prompt(
        self, message: str, n_results: int, max_context_tokens: int
    ) -> tuple[ChatPrompt, list[SearchResult]]:
        """Build the prompt of *message* and its best tasks, and return these too; with 0 results, of the message.

        Their number is logged, never their text (contract).
        """
        text = text_of(message, "message")
        limit = bounded_int(max_context_tokens, "max_context_tokens", MAX_TOKENS)
        results = await self.search(text, n_results=n_results) if n_results else []
        log.info("chat_context", extra={"context_injected": bool(results), "tasks": len(results)})
        return ChatPrompt(format_context(results, max_tokens=limit), text), results

    async def chat(
        self,
        message: str,
        *,
        use_rag: bool = True,
        n_results: int = CONTEXT_RESULTS,
        max_context_tokens: int = CONTEXT_TOKENS,
    ) -> AsyncGenerator[str]:
        """Yield the reply to *message* as it comes. Without *use_rag* no task is searched.

        Raises ``ModelUnavailable``, ``SynthesisTimeout``, ``SynthesisFailed``, and what ``search`` raises.
        """
        deadline = time.monotonic() + self._seconds
        prompt, results = await self.chat_prompt(message, n_results if use_rag else 0, max_context_tokens)
        if self._completion is None:
            for piece in reply_without_model(results, use_rag=use_rag):
                yield piece
            return
        async with aclosing(reply_pieces(self._completion, prompt, deadline=deadline)) as pieces:
            async for piece in pieces:
                yield piece

    async def reply(self, message: str, n_results: int, max_context_tokens: int) -> str:
        """Return the whole reply of ``chat``."""
        chat = self.chat(message, n_results=n_results, max_context_tokens=max_context_tokens)
        async with aclosing(chat) as pieces:
            return "".join([piece async for piece in pieces])

"""Door S behind its wires: tasks in a collection of their own, found by meaning, and a chat grounded in them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from app.ingest.identify import content_hash
from app.ingest.parts import parts_of
from app.ingest.sink import Sink
from app.ingest.tasks import Priority, Status, Task, task_documents
from app.tasks.chat import ChatPrompt, LLMService, chat_prompt, reply_of, reply_pieces
from app.tasks.context import (
    CONTEXT_BUDGET_ALLOCATION,
    estimate_tokens,
    format_context,
    truncate_to_budget,
)
from app.tasks.input import one_of, task_of, text_of
from app.tasks.models import SearchResult, found_task
from app.tasks.reply import WITHOUT_TASKS, asked_for, reply_without_model
from graph.bounds import bounded_int, unit_float
from graph.errors import CollectionMissing, StoreUnavailable

if TYPE_CHECKING:
    from app.providers.chat.completion import ChatCompletion
    from app.providers.embeddings.models import EmbeddingModel

__all__ = ["CONTEXT_BUDGET_ALLOCATION", "TaskService", "estimate_tokens", "truncate_to_budget"]

MOST_RESULTS, MOST_TOKENS = 100, 1_000_000
CONTEXT_RESULTS = 3

log = logging.getLogger("garden.tasks")


class TaskService:
    """The four methods of document S, and the chat as a stream. Safe for concurrent use on one event loop.

    *store* is a LangChain ``VectorStore`` with cosines for scores that is a ``ChunkStore`` too; *completion* is the
    settings' chat model, None where there is none. Failures are errors of ``graph.errors``.
    """

    def __init__(
        self, store: Any, embedding: EmbeddingModel, *, completion: ChatCompletion | None = None, seconds: float = 30.0
    ) -> None:
        """*seconds* is the total time of a search, and of a chat."""
        self.store = store
        self.embedding = embedding
        self._completion = completion
        self._seconds = seconds

    @property
    def sink(self) -> Sink:
        """Where ingest puts tasks."""
        return Sink(self.store, self.embedding.embeddings, self.embedding.name)

    async def index_task(self, task: Task | Mapping[str, Any]) -> None:
        """Store *task* (``id``, ``title``, and what else there is), in place of one with its id.

        Raises ``InvalidInput`` naming the field, ``StoreUnavailable`` or ``EmbeddingUnavailable``.
        """
        (document,) = task_documents([task_of(task)])
        sink = self.sink
        await sink.write(list(parts_of(document, content_hash(document, self.embedding.name))))
        await sink.settle()

    async def search(
        self,
        query: str,
        n_results: int = 5,
        filter_status: str | None = None,
        filter_priority: str | None = None,
        min_similarity: float = 0.0,
    ) -> list[SearchResult]:
        """The *n_results* tasks nearest to *query* that pass the filters, highest similarity first.

        Filters run in the store. Raises ``InvalidInput``, ``StoreUnavailable`` or ``EmbeddingUnavailable``.
        """
        text = text_of(query, "query")
        most, least = bounded_int(n_results, "n_results", MOST_RESULTS), unit_float(min_similarity, "min_similarity")
        where = {
            "status": one_of(filter_status, Status, "filter_status"),
            "priority": one_of(filter_priority, Priority, "filter_priority"),
        }
        chosen = {name: value for name, value in where.items() if value is not None}
        try:
            async with asyncio.timeout(self._seconds):
                found = await self.store.asimilarity_search_with_score(text, k=most, filter=chosen or None)
        except CollectionMissing:  # no task was ever stored
            return []
        except TimeoutError as error:
            raise StoreUnavailable("The search for tasks did not end in time.") from error
        results = [found_task(document, cosine) for document, cosine in found]
        results.sort(key=lambda result: -result.similarity)
        return [result for result in results if result.similarity >= least]

    async def build_context(
        self,
        query: str,
        n_results: int = CONTEXT_RESULTS,
        include_metadata: bool = True,
        max_tokens: int | None = None,
    ) -> str:
        """The nearest tasks as text for a chat model, within *max_tokens*; ``No relevant tasks found.`` without any."""
        limit = None if max_tokens is None else bounded_int(max_tokens, "max_tokens", MOST_TOKENS)
        results = await self.search(query, n_results=n_results)
        return format_context(results, metadata=include_metadata, max_tokens=limit)

    async def chat_with_context(
        self,
        user_query: str,
        llm_service: LLMService | None = None,
        n_results: int = CONTEXT_RESULTS,
        max_context_tokens: int = CONTEXT_BUDGET_ALLOCATION["rag_context"],
    ) -> str:
        """The whole answer to *user_query*, by *llm_service* or else by the settings' chat model.

        Raises ``ModelUnavailable``, ``SynthesisTimeout``, ``SynthesisFailed``, and what ``search`` raises.
        """
        if llm_service is not None:
            return await reply_of(llm_service, await self.chat_prompt(user_query, n_results, max_context_tokens))
        async with aclosing(self.chat(user_query, n_results=n_results, max_context_tokens=max_context_tokens)) as said:
            return "".join([piece async for piece in said])

    async def chat(
        self,
        message: str,
        *,
        use_rag: bool = True,
        n_results: int = CONTEXT_RESULTS,
        max_context_tokens: int = CONTEXT_BUDGET_ALLOCATION["rag_context"],
    ) -> AsyncGenerator[str]:
        """The answer to *message* as it comes; see ``chat_with_context``. Without *use_rag* no task is looked at."""
        deadline = time.monotonic() + self._seconds
        if self._completion is None:
            for piece in await self._without_model(message, use_rag, n_results):
                yield piece
            return
        told = await self.chat_prompt(message, n_results if use_rag else 0, max_context_tokens)
        async with aclosing(reply_pieces(self._completion, told, deadline=deadline)) as pieces:
            async for piece in pieces:
                yield piece

    async def chat_prompt(self, message: str, n_results: int, max_context_tokens: int) -> ChatPrompt:
        """What a model is told of *message* and of the tasks that fit it; with 0 results, of the message alone."""
        text = text_of(message, "message")
        results = await self.search(text, n_results=n_results) if n_results else []
        _log_context(results)
        limit = bounded_int(max_context_tokens, "max_context_tokens", MOST_TOKENS)
        return chat_prompt(format_context(results, max_tokens=limit), text)

    async def _without_model(self, message: str, use_rag: bool, n_results: int) -> list[str]:
        text = text_of(message, "message")
        if not use_rag:
            _log_context([])
            return [WITHOUT_TASKS]
        status, priority = asked_for(text)
        results = await self.search(text, n_results, status, priority)
        _log_context(results)
        return list(reply_without_model(results, filtered=bool(status or priority)))


def _log_context(results: list[SearchResult]) -> None:
    """That a context was injected, and of how many tasks; never a word of it (contract, Door S)."""
    log.info("chat_context", extra={"context_injected": bool(results), "tasks": len(results)})

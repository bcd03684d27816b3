"""Door L: the service as a library. Works from plain code, inside a running event loop, and from many threads."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Self

from app.bootstrap.compose import AppContainer, build_container
from app.ingest.tasks import Task
from app.library.answer import Answer, answer_of
from app.library.errors import error_for
from app.library.sync_bridge import LoopThread
from app.ops.request_id import new_request_id
from app.query_service.search import SearchResults, search
from app.settings import Settings, load_settings
from app.tasks.chat import LLMService, reply_of
from app.tasks.models import SearchResult
from graph.errors import InvalidInput
from graph.result import Result
from graph.steps import failure_of

DOCUMENT_MODEL = "mistral:7b"
"""The document's chat model where ``ollama_host`` is given and no model is named."""

log = logging.getLogger("garden.library")


class RAGService:
    """Questions in, answers with verified citations out.

    ``ollama_host`` alone chooses Ollama; ``vector_store_url`` a Chroma server; ``embedding_model`` the embedding. What
    is not given comes from the settings. Raises ``ConfigurationError`` for a setting that is wrong.
    """

    def __init__(
        self,
        ollama_host: str | None = None,
        vector_store_url: str | None = None,
        embedding_model: str | None = None,
        *,
        settings: Settings | None = None,
        container: AppContainer | None = None,
    ) -> None:
        self._settings = settings or load_settings(**_chosen(ollama_host, vector_store_url, embedding_model))
        self._garden = container or build_container(self._settings)
        self._loop = LoopThread()

    def query(self, question: str, filters: dict[str, Any] | None = None, *, raise_on_error: bool = False) -> Answer:
        """Answer *question*. A failure is in the ``Answer``; *raise_on_error* raises it as its ``error_type``."""
        return self._loop.run(self._answer(question, filters, raise_on_error))

    async def aquery(
        self, question: str, filters: dict[str, Any] | None = None, *, raise_on_error: bool = False
    ) -> Answer:
        """``query`` for async callers, on whichever loop they run."""
        return await self._loop.arun(self._answer(question, filters, raise_on_error))

    def retrieve(self, query: str, k: int = 5) -> SearchResults:
        """The *k* (clamped to 3-8) chunks nearest to *query* and their context. Raises errors of ``graph.errors``."""
        return self._loop.run(self._search(query, k))

    async def aretrieve(self, query: str, k: int = 5) -> SearchResults:
        """``retrieve`` for async callers."""
        return await self._loop.arun(self._search(query, k))

    def health_check(self) -> dict[str, Any]:
        """The document's five fields, each probed now; at most two seconds."""
        return self._loop.run(self._garden.health.check())

    async def ahealth_check(self) -> dict[str, Any]:
        """``health_check`` for async callers."""
        return await self._loop.arun(self._garden.health.check())

    async def index_task(self, task: Task | Mapping[str, Any]) -> None:
        """Store a task, in place of one with its id; see ``TaskService`` for this and the next three (door S)."""
        await self._loop.arun(self._garden.tasks.index_task(task))

    async def search(
        self,
        query: str,
        n_results: int = 5,
        filter_status: str | None = None,
        filter_priority: str | None = None,
        min_similarity: float = 0.0,
    ) -> list[SearchResult]:
        """The tasks nearest in meaning to *query*, highest similarity first."""
        found = self._garden.tasks.search(query, n_results, filter_status, filter_priority, min_similarity)
        return await self._loop.arun(found)

    async def build_context(
        self, query: str, n_results: int = 3, include_metadata: bool = True, max_tokens: int | None = None
    ) -> str:
        """The nearest tasks as text for a chat model, within *max_tokens*."""
        return await self._loop.arun(self._garden.tasks.build_context(query, n_results, include_metadata, max_tokens))

    async def chat_with_context(
        self,
        user_query: str,
        llm_service: LLMService | None = None,
        n_results: int = 3,
        max_context_tokens: int = 1500,
    ) -> str:
        """The whole answer to *user_query*, grounded in the tasks, by *llm_service* or else by the settings' model."""
        tasks = self._garden.tasks
        if llm_service is None:
            return await self._loop.arun(tasks.chat_with_context(user_query, None, n_results, max_context_tokens))
        told = await self._loop.arun(tasks.chat_prompt(user_query, n_results, max_context_tokens))
        return await reply_of(llm_service, told)  # on the caller's loop, where its own model belongs

    def close(self) -> None:
        """Let go of the store and the threads; a second call does nothing. Calls under way raise ``RuntimeError``."""
        self._loop.close(self._garden.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _answer(self, question: str, filters: dict[str, Any] | None, raising: bool) -> Answer:
        try:
            fields = {"query": question, **self._filters(filters)}
        except InvalidInput as error:
            failure = failure_of(error)
            answer = answer_of(Result(failure.outcome, new_request_id(), 1, failure=failure))
        else:
            answer = answer_of(await self._garden.service.ask(fields))
        if answer.error_type:
            log.warning("library", extra={"error_type": answer.error_type, "request_id": answer.request_id})
            if raising:
                raise error_for(answer)
        return answer

    def _filters(self, filters: dict[str, Any] | None) -> dict[str, Any]:
        """``source`` and ``max_results`` as the graph's fields. Raises ``InvalidInput`` for anything else."""
        if filters is None:
            filters = {}
        if not isinstance(filters, dict):
            raise InvalidInput("filters must be a dict.", "filters")
        if unknown := [name for name in filters if name not in ("source", "max_results")]:
            raise InvalidInput(f"filters may hold source and max_results, not {unknown[0]!r}.", "filters")
        most = filters.get("max_results")
        if most is not None and (type(most) is not int or not 1 <= most <= 50):
            raise InvalidInput("max_results must be an integer from 1 to 50.", "filters")
        return {"source": filters.get("source"), "maxSources": most or self._settings.max_retrieval_results}

    async def _search(self, query: str, k: int) -> SearchResults:
        return await search(
            self._garden.retriever,
            query,
            k,
            seconds=self._settings.request_timeout_seconds,
            most_chars=self._settings.max_query_chars,
        )


def _chosen(ollama_host: str | None, vector_store_url: str | None, embedding_model: str | None) -> dict[str, Any]:
    """The settings that the arguments stand for (contract, Door L)."""
    chosen: dict[str, Any] = {}
    if ollama_host:
        settings = load_settings()
        chosen |= {"ollama_host": ollama_host}
        if not settings.chat_model:
            chosen["chat_model"] = f"ollama:{settings.ollama_model or DOCUMENT_MODEL}"
    if vector_store_url:
        chosen |= {"vector_store_url": vector_store_url, "vector_store": "chroma"}
    if embedding_model:
        chosen["embedding_model"] = embedding_model
    return chosen

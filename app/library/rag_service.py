"""``RAGService``: the service as a library, for plain code, running event loops and many threads.

The documents fix its names: ``query`` answers, ``retrieve`` finds chunks (``app.query_service.chunk_search``);
``search``, ``build_context`` and ``chat_with_context`` are about tasks (``app.tasks``).
"""

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from app.bootstrap.compose import AppContainer, build_container
from app.ingest.tasks import Task
from app.library.answer import ERRORS, Answer, answer_of
from app.library.sync_bridge import LoopThread
from app.ops.traffic import new_request_id
from app.query_service.chunk_search import SearchResults, search
from app.settings import Settings, load_settings
from app.tasks.chat import LLMService, format_context, reply_of
from app.tasks.models import SearchResult
from app.tasks.service import MAX_TOKENS
from graph.errors import InvalidInput
from graph.policy import MAX_SOURCES, bounded_int
from graph.state import Result, failure_of

DOCUMENT_MODEL = "mistral:7b"
"""The document's chat model where ``ollama_host`` is given and no model is named."""
log = logging.getLogger("garden.library")


class RAGService(AbstractContextManager["RAGService"]):
    """Answer questions with verified citations.

    ``ollama_host`` alone chooses Ollama, ``vector_store_url`` a Chroma server. Raises ``ConfigurationError``.
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
        overrides: dict[str, Any] = {"ollama_host": ollama_host or None, "embedding_model": embedding_model or None}
        if ollama_host and not (found := load_settings()).chat_model:
            overrides["chat_model"] = f"ollama:{found.ollama_model or DOCUMENT_MODEL}"
        if vector_store_url:
            overrides |= {"vector_store_url": vector_store_url, "vector_store": "chroma"}
        self._container = container or build_container(settings or load_settings(**overrides))
        self._loop = LoopThread()

    def query(
        self,
        question: str,
        filters: dict[str, Any] | None = None,
        *,
        raise_on_error: bool = False,
        collection: str | None = None,
    ) -> Answer:
        """Answer *question*. A failure is in the ``Answer``; *raise_on_error* raises it as its ``error_type``."""
        return self._loop.run(self._answer(question, filters, raise_on_error, collection))

    async def aquery(
        self,
        question: str,
        filters: dict[str, Any] | None = None,
        *,
        raise_on_error: bool = False,
        collection: str | None = None,
    ) -> Answer:
        """``query`` for async callers, on any loop."""
        return await self._loop.arun(self._answer(question, filters, raise_on_error, collection))

    def retrieve(self, query: str, k: int = 5, **scope: Any) -> SearchResults:
        """Find the *k* (clamped to 3-8) chunks nearest to *query*, and their context. Raises ``graph.errors``.

        *scope* may hold ``source``, ``filters`` and ``collection``, as in a question of the Query API.
        """
        return self._loop.run(search(self._container.collections, self._container.settings, query, k, **scope))

    async def aretrieve(self, query: str, k: int = 5, **scope: Any) -> SearchResults:
        """``retrieve`` for async callers."""
        return await self._loop.arun(search(self._container.collections, self._container.settings, query, k, **scope))

    def health_check(self) -> dict[str, Any]:
        """Probe every part now, in at most two seconds; returns the document's five fields."""
        return self._loop.run(self._container.health.check())

    async def ahealth_check(self) -> dict[str, Any]:
        """``health_check`` for async callers."""
        return await self._loop.arun(self._container.health.check())

    async def index_task(self, task: Task | Mapping[str, Any]) -> None:
        """Store a task, in place of one with its id."""
        await self._loop.arun(self._container.tasks.index_task(task))

    async def search(
        self,
        query: str,
        n_results: int = 5,
        filter_status: str | None = None,
        filter_priority: str | None = None,
        min_similarity: float = 0.0,
    ) -> list[SearchResult]:
        """Find the tasks nearest in meaning to *query*, highest similarity first."""
        work = self._container.tasks.search(query, n_results, filter_status, filter_priority, min_similarity)
        return await self._loop.arun(work)

    async def build_context(
        self, query: str, n_results: int = 3, include_metadata: bool = True, max_tokens: int | None = None
    ) -> str:
        """Format the nearest tasks as text for a chat model, within *max_tokens*."""
        limit = None if max_tokens is None else bounded_int(max_tokens, "max_tokens", MAX_TOKENS)
        results = await self.search(query, n_results=n_results)
        return format_context(results, metadata=include_metadata, max_tokens=limit)

    async def chat_with_context(
        self, user_query: str, llm_service: LLMService | None = None, n_results: int = 3, max_context_tokens: int = 1500
    ) -> str:
        """Answer *user_query* from the tasks, by *llm_service* or else by the settings' chat model."""
        tasks = self._container.tasks
        if llm_service is None:
            return await self._loop.arun(tasks.reply(user_query, n_results, max_context_tokens))
        prompt, _ = await self._loop.arun(tasks.chat_prompt(user_query, n_results, max_context_tokens))
        return await reply_of(llm_service, prompt)  # on the caller's loop, where its own model belongs

    def close(self) -> None:
        """Close stores, models and threads; a second call does nothing. Calls under way raise ``RuntimeError``."""
        self._loop.close(self._container.aclose)

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _answer(
        self, question: str, filters: dict[str, Any] | None, raise_on_error: bool, collection: str | None
    ) -> Answer:
        try:
            fields = {"query": question, "collection": collection, **self._filter_fields(filters)}
        except InvalidInput as error:
            failure = failure_of(error)
            result = Result(failure.outcome, new_request_id(), 1, failure=failure)
        else:
            result = await self._container.service.ask(fields, attribution="model")  # as its document says
        answer = answer_of(result)
        if answer.error_type:
            log.warning("library", extra={"error_type": answer.error_type, "request_id": answer.request_id})
            if raise_on_error:
                raise ERRORS[result.outcome](answer)
        return answer

    def _filter_fields(self, filters: dict[str, Any] | None) -> dict[str, Any]:
        """Convert ``source``, ``max_results`` and metadata fields to the graph's fields. Raises ``InvalidInput``."""
        filters = {} if filters is None else filters
        if not isinstance(filters, dict):
            raise InvalidInput("filters must be a dict.", "filters")
        most = filters.get("max_results")
        if most is None:
            most = self._container.settings.max_retrieval_results
        fields = {name: value for name, value in filters.items() if name not in ("source", "max_results")}
        most = bounded_int(most, "max_results", MAX_SOURCES)
        return {"source": filters.get("source"), "filters": fields or None, "maxSources": most}

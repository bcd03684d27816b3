"""Cohere's client for its LangChain classes, and ``ChatCohere`` with the citations that its stream leaves out."""

from collections.abc import AsyncIterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import cohere
import httpx
from langchain_cohere import ChatCohere
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from app.providers.http.transport import AiohttpTransport
from app.settings import Settings
from graph.errors import ConfigurationError

NO_RETRIES: Any = {"max_retries": 0}
"""``request_options`` of a call: the SDK would try three times beside our own policy. Releases after 5 take
``max_retries`` for a whole client (cohere-ai/cohere-python, pull request 779); langchain-cohere 0.6 excludes them."""


def cohere_client(settings: Settings, setting: str, seconds: float) -> tuple[cohere.AsyncClientV2, AiohttpTransport]:
    """Make the client and connections for *setting*'s part (``"CHAT_MODEL"``), uncontacted.

    *seconds* limits each read and connect. Raises ``ConfigurationError`` when ``COHERE_API_KEY`` is empty.
    """
    key = settings.cohere_api_key.get_secret_value()
    if not key:
        raise ConfigurationError(f"{setting} names a Cohere model, which needs COHERE_API_KEY to be set")
    transport = AiohttpTransport()
    http = httpx.AsyncClient(transport=transport, timeout=seconds, follow_redirects=True)
    address = settings.cohere_base_url or None  # its own
    client = cohere.AsyncClientV2(api_key=key, base_url=address, timeout=seconds, httpx_client=http)
    for name in ("embed", "rerank"):  # langchain-cohere passes no options
        setattr(client, name, partial(getattr(client, name), request_options=NO_RETRIES))
    return client, transport


class CitingChatCohere(ChatCohere):
    """Streams Cohere's citations as ``additional_kwargs["citations"]``: dictionaries with start, end and sources.

    langchain-cohere 0.6.0 (github.com/langchain-ai/langchain-cohere, ``ChatCohere._astream``) ignores the
    ``citation-start`` events of ``/v2/chat``, although ``ainvoke`` returns the same citations; no issue is filed
    upstream. ``tests/app/providers/chat/test_cohere.py`` fails as soon as ``ChatCohere`` streams them.
    """

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        citations: list[dict[str, Any]] = []

        async def chat_stream(**request: Any) -> AsyncIterator[Any]:
            async for event in self.async_client.v2.chat_stream(**request):
                if event.type == "citation-start":
                    citations.append(event.delta.message.citations.model_dump())
                yield event

        recorder = SimpleNamespace(v2=SimpleNamespace(chat_stream=chat_stream))
        recorded = self.model_copy(update={"async_client": recorder})
        async for chunk in ChatCohere._astream(recorded, messages, stop, run_manager, **kwargs):
            if citations:
                chunk.message.additional_kwargs["citations"] = citations.copy()
                citations.clear()
            yield chunk

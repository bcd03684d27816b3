"""``ChatCohere`` with the citations that its stream leaves out.

langchain-cohere 0.6.0 (github.com/langchain-ai/langchain-cohere, ``ChatCohere._astream``) ignores the
``citation-start`` events of ``/v2/chat``, although ``ainvoke`` returns the same citations; no issue is filed upstream.
``tests/app/providers/chat/test_cohere.py`` fails as soon as ``ChatCohere`` streams them: then this file can go.
"""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

from langchain_cohere import ChatCohere
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk


class CitingChatCohere(ChatCohere):
    """Streams Cohere's citations as ``additional_kwargs["citations"]``: dictionaries with start, end and sources."""

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

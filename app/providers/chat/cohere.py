"""Cohere's chat as a LangChain chat model that streams, and keeps what Cohere cites.

It reads the wire itself: langchain-cohere's streams drop the citation events, and the SDK beneath takes several
milliseconds of the event loop for every token (it builds a new type adapter for each), and may try a call three times.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import agenerate_from_stream, generate_from_stream
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import ConfigDict

from app.providers.http.cohere_client import CohereConnection

_ROLES = {"system": "system", "human": "user", "ai": "assistant"}
_PATH = "/v2/chat"


class CohereChat(BaseChatModel):
    """``/v2/chat``, streamed. Citations come as ``additional_kwargs["citations"]``: start, end and sources.

    ``documents`` and ``max_tokens`` may be given with a call. Raises ``httpx.HTTPError``, or ``ValueError`` for a
    stream that is none, for the caller to read.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    connection: CohereConnection
    model: str
    temperature: float = 0.1
    p: float = 0.9

    @property
    def _llm_type(self) -> str:
        return "cohere-chat"

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        lines = _Lines()
        async with self.connection.ahttp.stream("POST", _PATH, json=self._request(messages, stop, kwargs)) as response:
            response.raise_for_status()
            async for data in response.aiter_bytes():
                for piece in lines.pieces(data):
                    yield piece

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        lines = _Lines()
        with self.connection.http.stream("POST", _PATH, json=self._request(messages, stop, kwargs)) as response:
            response.raise_for_status()
            for data in response.iter_bytes():
                yield from lines.pieces(data)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop, run_manager, **kwargs))

    def _request(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]) -> dict[str, Any]:
        return {
            "model": self.model,
            "stream": True,
            "messages": [{"role": _ROLES.get(m.type, "user"), "content": str(m.text)} for m in messages],
            "temperature": self.temperature,
            "p": self.p,
            **({"stop_sequences": stop} if stop else {}),
            **{name: kwargs[name] for name in ("documents", "max_tokens") if kwargs.get(name)},
        }


class _Lines:
    """Server-sent events, cut at line feeds only: other separators of Unicode may stand inside JSON."""

    def __init__(self) -> None:
        self._rest = b""

    def pieces(self, data: bytes) -> Iterator[ChatGenerationChunk]:
        """What the lines that *data* completes add to the message."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data:") and line[5:].strip() not in (b"", b"[DONE]"):
                piece = _piece(json.loads(line[5:]))
                if piece:
                    yield piece


def _piece(event: dict[str, Any]) -> ChatGenerationChunk | None:
    """What one event of the stream adds; None for those that only frame it, and for thoughts."""
    delta = event.get("delta") or {}
    message = delta.get("message") or {}
    match event.get("type"):
        case "content-delta":
            text = (message.get("content") or {}).get("text")
            return ChatGenerationChunk(message=AIMessageChunk(content=text)) if text else None
        case "citation-start":
            cited = {"citations": [message.get("citations") or {}]}
            return ChatGenerationChunk(message=AIMessageChunk(content="", additional_kwargs=cited))
        case "message-end":
            reason = {"finish_reason": delta.get("finish_reason") or "unknown"}
            return ChatGenerationChunk(message=AIMessageChunk(content=""), generation_info=reason)
    return None

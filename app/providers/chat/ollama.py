"""``ChatOllama`` over a lean wire: LangChain's requests and messages, aiohttp's connections and C parser.

The ollama package reads a reply through httpx line by line and builds a pydantic model for each token; that took a
fifth of a question's processor time (``bench/NOTES.md``). The wire is Ollama's own ``POST /api/chat``, one JSON
object a line, or the one object where ``stream`` is false (ollama.com, "API", "Generate a chat completion").
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import aiohttp
import httpx
import orjson
from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_ollama import ChatOllama
from ollama import ResponseError
from pydantic import PrivateAttr

from app.providers.chat.model import WholeReply
from app.providers.http.sessions import Sessions, mind_the_end, open_session, proxy_for

Part = dict[str, Any]

OF_THE_CLIENT = frozenset({"accept-encoding", "connection"})
"""Headers in which an HTTP client tells what it can do itself."""


class OllamaChat(ChatOllama):
    """A ``ChatOllama`` whose asynchronous calls are cheap; made, and limited in time, by what ``ChatOllama`` takes.

    Calls raise ``ConnectionError``, ``TimeoutError``, ``ollama.ResponseError``, or ``ValueError`` for lines that are no
    JSON.
    """

    _sessions: Sessions = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Pydantic's: what the model needs beside its fields. Nothing is contacted."""
        super().model_post_init(context)
        self._sessions = Sessions(self._connect)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._sessions.aclose()

    async def areply(self, messages: Sequence[BaseMessage], **options: Any) -> WholeReply:
        """The whole reply to *messages*, for a caller who shows nobody how it comes: asked for, and sent, in one piece.

        No tracer is told of it. *options* are those of ``astream``.
        """
        text, last = "", Part()
        async for part in self._parts(self._request(list(messages), stream=False, **options)):
            said = _said(part)
            text += said
            if part.get("done") is True and not (part.get("done_reason") == "load" and not said):
                last = part
        return WholeReply(text, _metadata(last), _usage(last))

    async def _acreate_chat_stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> AsyncIterator[Mapping[str, Any] | str]:
        async for part in self._parts(self._request(messages, stop, **kwargs)):
            yield part

    def _request(self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any) -> Part:
        """What ``ChatOllama`` would ask, without the members that say nothing."""
        given = self._chat_params(messages, stop, **kwargs)
        given["messages"] = [{k: v for k, v in message.items() if v or k == "content"} for message in given["messages"]]
        return {name: value for name, value in given.items() if value is not None}

    async def ashow(self) -> None:
        """Ask for the model's description (``POST /api/show``), which is there when the model is; it is not read."""
        async for _ in self._parts({"model": self.model}, "api/show", read=lambda _: {}):
            pass

    async def _parts(
        self, request: Mapping[str, Any], path: str = "api/chat", *, read: Callable[[bytes], Part] | None = None
    ) -> AsyncIterator[Part]:
        """The lines of the reply to *request* as they come, each read with *read*."""
        read = read or _part
        broken = ""
        try:
            async with self._sessions.here.post(path, data=orjson.dumps(request)) as response:
                mind_the_end(response)
                if response.status >= 400:
                    said = ""
                    with suppress(aiohttp.ClientError):
                        said = await response.text(errors="replace")
                    raise ResponseError(said, response.status) from _with_headers(response)
                rest = b""
                while data := await response.content.readany():
                    *lines, rest = (rest + data).split(b"\n")
                    for line in filter(bytes.strip, lines):
                        yield read(line)
                if rest.strip():
                    yield read(rest)
        except aiohttp.ConnectionTimeoutError:
            broken = "Ollama was not reached in time."
        except aiohttp.ClientError as error:
            if isinstance(error, TimeoutError):
                raise
            broken = "Ollama was not reached, or hung up."
        if broken:  # not from the error, which carries a status that no server sent
            raise ConnectionError(broken)

    def _connect(self) -> aiohttp.ClientSession:
        """Connections to where the ollama package would call, with its headers, its limits of time and its trust."""
        told = self._async_client._client
        url = told.base_url
        trust = (self.client_kwargs or {}).get("verify", True)
        if url.scheme == "https" and not isinstance(trust, ssl.SSLContext):
            trust = httpx.create_ssl_context(verify=trust)
        return open_session(
            trust,
            base_url=str(url),
            headers={name: value for name, value in told.headers.items() if name not in OF_THE_CLIENT},
            proxy=proxy_for(url),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=told.timeout.connect, sock_read=told.timeout.read),
        )


def _said(part: Part) -> str:
    """The text of one part; a part without a message has none."""
    message = part.get("message", {})
    said = message.get("content", "") if isinstance(message, dict) else None
    if not isinstance(said, str):
        raise ValueError("Ollama sent a message that holds no text.")
    return said


def _metadata(last: Part) -> Part:
    """What the last part tells of the reply, under the names that ``ChatOllama`` gives."""
    if not last:
        return {}
    told = {name: value for name, value in last.items() if name != "message"}
    return {**told, "model_name": last.get("model"), "model_provider": "ollama"}


def _usage(last: Part) -> UsageMetadata | None:
    """The tokens spent, where the last part counts them."""
    read, written = last.get("prompt_eval_count"), last.get("eval_count")
    if not isinstance(read, int) or not isinstance(written, int):
        return None
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def _part(line: bytes) -> Part:
    part = orjson.loads(line)
    if not isinstance(part, dict):
        raise ValueError("Ollama sent a line that is no JSON object.")
    if said := part.get("error"):
        raise ResponseError(str(said))
    return part


def _with_headers(response: aiohttp.ClientResponse) -> aiohttp.ClientResponseError:
    """The vendor's error, which has the headers: when to come again may stand there."""
    return aiohttp.ClientResponseError(
        response.request_info, response.history, status=response.status, headers=response.headers
    )

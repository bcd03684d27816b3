"""``ChatOllama`` over a lean wire: LangChain's requests and messages, aiohttp's connections and C parser.

The ollama package reads a reply through httpx line by line and builds a pydantic model for each token; that took a
fifth of a question's processor time (``bench/NOTES.md``). The wire is Ollama's own ``POST /api/chat``, one JSON
object a line, or the one object where ``stream`` is false (ollama.com, "API", "Generate a chat completion").
"""

from __future__ import annotations

import asyncio
import atexit
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import add
from typing import Any, cast
from urllib.request import getproxies, proxy_bypass
from weakref import ref

import aiohttp
import httpx
import orjson
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_ollama import ChatOllama
from ollama import ResponseError
from pydantic import PrivateAttr

from app.providers.per_loop import PerLoop

Part = dict[str, Any]

OF_THE_CLIENT = frozenset({"accept-encoding", "connection"})
"""Headers in which an HTTP client tells what it can do itself."""


class OllamaChat(ChatOllama):
    """A ``ChatOllama`` whose asynchronous calls are cheap; made, and limited in time, by what ``ChatOllama`` takes.

    Calls raise ``ConnectionError``, ``TimeoutError``, ``ollama.ResponseError``, or ``ValueError`` for lines that are no
    JSON.
    """

    _sessions: PerLoop[aiohttp.ClientSession] = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Pydantic's: what the model needs beside its fields. Nothing is contacted."""
        super().model_post_init(context)
        self._sessions = PerLoop(self._connect, lambda session: session.close())

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._sessions.aclose()

    async def areply(self, messages: Sequence[BaseMessage], **options: Any) -> AIMessageChunk:
        """The whole reply to *messages*, for a caller who shows nobody how it comes: asked for, and sent, in one piece.

        No tracer is told of it. *options* are those of ``astream``.
        """
        parts: list[AIMessageChunk] = []
        async for part in self._aiterate_over_stream(list(messages), None, stream=False, **options):
            said = cast(AIMessageChunk, part.message)
            said.response_metadata = {**(part.generation_info or {}), **said.response_metadata}
            parts.append(said)
        return reduce(add, parts) if parts else AIMessageChunk(content="")

    async def _acreate_chat_stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> AsyncIterator[Mapping[str, Any] | str]:
        given = self._chat_params(messages, stop, **kwargs)
        given["messages"] = [{k: v for k, v in message.items() if v or k == "content"} for message in given["messages"]]
        async for part in self._parts({name: value for name, value in given.items() if value is not None}):
            yield part

    async def _parts(self, request: Mapping[str, Any]) -> AsyncIterator[Part]:
        """The lines of the reply to *request* as they come."""
        broken = ""
        try:
            async with self._sessions.client.post("api/chat", data=orjson.dumps(request)) as response:
                if response.status >= 400:
                    said = await response.text(errors="replace")
                    raise ResponseError(said, response.status) from _with_headers(response)
                rest = b""
                while data := await response.content.readany():
                    *lines, rest = (rest + data).split(b"\n")
                    for line in filter(bytes.strip, lines):
                        yield _part(line)
                if rest.strip():
                    yield _part(rest)
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
        proxy = None if proxy_bypass(url.host) else getproxies().get(url.scheme) or getproxies().get("all")
        session = aiohttp.ClientSession(
            str(url),
            connector=aiohttp.TCPConnector(limit=0, ssl=trust),
            headers={name: value for name, value in told.headers.items() if name not in OF_THE_CLIENT},
            proxy=proxy,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=told.timeout.connect, sock_read=told.timeout.read),
        )
        atexit.register(_end, ref(session), asyncio.get_running_loop())
        return session


def _end(session: ref[aiohttp.ClientSession], loop: asyncio.AbstractEventLoop) -> None:
    """Close a session that is still open when the process ends, as with a library nobody closes; else it complains."""
    still = session()
    if still is not None and loop.is_running():
        with suppress(TimeoutError, RuntimeError):
            asyncio.run_coroutine_threadsafe(still.close(), loop).result(1)


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

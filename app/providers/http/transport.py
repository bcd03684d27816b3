"""aiohttp's connections for clients that use httpx: a cancelled request leaves nothing behind.

httpx's own connections (httpcore 1.0.9) are lost when their request is cancelled at certain awaits: they stay open and
count against the pool until no request gets through (encode/httpcore, issues 830, 961 and 1093;
``tests/app/providers/http/test_transport.py`` tells when that is mended). Callers of this service leave all day long.
``httpx-aiohttp`` maps a server that hangs up to a timeout, keeps cookies, and ignores proxies.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from functools import cached_property

import aiohttp
import httpx
from yarl import URL

from app.providers.http.sessions import Sessions, open_session, proxy_for

IDLE_SECONDS = 4.0
"""How long an idle connection is kept: less than the five seconds after which Qdrant, uvicorn and others close theirs,
so that no request is sent into a closing one."""

OF_THE_CLIENT = frozenset({"connection", "transfer-encoding"})
"""Headers of a request that are the connection's own."""

_FAILURES = (aiohttp.ClientError, TimeoutError, OSError)


class AiohttpTransport(httpx.AsyncBaseTransport):
    """What ``httpx.AsyncClient(transport=...)`` takes; a client over it may be used from any number of event loops.

    Requests are sent as httpx made them, and fail with httpx's exceptions; where a connection breaks before the answer,
    aiohttp asks once more, unless it is a POST. Without *kept* no connection outlives its answer, so that there is
    nothing to close.
    """

    def __init__(self, *, kept: bool = True) -> None:
        self._kept = kept
        self._sessions = Sessions(self._open)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response to *request*, its body yet to be read."""
        content = await request.aread()
        session = self._sessions.here if self._kept else self._open()
        limits = request.extensions.get("timeout", {})
        url = request.url.copy_with(username=None, password=None)  # httpx has made a header of them
        try:
            response = await session.request(
                request.method,
                URL(str(url), encoded=True),
                headers=[(name, value) for name, value in request.headers.multi_items() if name not in OF_THE_CLIENT],
                data=content or None,
                allow_redirects=False,
                proxy=proxy_for(url),
                timeout=aiohttp.ClientTimeout(None, sock_connect=limits.get("connect"), sock_read=limits.get("read")),
            )
        except _FAILURES as error:
            failed = as_httpx(error)
        else:
            return httpx.Response(
                response.status, headers=response.raw_headers, stream=_Body(response, limits.get("read"))
            )
        finally:
            if not self._kept:
                session.detach()  # it keeps nothing that would have to be closed
        raise failed  # not from the error, which may carry a status that no server sent

    async def aclose(self) -> None:
        """Close the connections of the running loop; the next request opens new ones."""
        await self._sessions.aclose()

    def _open(self) -> aiohttp.ClientSession:
        return open_session(
            self._trust,
            idle=IDLE_SECONDS if self._kept else 0,
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Content-Type"),
        )

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """The authorities httpx trusts."""
        return httpx.create_ssl_context()


class _Body(httpx.AsyncByteStream):
    """The body of a response as it comes, still encoded; *seconds* limits each read.

    aiohttp 3.14 drops its own limit when a body stops being HTTP in the middle, and its reader would wait for ever.
    """

    def __init__(self, response: aiohttp.ClientResponse, seconds: float | None) -> None:
        self._response = response
        self._seconds = seconds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self._read():
            yield data

    async def aclose(self) -> None:
        self._response.release()  # closes a connection whose answer was not read to its end

    async def _read(self) -> bytes:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._response.content.readany()
        except _FAILURES as error:
            failed = as_httpx(error)
        raise failed


def as_httpx(error: BaseException) -> httpx.TransportError:
    """The exception httpx has for one of aiohttp's."""
    text = str(error)
    match error:
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout(text)
        case TimeoutError():
            return httpx.ReadTimeout(text)
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return httpx.ProxyError(text)
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(text)
        case aiohttp.InvalidURL():
            return httpx.UnsupportedProtocol(text)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError() | aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError(text)
    return httpx.ReadError(text)

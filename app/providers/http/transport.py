"""aiohttp's connections for clients that speak httpx: a request given up leaves nothing behind.

httpx's own connections (httpcore 1.0.9) are lost when their request is cancelled at an unlucky await: they stay open,
belong to nobody, and count against the pool until no request gets through (encode/httpcore, issues 830, 961 and 1093;
``tests/app/providers/http/test_transport.py`` shows it beside ours). Callers of this service leave all day long.
``httpx-aiohttp`` would do it too, but takes a server that hangs up for one that is late, keeps cookies, and knows no
proxies.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import cached_property

import aiohttp
import httpx
from yarl import URL

from app.providers.http.sessions import Sessions, mind_the_end, open_session, proxy_for

IDLE_SECONDS = 4.0
"""How long ``AiohttpTransport`` keeps an idle connection: less than the five seconds after which Qdrant, uvicorn and
others close theirs, so that no request is sent into a closing one."""

OF_THE_CLIENT = frozenset({"connection", "transfer-encoding"})
"""Headers of a request that tell how the client's own connections send it."""

_FAILURES = (aiohttp.ClientError, TimeoutError, OSError)


class AiohttpTransport(httpx.AsyncBaseTransport):
    """What ``httpx.AsyncClient(transport=...)`` takes; a client over it may be used from any number of event loops.

    Requests are sent as httpx made them, and fail with httpx's exceptions; where a connection breaks before the answer,
    aiohttp asks once more, unless it is a POST. ``aclose`` closes the connections of the running loop. Without *kept*
    no connection outlives its answer, so that there is nothing to close.
    """

    def __init__(self, *, kept: bool = True) -> None:
        self._kept = kept
        self._sessions = Sessions(self._open)
        self._proxies: dict[tuple[str, bytes], str | None] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """httpx's: the response to *request*, its body yet to be read."""
        content = await request.aread()
        session = self._sessions.here if self._kept else self._open()
        limits = request.extensions.get("timeout", {})
        try:
            response = await session.request(
                request.method,
                URL(str(_without_userinfo(request.url)), encoded=True),
                headers=[(name, value) for name, value in request.headers.multi_items() if name not in OF_THE_CLIENT],
                data=content or None,
                allow_redirects=False,
                proxy=self._proxy(request.url),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=limits.get("connect"), sock_read=limits.get("read")
                ),
            )
        except _FAILURES as error:
            failed = as_httpx(error)
        else:
            mind_the_end(response)
            return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response))
        finally:
            if not self._kept:
                session.detach()  # it keeps nothing that would have to be closed
        raise failed  # not from the error, which may carry a status that no server sent

    async def aclose(self) -> None:
        """httpx's: close the connections of the running loop; the next request opens new ones."""
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

    def _proxy(self, url: httpx.URL) -> str | None:
        origin = url.scheme, url.netloc
        if origin not in self._proxies:
            self._proxies[origin] = proxy_for(url)
        return self._proxies[origin]


class _Body(httpx.AsyncByteStream):
    """The body of a response as it comes, still encoded."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self._read():
            yield data

    async def aclose(self) -> None:
        self._response.release()  # a connection whose answer was not read to its end is closed by this

    async def _read(self) -> bytes:
        try:
            return await self._response.content.readany()
        except _FAILURES as error:
            failed = as_httpx(error)
        raise failed


def _without_userinfo(url: httpx.URL) -> httpx.URL:
    """httpx has made a header of a name and password in the address, and aiohttp would make another."""
    return url.copy_with(username=None, password=None) if url.userinfo else url


def as_httpx(error: BaseException) -> httpx.TransportError:
    """The exception httpx has for one of aiohttp's."""
    said = str(error)
    match error:
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout(said)
        case TimeoutError():
            return httpx.ReadTimeout(said)
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return httpx.ProxyError(said)
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(said)
        case aiohttp.InvalidURL():
            return httpx.UnsupportedProtocol(said)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError() | aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError(said)
    return httpx.ReadError(said)

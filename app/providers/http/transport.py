"""aiohttp's connections for clients that use httpx: a cancelled request leaves nothing behind.

httpcore 1.0.9 loses connections whose request is cancelled at certain awaits: they count against the pool until no
request gets through (encode/httpcore, issues 830, 961 and 1093; ``tests/app/providers/http/test_transport.py`` tells
when that is fixed). The package ``httpx-aiohttp`` 0.2.0 serves one event loop only and ignores proxies.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from functools import cache
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from yarl import URL

IDLE_SECONDS = 4.0
"""Lifetime of an idle connection: below the five seconds of Qdrant, uvicorn and others, which may be closing theirs."""
OF_THE_CLIENT = frozenset({"connection", "transfer-encoding"})
"""Headers of a request that are the connection's own."""
_FAILURES = (aiohttp.ClientError, TimeoutError, OSError)


class AiohttpTransport(httpx.AsyncBaseTransport):
    """An httpx transport over aiohttp; one client may be used from any number of event loops.

    Requests are sent as httpx made them, and fail with httpx's exceptions; aiohttp retries once when a connection
    breaks before the answer, but no POST.
    """

    def __init__(self) -> None:
        self._connectors: dict[asyncio.AbstractEventLoop, tuple[Connector, AsyncGenerator[Connector]]] = {}
        self._trusted = cache(httpx.create_ssl_context)  # the authorities httpx trusts
        self._proxy_for = cache(proxy_for)  # the environment is read once for each host

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response to *request*, its body yet to be read."""
        content = await request.aread()
        limits = request.extensions.get("timeout", {})
        url = request.url.copy_with(username=None, password=None)  # httpx has made a header of them
        session = aiohttp.ClientSession(
            connector=await self._connector(),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Content-Type"),
        )
        try:
            response = await session.request(
                request.method,
                URL(str(url), encoded=True),
                headers=[(name, value) for name, value in request.headers.multi_items() if name not in OF_THE_CLIENT],
                data=content or None,
                allow_redirects=False,
                proxy=self._proxy_for(url.scheme, url.netloc.decode()),
                timeout=aiohttp.ClientTimeout(None, sock_connect=limits.get("connect"), sock_read=limits.get("read")),
            )
            return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response))
        except _FAILURES as error:
            raise as_httpx(error) from None
        finally:
            session.detach()  # the connector stays open

    async def aclose(self) -> None:
        """Close the connections of the running loop; the next request opens new ones."""
        if opened := self._connectors.pop(asyncio.get_running_loop(), None):
            await opened[1].aclose()

    async def _connector(self) -> "Connector":
        """Return the running loop's connections; command line, library and server each have a loop."""
        for ended in [loop for loop in list(self._connectors) if loop.is_closed()]:
            self._connectors.pop(ended, None)
        loop = asyncio.get_running_loop()
        if loop not in self._connectors:
            opening = self._open()
            self._connectors[loop] = await anext(opening), opening
        return self._connectors[loop][0]

    async def _open(self) -> AsyncGenerator["Connector"]:
        """Yield new connections. A loop that ends, as after ``asyncio.run``, ends its generators: it closes them."""
        connector = Connector(limit=0, ssl=self._trusted(), keepalive_timeout=IDLE_SECONDS)
        try:
            yield connector
        finally:
            await connector.close()


class Connector(aiohttp.TCPConnector):
    """Connections that may stay open at exit without an error in aiohttp's log."""

    def __del__(self, *_: Any) -> None:
        """No-op: Python closes the sockets."""


class _Body(httpx.AsyncByteStream):
    """The body of a response as it comes, still encoded."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while data := await self._response.content.readany():
                yield data
        except _FAILURES as error:
            raise as_httpx(error) from None

    async def aclose(self) -> None:
        self._response.release()  # closes a connection whose answer was not read to its end


def proxy_for(scheme: str, host: str) -> str | None:
    """Return the environment's proxy for a host and port, as urllib reads it."""
    return None if proxy_bypass(host) else getproxies().get(scheme)


_EXCEPTIONS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (TimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.ClientError, httpx.RemoteProtocolError),
    (Exception, httpx.ReadError),
)
"""The first that fits is the exception httpx has for one of aiohttp's."""


def as_httpx(error: Exception) -> httpx.TransportError:
    return next(theirs for ours, theirs in _EXCEPTIONS if isinstance(error, ours))(str(error))

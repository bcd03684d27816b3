"""aiohttp's connections for clients that use httpx: a cancelled request leaves nothing behind.

httpx's own connections (httpcore 1.0.9) are lost when their request is cancelled at certain awaits: they stay open and
count against the pool until no request gets through (encode/httpcore, issues 830, 961 and 1093;
``tests/app/providers/http/test_transport.py`` tells when that is mended). Callers of this service leave all day long.
``httpx-aiohttp`` maps a server that hangs up to a timeout, keeps cookies, and ignores proxies.
"""

from __future__ import annotations

import asyncio
import atexit
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import cached_property
from typing import Any
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import aiohttp
import httpx
from yarl import URL

POLL_SECONDS = 0.5
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
        idle: dict[str, Any] = {"keepalive_timeout": IDLE_SECONDS} if self._kept else {"force_close": True}
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self._trust, **idle),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Content-Type"),
        )

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """The authorities httpx trusts."""
        return httpx.create_ssl_context()


class _Body(httpx.AsyncByteStream):
    """The body of a response as it comes, still encoded; *seconds* limits each read.

    aiohttp 3.14 closes a connection whose body stops being HTTP in the middle, and drops its own time limit with it: so
    each read is interrupted every ``POLL_SECONDS`` to see whether the connection is still there.
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
                while True:
                    try:
                        async with asyncio.timeout(POLL_SECONDS):
                            return await self._response.content.readany()
                    except TimeoutError:
                        if self._broken():
                            raise aiohttp.ClientPayloadError("The connection ended within the body.") from None
        except _FAILURES as error:
            failed = as_httpx(error)
        raise failed

    def _broken(self) -> bool:
        """Whether the connection is closed though the body is not complete."""
        connection = self._response.connection
        return connection is not None and (connection.transport is None or connection.transport.is_closing())


class Sessions:
    """Makes a session for the running loop, with *make*, when it is first needed.

    A session belongs to the loop that opened it; the command line, the library's own thread and a server each run a
    loop of their own over the same providers.
    """

    def __init__(self, make: Callable[[], aiohttp.ClientSession]) -> None:
        self._make = make
        self._made = _OPEN.setdefault(id(self), {})
        _ALL.add(self)

    @property
    def here(self) -> aiohttp.ClientSession:
        """The session of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._discard_ended()
            self._made[loop] = self._make()
        return self._made[loop]

    def __del__(self) -> None:
        self._discard_ended()
        _OPEN.pop(id(self), None)

    async def aclose(self) -> None:
        """Close the session of the running loop; the next use makes a new one."""
        self._discard_ended()
        session = self._made.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    def close_at_exit(self) -> None:
        """Close what is still open when the process ends; aiohttp would log it."""
        self._discard_ended()
        for loop, session in list(self._made.items()):
            if loop.is_running():
                with suppress(TimeoutError, RuntimeError):
                    asyncio.run_coroutine_threadsafe(session.close(), loop).result(1)

    def _discard_ended(self) -> None:
        """Close the sockets of loops that have ended, where nothing can be awaited any more."""
        for loop in [one for one in list(self._made) if one.is_closed()]:
            session = self._made.pop(loop, None)
            connector = session.connector if session is not None else None
            if session is not None and connector is not None:  # else another thread was first
                session.detach()
                with suppress(StopIteration, RuntimeError):
                    connector.close().send(None)  # type: ignore[attr-defined]


_ALL: WeakSet[Sessions] = WeakSet()
_OPEN: dict[int, dict[asyncio.AbstractEventLoop, aiohttp.ClientSession]] = {}
"""By id of its ``Sessions``; held here, so that no session is collected before ``Sessions.__del__`` has closed it."""


@atexit.register
def _close_all() -> None:
    for sessions in list(_ALL):
        sessions.close_at_exit()


def proxy_for(url: httpx.URL) -> str | None:
    """The proxy that the environment names for an address, as httpx and urllib read it."""
    if proxy_bypass(url.host) or proxy_bypass(url.netloc.decode()):
        return None
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    return named if not named or "://" in named else f"http://{named}"


_EXCEPTIONS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (TimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientProxyConnectionError, httpx.ProxyError),
    (aiohttp.ClientHttpProxyError, httpx.ProxyError),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.InvalidURL, httpx.UnsupportedProtocol),
    (aiohttp.ServerDisconnectedError, httpx.RemoteProtocolError),
    (aiohttp.ClientPayloadError, httpx.RemoteProtocolError),
    (aiohttp.ClientResponseError, httpx.RemoteProtocolError),
    (Exception, httpx.ReadError),
)
"""The first that fits is the exception httpx has for one of aiohttp's."""


def as_httpx(error: Exception) -> httpx.TransportError:
    """Return httpx's exception for one of aiohttp's."""
    return next(theirs for ours, theirs in _EXCEPTIONS if isinstance(error, ours))(str(error))

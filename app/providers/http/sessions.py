"""aiohttp's connections, in one session for each event loop: they belong to the loop that opened them.

The command line, the library's own thread and a server each run a loop of their own over the same providers.
"""

from __future__ import annotations

import asyncio
import atexit
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import aiohttp
import httpx


class Sessions:
    """Makes a session for the running loop, with *make*, when it is first asked for."""

    def __init__(self, make: Callable[[], aiohttp.ClientSession]) -> None:
        self._make = make
        self._made: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}
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

    async def aclose(self) -> None:
        """Close the session of the running loop; the next use makes a new one."""
        self._discard_ended()
        session = self._made.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    def close_at_exit(self) -> None:
        """Close what nobody has closed when the process ends; aiohttp would log it."""
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


@atexit.register
def _close_all() -> None:
    for sessions in list(_ALL):
        sessions.close_at_exit()


def open_session(trust: ssl.SSLContext | bool, *, idle: float = 15.0, **options: Any) -> aiohttp.ClientSession:
    """A session of the running loop without a limit of connections or a memory for cookies.

    *trust* is the TLS context, or True for aiohttp's own. A connection is kept for *idle* seconds after its answer; 0
    closes it at once. *options* are those of ``aiohttp.ClientSession``.
    """
    keeping: dict[str, Any] = {"keepalive_timeout": idle} if idle else {"force_close": True}
    connector = aiohttp.TCPConnector(limit=0, ssl=trust, **keeping)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), **options)


def proxy_for(url: httpx.URL) -> str | None:
    """The proxy that the environment names for an address, as httpx and urllib read it."""
    if proxy_bypass(url.host) or proxy_bypass(url.netloc.decode()):
        return None
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    return named if not named or "://" in named else f"http://{named}"


def mind_the_end(response: aiohttp.ClientResponse) -> None:
    """Have the reader of a body told when the connection ends before the body does.

    aiohttp 3.14 tells of a body that is cut off, and not of one that stops being HTTP in the middle: it closes such a
    connection, and its reader waits for ever, for the limit of a read is taken off with it.
    """
    connection = response.connection
    if connection is None or connection.protocol is None:  # the whole body is here
        return
    content, closed = response.content, connection.protocol.closed
    broken = aiohttp.ClientPayloadError("The connection ended within the body.")
    if closed is None:  # it has ended already
        if not content.is_eof() and content.exception() is None:
            content.set_exception(broken)
        return

    def ended(closing: asyncio.Future[None]) -> None:
        _seen(closing)
        if not content.is_eof() and content.exception() is None:
            content.set_exception(broken)

    def whole() -> None:
        for done in (ended, _seen):
            closed.remove_done_callback(done)
        closed.add_done_callback(_seen)

    closed.add_done_callback(ended)
    content.on_eof(whole)


def _seen(closing: asyncio.Future[None]) -> None:
    """Take note of how a connection ended, of which asyncio would complain else."""
    if not closing.cancelled():
        closing.exception()

"""aiohttp's connections to one server, in a session for each event loop: they belong to the loop that opened them.

The command line, the library's own thread and a server each run a loop of their own over the same parts.
"""

from __future__ import annotations

import asyncio
import atexit
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.request import getproxies, proxy_bypass
from weakref import ref

import aiohttp
import httpx

UNTAKEN_SECONDS = 30.0
"""How long the system keeps a connection whose other side takes nothing of what was sent (tcp(7), TCP_USER_TIMEOUT)."""

LONGEST_HEADER = 64 * 1024
"""Bytes of the longest line and header of an answer; httpx takes a little more of all of them together."""


class Sessions:
    """Makes a session for the running loop, with *make*, when it is first asked for."""

    def __init__(self, make: Callable[[], aiohttp.ClientSession]) -> None:
        self._make = make
        self._made: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}
        self._at_exit = partial(_end, ref(self))

    @property
    def here(self) -> aiohttp.ClientSession:
        """The session of the running loop."""
        loop = asyncio.get_running_loop()
        found = self._made.get(loop)
        if found is None:
            self._forget_ended()
            found = self._made[loop] = self._make()
            # Registered anew, to come before whatever ends this loop: what is registered last is done first.
            atexit.unregister(self._at_exit)
            atexit.register(self._at_exit)
        return found

    def __del__(self) -> None:
        self._forget_ended()

    async def aclose(self) -> None:
        """Close the session of the running loop; the next use makes a new one."""
        self._forget_ended()
        session = self._made.pop(asyncio.get_running_loop(), None)
        if not self._made:
            atexit.unregister(self._at_exit)
        if session is not None:
            await session.close()

    def end(self) -> None:
        """Close what nobody has closed when the process ends, as with a library left open; aiohttp would complain."""
        self._forget_ended()
        for loop, session in list(self._made.items()):
            if loop.is_running():
                with suppress(TimeoutError, RuntimeError):
                    asyncio.run_coroutine_threadsafe(session.close(), loop).result(1)

    def _forget_ended(self) -> None:
        for loop in [one for one in list(self._made) if one.is_closed()]:
            session = self._made.pop(loop, None)
            if session is None:  # another thread was first
                continue
            connector = session.connector
            session.detach()  # nothing can be awaited there any more, and its sockets go with it
            if connector is not None:
                with suppress(StopIteration, RuntimeError):
                    connector.close().send(None)  # type: ignore[attr-defined]


def open_session(trust: ssl.SSLContext | bool, *, idle: float = 15.0, **options: Any) -> aiohttp.ClientSession:
    """A session of the running loop without a limit of connections or a memory for cookies.

    *trust* is the TLS context, or True for aiohttp's own. A connection is kept for *idle* seconds after its answer; 0
    closes it at once. *options* are those of ``aiohttp.ClientSession``.
    """
    keeping: dict[str, Any] = {"keepalive_timeout": idle} if idle else {"force_close": True}
    connector = aiohttp.TCPConnector(limit=0, ssl=trust, socket_factory=_socket, **keeping)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
        **options,
    )


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


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket that is given up where the other side takes nothing for ``UNTAKEN_SECONDS``.

    One that is closed before all was sent, for a request that was given up, would wait for that without end.
    """
    made = socket.socket(*address[:3])
    if hasattr(socket, "TCP_USER_TIMEOUT") and address[0] in (socket.AF_INET, socket.AF_INET6):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNTAKEN_SECONDS * 1000))
    return made


def _end(sessions: ref[Sessions]) -> None:
    still = sessions()
    if still is not None:
        still.end()

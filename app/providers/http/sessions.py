"""Fail the reader of a body at once when its connection ends, for clients that use aiohttp directly."""

from __future__ import annotations

import asyncio

import aiohttp

from app.providers.http.transport import Sessions, open_session, proxy_for

__all__ = ["Sessions", "mind_the_end", "open_session", "proxy_for"]


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

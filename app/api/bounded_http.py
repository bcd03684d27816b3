"""HTTP/1.1 as uvicorn reads it, with bounds on what a client may make us hold and wait for.

uvicorn's fast parser takes any number of headers of any length. uvicorn waits for ever for a request's end, and for
a client to take what was sent, which then holds the place of its question. Refusals made here, before there is a
request, carry the one error body too.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api.errors import BY_STATUS, body
from app.ops.request_id import new_request_id

MAX_HEAD = 64 * 1024
"""Longest request line and headers together, in bytes. A query of 2000 characters, percent-encoded, takes 24 kB."""

MAX_HEADERS = 100
"""Most headers of one request."""


class BoundedHttp(HttpToolsProtocol):
    """One connection. ``read_seconds`` are from its opening, or from a request's first byte, to that request's end.

    As long a client may take nothing of an answer while there is more of it than the system's buffers hold.
    """

    read_seconds: ClassVar[float] = 20.0

    _head = 0
    _in_head = True
    _refusal: tuple[int, str] | None = None
    _timer: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._taken()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._taken()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > MAX_HEAD and not self.transport.is_closing():
            self._refuse(431, f"The request's headers are longer than {MAX_HEAD} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        self._disarm()
        self._arm()

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        self._in_head, self._head = False, 0
        if len(self.headers) > MAX_HEADERS or size > MAX_HEAD:
            self._refusal = (431, f"A request may have {MAX_HEADERS} headers, and {MAX_HEAD} bytes of them.")
            raise ValueError  # the parser stops, and uvicorn asks for the answer to an invalid request
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._disarm()
        self._in_head = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What uvicorn answers to what is no HTTP; here too with the one body."""
        self._refuse(*(self._refusal or (400, "This is not a valid HTTP request.")))

    def _arm(self) -> None:
        self._timer = self.loop.call_later(self.read_seconds, self._late)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self, left: int) -> None:
        self._untaken = self.loop.call_later(self.read_seconds, self._untaken_still, left)

    def _untaken_still(self, before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._watch(left)
        else:
            self.transport.abort()

    def _taken(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def _late(self) -> None:
        """The request did not come whole in time. While we ourselves do not read on, that is not the client's doing."""
        self._timer = None
        if self.transport.is_closing():
            return
        if self.flow.read_paused:
            self._arm()
        elif self._in_head and self._head:
            self._refuse(408, f"The request did not arrive within {self.read_seconds:g} s.")
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        self._disarm()
        content = orjson.dumps(body(BY_STATUS[status], message))
        lines = [
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            "content-type: application/json",
            f"content-length: {len(content)}",
            f"x-request-id: {new_request_id()}",
            "connection: close",
        ]
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        self.transport.close()


def bounded_http(read_seconds: float) -> type[Any]:
    """The protocol class with that time limit; uvicorn makes one of it for every connection."""
    return type("BoundedHttp", (BoundedHttp,), {"read_seconds": read_seconds})

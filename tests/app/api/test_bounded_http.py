"""What a client may make the server hold and wait for, over real sockets."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from app.api.bounded_http import MAX_HEAD, MAX_HEADERS
from app.settings import load_settings
from tests.support.two_facts import serve_here


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers how many bytes the body had."""
    if scope["type"] != "http":
        return
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(str(size)))]})
    await send({"type": "http.response.body", "body": str(size).encode()})


class Endless:
    """Answers without end, until the client is gone."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        await receive()
        left = asyncio.ensure_future(receive())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not left.done():
            self.begun.set()
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
        self.ended.set()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server that gives a request half a second."""
    with serve_here(echo, load_settings(read_timeout_seconds=0.5)) as address:
        yield int(address.rpartition(":")[2])


def said(port: int, *pieces: bytes) -> tuple[int, dict[str, Any]]:
    """Send *pieces*, and read until the server closes: status (0 for none) and the JSON body."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        try:
            for piece in pieces:
                client.sendall(piece)
            received = b"".join(iter(lambda: client.recv(65536), b""))
        except ConnectionError:
            received = b""
    head, _, content = received.partition(b"\r\n\r\n")
    if not head:
        return 0, {}
    assert b"x-request-id: req_" in head
    return int(head.split()[1]), json.loads(content)


def test_many_requests_on_one_connection_are_served(port: int) -> None:
    """Bounds are counted for each request anew: a connection lives as long as its requests come whole."""
    request = b"POST / HTTP/1.1\r\nHost: h\r\nX-Long: " + b"a" * (MAX_HEAD // 2) + b"\r\nContent-Length: 2\r\n\r\nab"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        for _ in range(5):
            client.sendall(request)
            answer = client.recv(65536)
            while not answer.endswith(b"\r\n\r\n2"):
                answer += client.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + b"a" * MAX_HEAD + b"\r\n\r\n"],
        [b"GET / HTTP/1.1\r\nHost: h\r\nX-Long: ", *[b"a" * 8192] * 9],
        [b"GET /?" + b"a" * MAX_HEAD],
        [b"GET / HTTP/1.1\r\nHost: h\r\n", *[b"X-%d: 1\r\n" % n for n in range(MAX_HEADERS)], b"\r\n"],
    ],
    ids=["one header", "a header without end", "a line without end", "many headers"],
)
def test_headers_are_bounded(port: int, pieces: list[bytes]) -> None:
    """Too long or too many headers: 431 in the one error body, or the connection is closed; never an answer."""
    status, body = said(port, *pieces)
    assert status in (0, 431)
    if body:
        assert (body["error"], set(body)) == ("HEADERS_TOO_LARGE", {"error", "message", "details"})


def test_what_is_no_http_is_told_so(port: int) -> None:
    """An invalid request is 400 in the one error body."""
    status, body = said(port, b"\x16\x03\x01\x02\x00nonsense\r\n\r\n")
    assert (status, body["error"]) == (400, "VALIDATION_ERROR")


def test_a_request_that_never_ends_is_not_waited_for(port: int) -> None:
    """Headers that do not end in time are 408."""
    status, body = said(port, b"GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ")
    assert (status, body["error"]) == (408, "REQUEST_TIMEOUT")


@pytest.mark.parametrize("sent", [b"", b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nab"])
def test_silence_closes_the_connection(port: int, sent: bytes) -> None:
    """So does a connection on which nothing comes, and a body that stops half-way."""
    assert said(port, *[sent] if sent else []) == (0, {})


def test_a_client_that_takes_nothing_is_not_waited_for() -> None:
    """Who asks and never reads is cut off, so that the work for it ends."""
    app = Endless()
    with (
        serve_here(app, load_settings(read_timeout_seconds=0.5)) as address,
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=30) as client,
    ):
        client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert app.begun.wait(20)
        assert app.ended.wait(20)


class Large:
    """Answers with more than any buffer holds, in one piece."""

    size = 16 << 20

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await receive()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": bytes(self.size)})


def test_a_client_that_reads_slowly_is_waited_for() -> None:
    """Whoever takes something in each half second gets all of it, however many of them that takes."""
    with (
        serve_here(Large(), load_settings(read_timeout_seconds=0.5)) as address,
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=30) as client,
    ):
        client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        took = 0
        while data := client.recv(1 << 18):
            took += len(data)
            time.sleep(0.02)  # the slow client
        assert took > Large.size

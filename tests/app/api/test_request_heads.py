"""Request heads over real sockets: bounded, and answered with the one error body where they are no HTTP."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.api.middleware import MAX_BODY
from app.api.server import MAX_HEADER_BYTES
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


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server of that application."""
    with serve_here(echo) as address:
        yield int(address.rpartition(":")[2])


def reported(port: int, *pieces: bytes) -> tuple[int, dict[str, Any]]:
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
    request = (
        b"POST / HTTP/1.1\r\nHost: h\r\nX-Long: " + b"a" * (MAX_HEADER_BYTES // 2) + b"\r\nContent-Length: 2\r\n\r\nab"
    )
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
        [b"GET / HTTP/1.1\r\nHost: h\r\nX-Long: ", *[b"a" * 8192] * 9],
        [b"GET /?" + b"a" * (MAX_HEADER_BYTES + 1)],
        [b"GET / HTTP/1.1\r\nHost: h\r\n", *[b"X-%d: 1\r\n" % n for n in range(10_000)]],
    ],
    ids=["a header without end", "a line without end", "many headers"],
)
def test_headers_are_bounded(port: int, pieces: list[bytes]) -> None:
    """Too long headers are 400 in the one error body, or the connection is closed; never waited for."""
    status, body = reported(port, *pieces)
    assert status in (0, 400)
    if body:
        assert (body["error"], set(body)) == ("VALIDATION_ERROR", {"error", "message", "details"})


def test_a_body_too_large_is_refused_before_it_is_sent(http: httpx.Client) -> None:
    """A client that waits for ``100 Continue`` is told 413 from the length that it announces."""
    head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {MAX_BODY + 1}\r\nExpect: 100-continue\r\n\r\n"
    status, body = reported(http.base_url.port or 0, head.encode())
    assert (status, body["error"]) == (413, "PAYLOAD_TOO_LARGE")


def test_what_is_no_http_is_refused(port: int) -> None:
    """An invalid request is 400 in the one error body."""
    status, body = reported(port, b"\x16\x03\x01\x02\x00nonsense\r\n\r\n")
    assert (status, body["error"]) == (400, "VALIDATION_ERROR")

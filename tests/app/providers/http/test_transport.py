"""httpx over aiohttp: the same requests, answers and failures, and no leaked connection."""

from __future__ import annotations

import asyncio
import gc
import gzip
import weakref
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest

from app.providers.http.error_mapping import ErrorInfo, classify_error
from app.providers.http.transport import AiohttpTransport
from tests.peers import Fault as PeerFault
from tests.peers.http_peer import HttpPeer
from tests.peers.wire import FaultKind, Hangup, Received, Reply

ANSWER = b'{"said": "Grass is green."}'


class Echo(HttpPeer):
    """Answers everything with ``ANSWER``: packed, or as a stream, where the path asks for it."""

    async def respond(self, request: Received) -> Reply:
        match request.path.partition("?")[0]:
            case "/packed":
                return Reply(gzip.compress(ANSWER), headers={"Content-Encoding": "gzip"})
            case "/stream":
                return Reply(self._pieces())
            case "/away":
                return Reply(b"", 307, headers={"Location": "/packed"})
        return Reply(ANSWER)

    async def _pieces(self) -> AsyncIterator[bytes]:
        yield ANSWER[:7]
        if self._streaming == "drop":
            raise Hangup
        yield ANSWER[7:]


@pytest.fixture
def peer() -> Iterator[Echo]:
    with Echo() as started:
        yield started


def ours(url: str, seconds: float = 20.0) -> httpx.AsyncClient:
    """A client over the transport under test."""
    return httpx.AsyncClient(base_url=url, timeout=seconds, follow_redirects=True, transport=AiohttpTransport())


def theirs(url: str, seconds: float = 20.0) -> httpx.AsyncClient:
    """A client over httpx's own."""
    return httpx.AsyncClient(base_url=url, timeout=seconds, follow_redirects=True)


class Counting:
    """A server that keeps connections, answers each request in two pieces, and counts what is open."""

    def __init__(self) -> None:
        self.open = self.accepted = 0
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Counting]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield self
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.accepted += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")
                await asyncio.sleep(0)
                writer.write(b"}")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def closes_down_to(self, count: int) -> bool:
        """Whether no more than *count* stay open, once the loop has had time to see what was closed."""
        for _ in range(2000):
            if self.open <= count:
                return True
            await asyncio.sleep(0.001)
        return False


async def give_up_everywhere(client: httpx.AsyncClient, steps: int = 40) -> None:
    """Requests that are cancelled before the first, second, ... step of the loop, each once and twice in a row."""
    for times in (1, 2):
        for step in range(steps):
            asking = asyncio.ensure_future(client.get("/"))
            for _ in range(step):
                await asyncio.sleep(0)
            for _ in range(times):
                asking.cancel()
                await asyncio.sleep(0)
            await asyncio.gather(asking, return_exceptions=True)


async def test_a_request_given_up_leaves_no_connection() -> None:
    """Wherever a request is cancelled, its connection is closed or kept for the next; one is all that stays."""
    async with Counting().serving() as server, ours(server.url) as client:
        await give_up_everywhere(client)
        assert (await client.get("/")).text == "{}"
        assert await server.closes_down_to(1)


async def test_httpx_alone_would_lose_them() -> None:
    """What this is for: httpx's own connections stay taken. Once this fails, httpx's are as good as these."""
    async with Counting().serving() as server, theirs(server.url) as client:
        await give_up_everywhere(client)
        assert (await client.get("/")).text == "{}"
        assert "0 active" not in repr(client._transport._pool).rpartition("|")[2]  # type: ignore[attr-defined]


async def test_connections_are_kept() -> None:
    """One connection carries one question after another, and is closed with the client."""
    async with Counting().serving() as server:
        async with ours(server.url) as client:
            for _ in range(5):
                await client.get("/")
            assert (server.accepted, server.open) == (1, 1)
        assert await server.closes_down_to(0)


def test_a_loop_that_ends_closes_its_connections(peer: Echo) -> None:
    """The client need not be closed: an open socket would be a warning, which is an error here."""
    client = ours(peer.url)

    async def ask() -> bytes:
        async with Counting().serving() as server:
            answer = (await client.get(server.url)).content
            assert server.open == 1
            return answer

    assert [asyncio.run(ask()) for _ in range(2)] == [b"{}"] * 2
    gc.collect()


def test_one_client_serves_several_loops(peer: Echo) -> None:
    """A loop that has ended takes nothing with it that the next one needs, and is let go."""
    client = ours(peer.url)
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def ask() -> bytes:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        return (await client.get("/")).content

    assert [asyncio.run(ask()) for _ in range(3)] == [ANSWER] * 3
    gc.collect()
    assert sum(loop() is not None for loop in loops) <= 1
    asyncio.run(client.aclose())


async def test_requests_are_httpx_own(peer: Echo) -> None:
    """Method, address to the last escape, body and headers arrive as httpx alone would send them."""
    for client in (theirs(peer.url), ours(peer.url)):
        async with client:
            await client.post("/a%2Fb/ü?q=a%20b&q=+", json={"text": "“grass”"}, headers={"X-Team": "g"})
            await client.get("/plain")
            await client.post("/empty")
            await client.delete("/gone", headers={"Accept": "text/plain"})
    alone, over = peer.requests[:4], peer.requests[4:]
    for first, second in zip(alone, over, strict=True):
        assert (second.method, second.path, second.body) == (first.method, first.path, first.body)
        assert _metadata_of(second) == _metadata_of(first)


def _metadata_of(request: Received) -> dict[str, str]:
    """What the headers say, but for those of the connection, and that there is no body."""
    reported = {name: value for name, value in request.headers.items() if name != "connection"}
    return {name: value for name, value in reported.items() if (name, value) != ("content-length", "0")}


@pytest.mark.parametrize("path", ["/plain", "/packed", "/stream", "/away"])
async def test_answers_are_httpx_own(peer: Echo, path: str) -> None:
    """Bodies that are packed, streamed, or behind a redirect are read; so are the headers, name by name."""
    async with theirs(peer.url) as alone, ours(peer.url) as client:
        first, second = await alone.get(path), await client.get(path)
    assert (second.status_code, second.content) == (first.status_code, first.content) == (200, ANSWER)
    assert second.headers.multi_items() == first.headers.multi_items()


@pytest.mark.parametrize("kind", ["hangup", "silence", "drop", "refuse"])
async def test_failures_are_httpx_own(peer: Echo, kind: FaultKind) -> None:
    """Every reader of the failure gets the same fault, and no status that no server sent."""
    if kind == "refuse":
        peer.refuse()
    else:
        peer.fault = PeerFault(kind)
    alone, over = await failures(peer.url, 0.3 if kind == "silence" else 20.0)
    assert over == alone
    assert over.kind == ("late" if kind == "silence" else "unreachable")


async def test_who_speaks_no_http_is_not_reached() -> None:
    """Another service on the port is no server that refused: there is no status in it."""

    async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-garden 200 OK\r\n\r\n\x00\xff")
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        alone, over = await failures(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert over == alone == ErrorInfo("unreachable")


async def failures(url: str, seconds: float = 20.0) -> list[ErrorInfo]:
    """What a request fails with, over httpx alone and over the transport."""
    faults = []
    for client in (theirs(url, seconds), ours(url, seconds)):
        async with client:
            with pytest.raises(httpx.TransportError) as caught:
                await client.get("/stream")
            faults.append(classify_error(caught.value))
    return faults


@pytest.mark.parametrize("excepted", ["127.0.0.1", "127.0.0.1:{port}"])
async def test_the_environments_proxy_is_used(peer: Echo, monkeypatch: pytest.MonkeyPatch, excepted: str) -> None:
    """``HTTP_PROXY``, and ``NO_PROXY`` with a port or without, hold as with httpx alone."""
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{peer.port}")
    monkeypatch.setenv("no_proxy", excepted.format(port=peer.port))
    for make in (theirs, ours):
        peer.requests.clear()
        async with make("http://garden.invalid") as client:
            assert (await client.get("/plain?q=1")).content == ANSWER
        async with make(peer.url) as client:
            await client.get("/plain")
        assert [request.path for request in peer.requests] == ["http://garden.invalid/plain?q=1", "/plain"]


async def test_a_name_and_password_in_the_address_are_sent(peer: Echo) -> None:
    """They go as httpx sends them, in one header."""
    for make in (theirs, ours):
        async with make(peer.url.replace("//", "//us%20er:pass@")) as client:
            await client.get("/plain")
    first, second = peer.requests
    assert second.headers["authorization"] == first.headers["authorization"]


async def test_a_body_that_is_made_on_the_way_is_sent_whole(peer: Echo) -> None:
    """A body of unknown length arrives, with one header that says how long it is."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"text": '
        yield b'"grass"}'

    async with ours(peer.url) as client:
        await client.post("/plain", content=pieces())
    assert peer.requests[0].body == {"text": "grass"}
    assert "transfer-encoding" not in peer.requests[0].headers


async def test_who_stops_reading_hangs_up(peer: Echo) -> None:
    """A stream that is left in the middle closes its connection."""
    async with ours(peer.url) as client:
        async with client.stream("GET", "/stream") as response:
            async for _ in response.aiter_raw():
                break
        assert await asyncio.to_thread(peer.wait_until, lambda: peer.connections == 0)

"""The lean wire to Ollama: what it says is what the ollama package says, and what it hears is told the same way."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage
from langchain_ollama import ChatOllama
from ollama import ResponseError

from app.providers.chat.ollama import OllamaChat
from app.providers.http.error_mapping import fault_of
from tests.peers import Fault, OllamaPeer
from tests.peers.broken_http import stops_being_http

MESSAGES = [SystemMessage("Be brief."), HumanMessage("What is grass?")]
OPTIONS: dict[str, Any] = {"options": {"temperature": 0.1, "num_predict": 30, "num_ctx": 4096}}
MODEL = "llama3.2:1b"
ANSWER = "Grass is green, says “A” – and wet."


def lean(url: str, seconds: float = 5.0, **more: Any) -> OllamaChat:
    """The model under test."""
    return OllamaChat(model=MODEL, base_url=url, reasoning=False, client_kwargs={"timeout": seconds, **more})


async def pieces(model: ChatOllama, **options: Any) -> list[AIMessageChunk]:
    """Every piece of one reply."""
    return [piece async for piece in model.astream(MESSAGES, **OPTIONS, **options)]


@asynccontextmanager
async def answering(data: list[bytes]) -> AsyncIterator[OllamaChat]:
    """The model under test before a server that sends *data*."""
    runner = await Keeping(data).serve()
    model = lean(f"http://127.0.0.1:{runner.addresses[0][1]}/prefix")
    yield model
    await model.aclose()
    await runner.cleanup()


@pytest.fixture
async def model(ollama_peer: OllamaPeer) -> AsyncIterator[OllamaChat]:
    made = lean(ollama_peer.url)
    yield made
    await made.aclose()


async def test_asks_what_the_vendors_package_asks(model: OllamaChat, ollama_peer: OllamaPeer) -> None:
    """The request is the ollama package's own: the same members with the same values, and the same headers."""
    theirs = ChatOllama(
        model=MODEL, base_url=ollama_peer.url, reasoning=False, client_kwargs={"headers": {"X-Team": "g"}}
    )
    ours = lean(ollama_peer.url, headers={"X-Team": "g"})
    await pieces(theirs)
    await pieces(ours)
    await ours.aclose()
    first, second = ollama_peer.asked("/api/chat")
    assert second.body == {name: value for name, value in first.body.items() if value != []}
    for name in ("content-type", "accept", "user-agent", "x-team"):
        assert second.headers[name] == first.headers[name]


async def test_hears_what_the_vendors_package_hears(model: OllamaChat, ollama_peer: OllamaPeer) -> None:
    """Text, the reason of the end, and the tokens spent are those that ``ChatOllama`` tells."""
    ollama_peer.answers = [ANSWER, ANSWER]
    theirs = await pieces(ChatOllama(model=MODEL, base_url=ollama_peer.url, reasoning=False))
    ours = await pieces(model)
    whole, other = sum(ours[1:], ours[0]), sum(theirs[1:], theirs[0])
    assert whole.text == other.text == ANSWER
    assert whole.usage_metadata == other.usage_metadata
    assert whole.response_metadata == {k: v for k, v in other.response_metadata.items() if v is not None}


async def test_a_reply_at_once_is_what_the_stream_brings(model: OllamaChat, ollama_peer: OllamaPeer) -> None:
    """It is asked for in one piece, with all that a stream is asked for; text, end and tokens are the same."""
    ollama_peer.answers = [ANSWER, ANSWER]
    streamed = await pieces(model)
    at_once = await model.areply(MESSAGES, **OPTIONS)
    first, second = ollama_peer.asked("/api/chat")
    assert second.body == {**first.body, "stream": False}
    whole = sum(streamed[1:], streamed[0])
    assert at_once.text == ANSWER
    assert (at_once.usage_metadata, at_once.response_metadata) == (whole.usage_metadata, whole.response_metadata)


async def test_a_server_that_streams_all_the_same_is_understood() -> None:
    """A reply that comes in parts, though nobody asked for parts, is put together."""
    async with answering([line("Grass "), line("is green."), line("", done=True, done_reason="stop")]) as model:
        said = await model.areply(MESSAGES)
        assert (said.text, said.response_metadata["done_reason"]) == ("Grass is green.", "stop")


async def test_a_model_that_is_loaded_again_takes_no_word_back() -> None:
    """A part that only tells of loading the model is neither text nor the reply's end."""
    loading = line("", done=True, done_reason="load")
    async with answering([loading, line("Grass."), line("", done=True, done_reason="stop"), loading]) as model:
        said = await model.areply(MESSAGES)
        assert (said.text, said.response_metadata["done_reason"]) == ("Grass.", "stop")


async def test_a_reply_of_nothing_is_empty() -> None:
    """A server that closes without a word has given no reason for its end, and so is one that broke off."""
    async with answering([]) as model:
        said = await model.areply(MESSAGES)
        assert (said.text, said.response_metadata) == ("", {})


@pytest.mark.parametrize("message", [{"content": 7}, {"content": None}, {"content": ["Grass"]}, None, "Grass", [], 5])
async def test_a_message_that_is_no_text_is_an_error(message: Any) -> None:
    """What a server sends in the place of text is neither shown nor taken for an empty answer."""
    async with answering([json.dumps({"message": message, "done": True, "done_reason": "stop"}).encode()]) as model:
        with pytest.raises(ValueError, match="no text"):
            await model.areply(MESSAGES)


async def test_who_gives_up_on_a_reply_hangs_up(model: OllamaChat, ollama_peer: OllamaPeer) -> None:
    """Cancelling the call closes the connection, so that the server stops writing."""
    ollama_peer.fault = Fault("drip")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await model.areply(MESSAGES)
    assert await asyncio.to_thread(ollama_peer.wait_until, lambda: ollama_peer.hung_up == 1)


async def test_the_base_class_calls_go_the_same_way(model: OllamaChat, ollama_peer: OllamaPeer) -> None:
    """``ainvoke`` and the plain ``invoke`` give the reply too."""
    ollama_peer.answers = [ANSWER, ANSWER]
    assert (await model.ainvoke(MESSAGES)).text == ANSWER
    assert (await asyncio.to_thread(model.invoke, MESSAGES)).text == ANSWER


@pytest.mark.parametrize(
    ("fault", "kind", "retry_after"),
    [
        (Fault("status", 404), "missing", None),
        (Fault("status", 401), "unauthorized", None),
        (Fault("status", 429, retry_after="7"), "limited", 7.0),
        (Fault("status", 503), "broken", None),
        (Fault("hangup"), "unreachable", None),
        (Fault("drop"), "unreachable", None),
        (Fault("silence"), "late", None),
        (Fault("garbage"), "unknown", None),
        (Fault("error_event"), "unknown", None),
    ],
    ids=lambda value: getattr(value, "kind", None) and f"{value.kind}-{value.status}",
)
@pytest.mark.parametrize("at_once", [False, True])
async def test_failures_are_read_as_what_they_are(
    ollama_peer: OllamaPeer, fault: Fault, kind: str, retry_after: float | None, at_once: bool
) -> None:
    """Every fault of the wire is one that ``fault_of`` names, with the time the server asked for."""
    if at_once and fault.kind == "error_event":
        kind = "broken"  # with no stream to be told in, it is a status
    ollama_peer.fault, ollama_peer.answers = fault, [ANSWER]
    model = lean(ollama_peer.url, seconds=0.3 if fault.kind == "silence" else 20)
    with pytest.raises(Exception) as caught:
        await (model.areply(MESSAGES) if at_once else pieces(model))
    found = fault_of(caught.value)
    assert (found.kind, found.retry_after) == (kind, retry_after)
    await model.aclose()


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    """A refused connection is what ``fault_of`` calls unreachable, and may be tried again."""
    model = lean("http://127.0.0.1:1")
    with pytest.raises(ConnectionError) as caught:
        await pieces(model)
    assert fault_of(caught.value).transient
    await model.aclose()


async def test_tls_is_spoken_as_the_caller_says() -> None:
    """With ``verify`` in ``client_kwargs``, as the ollama package takes it, that very context greets the server."""
    greeted: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greeted.set_result(await reader.read(4096))
        writer.close()

    context = ssl.create_default_context()
    context.set_alpn_protocols(["a-garden"])  # what a client can do stands in the open in its first words
    async with await asyncio.start_server(hang_up, "127.0.0.1") as server:
        model = lean(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", verify=context)
        with pytest.raises(ConnectionError):
            await pieces(model)
        await model.aclose()
    assert b"a-garden" in await greeted


async def test_who_stops_listening_hangs_up(model: OllamaChat, ollama_peer: OllamaPeer) -> None:
    """Closing the stream closes the connection, so that the server stops writing."""
    ollama_peer.fault = Fault("drip")
    stream = model.astream(MESSAGES, **OPTIONS)
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    assert await asyncio.to_thread(ollama_peer.wait_until, lambda: ollama_peer.hung_up == 1)


def test_every_loop_has_connections_of_its_own(ollama_peer: OllamaPeer) -> None:
    """One model serves one event loop after another."""
    model = lean(ollama_peer.url)
    ollama_peer.answers = [ANSWER, ANSWER]

    async def ask() -> str:
        try:
            return (await model.ainvoke(MESSAGES)).text
        finally:
            await model.aclose()

    assert [asyncio.run(ask()), asyncio.run(ask())] == [ANSWER, ANSWER]


def test_a_process_that_closes_nothing_ends_in_silence() -> None:
    """A library's user may never close it: what is still open at the end is closed, and nobody is told of it."""
    code = """
import asyncio, sys
from aiohttp import web
from app.providers.chat.ollama import OllamaChat
from app.library.sync_bridge import LoopThread

async def chat(request):
    return web.Response(body=b'{"message": {"content": "Yes."}, "done": true, "done_reason": "stop"}\\n')

async def serve():
    app = web.Application()
    app.router.add_post("/api/chat", chat)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner.addresses[0][1]

loop = LoopThread()
model = OllamaChat(model="m", base_url=f"http://127.0.0.1:{loop.run(serve())}")
print(loop.run(model.ainvoke("?")).text)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("Yes.\n", "")


class Keeping:
    """An Ollama, below ``/prefix``, that keeps its connections, and sends *data* as its reply, cut anywhere."""

    def __init__(self, data: list[bytes]) -> None:
        self.data = data
        self.clients: list[Any] = []

    async def chat(self, request: web.Request) -> web.StreamResponse:
        assert request.transport
        self.clients.append(request.transport.get_extra_info("peername"))
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        for piece in self.data:
            await response.write(piece)
            await asyncio.sleep(0)
        return response

    async def serve(self, port: int = 0) -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/prefix/api/chat", self.chat)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        return runner


def line(text: str, **more: Any) -> bytes:
    """One line of a reply."""
    said = {"model": MODEL, "message": {"role": "assistant", "content": text}, "done": False, **more}
    return json.dumps(said, ensure_ascii=False).encode() + b"\r\n"


async def test_connections_are_kept_and_replaced() -> None:
    """Calls in a row share a connection; when the server comes up anew, the next call finds it."""
    server = Keeping([line("Yes."), line("", done=True, done_reason="stop")])
    runner = await server.serve()
    port = runner.addresses[0][1]
    model = lean(f"http://127.0.0.1:{port}/prefix")
    for _ in range(3):
        assert (await model.ainvoke(MESSAGES)).text == "Yes."
    assert len(set(server.clients)) == 1
    await runner.cleanup()
    runner = await server.serve(port)
    assert (await model.ainvoke(MESSAGES)).text == "Yes."
    assert len(set(server.clients)) == 2
    await model.aclose()
    await runner.cleanup()


@pytest.mark.parametrize("size", [1, 7, 4096])
async def test_lines_end_at_line_feeds_alone(size: int) -> None:
    """However the bytes are cut, inside a letter too, and with separators of Unicode inside, lines stay whole."""
    said = "One\u2028two\u0085three – ü, and no end of line."
    data = line(said) + line("", done=True, done_reason="stop").rstrip()
    async with answering([data[at : at + size] for at in range(0, len(data), size)]) as model:
        assert (await model.ainvoke(MESSAGES)).text == said


@pytest.mark.parametrize(("status", "kind"), [(200, "unreachable"), (500, "broken")])
async def test_a_reply_that_stops_being_http_is_not_waited_for(status: int, kind: str) -> None:
    """Neither a reply nor an error that breaks the protocol in its middle holds anybody up; a status is still told."""
    async with stops_being_http(status) as url, asyncio.timeout(30):
        model = lean(url, seconds=60)
        with pytest.raises((ConnectionError, ResponseError)) as caught:
            await model.areply(MESSAGES)
        assert fault_of(caught.value).kind == kind
    await model.aclose()

"""Ollama over ``ChatOllama`` as it ships, on our transport: failures keep their kind, connections their owner."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage
from langchain_ollama import ChatOllama

from app.providers.chat.chat_model import ChatModel
from app.providers.chat.models import make_chat_model
from app.providers.http.error_mapping import classify_error
from app.settings import load_settings
from tests.peers import Fault, OllamaPeer

MESSAGES = [SystemMessage("Be brief."), HumanMessage("What is grass?")]
ANSWER = "Grass is green, says “A” – and wet."


@asynccontextmanager
async def chat_at(url: str, seconds: float = 20.0) -> AsyncIterator[ChatModel]:
    """The settings' chat model of the server at *url*."""
    made = make_chat_model(
        load_settings(chat_model="ollama:llama3.2:1b", ollama_host=url, ollama_timeout_seconds=seconds)
    )
    yield made
    assert made.aclose
    await made.aclose()


@pytest.fixture
async def chat(ollama_peer: OllamaPeer) -> AsyncIterator[ChatModel]:
    async with chat_at(ollama_peer.url) as made:
        yield made


async def reply_of(chat: ChatModel) -> AIMessageChunk:
    """The pieces of one streamed reply, added up as LangChain adds them."""
    pieces: list[Any] = [piece async for piece in chat.model.astream(MESSAGES, **chat.options(30))]
    whole: AIMessageChunk = sum(pieces[1:], pieces[0])
    return whole


async def test_a_reply_tells_its_end_and_its_tokens(chat: ChatModel, ollama_peer: OllamaPeer) -> None:
    """Text, the reason of the end and the tokens spent come with the stream; ``ChatOllama`` is no class of ours."""
    ollama_peer.answers = [ANSWER]
    reply = await reply_of(chat)
    assert (reply.text, reply.response_metadata["done_reason"]) == (ANSWER, "stop")
    assert reply.usage_metadata
    assert type(chat.model) is ChatOllama


@pytest.mark.parametrize(
    ("fault", "kind", "retry_after"),
    [
        (Fault("status", 404), "missing", None),
        (Fault("status", 401), "unauthorized", None),
        (Fault("status", 429, retry_after="7"), "limited", 7.0),
        (Fault("status", 503), "broken", None),
        (Fault("hangup"), "unreachable", None),
        (Fault("drop"), "unreachable", None),
        (Fault("garbage"), "unknown", None),
        (Fault("error_event"), "unknown", None),
    ],
    ids=lambda value: getattr(value, "kind", None) and f"{value.kind}-{value.status}",
)
async def test_failures_are_read_as_what_they_are(
    ollama_peer: OllamaPeer, fault: Fault, kind: str, retry_after: float | None
) -> None:
    """Every fault of the wire is one that ``classify_error`` names, with the time the server asked for."""
    ollama_peer.fault, ollama_peer.answers = fault, [ANSWER]
    async with chat_at(ollama_peer.url, seconds=0.3 if fault.kind == "silence" else 20) as chat:
        with pytest.raises(Exception) as caught:
            await reply_of(chat)
    found = classify_error(caught.value)
    assert (found.kind, found.retry_after) == (kind, retry_after)


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    """A refused connection is what ``classify_error`` calls unreachable, for a reply and for a probe."""
    async with chat_at("http://127.0.0.1:1") as chat:
        assert chat.probe
        for calling in (reply_of(chat), chat.probe()):
            with pytest.raises(Exception) as caught:
                await calling
            assert classify_error(caught.value).transient


async def test_who_stops_listening_hangs_up(chat: ChatModel, ollama_peer: OllamaPeer) -> None:
    """Closing the stream closes the connection, so that the server stops writing."""
    ollama_peer.fault = Fault("drip")
    async with aclosing(chat.model.astream(MESSAGES)) as stream:  # type: ignore[type-var]
        await anext(stream)
    assert await asyncio.to_thread(ollama_peer.wait_until, lambda: ollama_peer.hung_up == 1)


async def test_a_name_and_password_in_the_address_are_sent(ollama_peer: OllamaPeer) -> None:
    """For the reply and for the probe alike, as a proxy before Ollama may ask for them."""
    async with chat_at(ollama_peer.url.replace("//", "//gardener:s%40cret@")) as chat:
        assert chat.probe
        await reply_of(chat)
        await chat.probe()
    assert [request.headers.get("authorization") for request in ollama_peer.requests] == [
        "Basic Z2FyZGVuZXI6c0BjcmV0"
    ] * 2


def test_every_loop_has_connections_of_its_own(ollama_peer: OllamaPeer) -> None:
    """One model serves one event loop after another."""
    settings = load_settings(chat_model="ollama:llama3.2:1b", ollama_host=ollama_peer.url)
    chat = make_chat_model(settings)
    ollama_peer.answers = [ANSWER, ANSWER]

    async def ask() -> str:
        try:
            return (await reply_of(chat)).text
        finally:
            assert chat.aclose
            await chat.aclose()

    assert [asyncio.run(ask()), asyncio.run(ask())] == [ANSWER, ANSWER]


def test_a_process_that_closes_nothing_ends_in_silence(ollama_peer: OllamaPeer) -> None:
    """A library's user may never close it: what a running loop or an ended one leaves open makes no warning."""
    code = f"""
import asyncio

from app.library.sync_bridge import LoopThread
from app.providers.chat.models import make_chat_model
from app.settings import load_settings

chat = make_chat_model(load_settings(chat_model="ollama:llama3.2:1b", ollama_host="{ollama_peer.url}"))
for run in (LoopThread().run, asyncio.run, asyncio.run):
    print(run(chat.model.ainvoke("?")).text)
"""
    ollama_peer.answers = ["Yes."] * 3
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("Yes.\n" * 3, "")

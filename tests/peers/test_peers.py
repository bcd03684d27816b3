"""The peers speak their vendors' protocols: the vendors' own clients understand them."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import cohere
import httpx
import ollama
import pytest

from tests.peers import CoherePeer, Fault, OllamaPeer
from tests.peers.ports import held_port
from tests.peers.reading import DIMENSION


@pytest.fixture
def peer() -> Iterator[OllamaPeer]:
    with OllamaPeer() as started:
        yield started


@pytest.fixture
def client(peer: OllamaPeer) -> Iterator[ollama.Client]:
    made = ollama.Client(peer.url)
    yield made
    made._client.close()


@pytest.fixture
def cohere_client() -> Iterator[cohere.ClientV2]:
    with CoherePeer() as peer, httpx.Client(timeout=30) as http:
        yield cohere.ClientV2(peer.key, base_url=peer.url, httpx_client=http)


def test_ollama_chats_and_generates(peer: OllamaPeer, client: ollama.Client) -> None:
    """Streamed or whole, by ``/api/chat`` or ``/api/generate``: one text, and a reason at the end."""
    peer.answers = ["It is blue."] * 4
    messages = [{"role": "user", "content": "Why?"}]
    whole = client.chat("llama3.2:1b", messages)
    assert (whole.message.content, whole.done_reason) == ("It is blue.", "stop")
    parts = list(client.chat("llama3.2:1b", messages, stream=True))
    assert "".join(part.message.content or "" for part in parts) == "It is blue."
    assert [part.done for part in parts][-2:] == [False, True]
    assert client.generate("llama3.2:1b", "Why?").response == "It is blue."
    assert "".join(part.response for part in client.generate("llama3.2:1b", "Why?", stream=True)) == "It is blue."


def test_ollama_embeds_lists_and_shows(client: ollama.Client) -> None:
    """One vector per text, equal for equal texts; the models it has, and an error for one it has not."""
    vectors = client.embed("nomic-embed-text", ["a tower", "a tower", "bread"]).embeddings
    assert {len(vector) for vector in vectors} == {DIMENSION}
    assert vectors[0] == vectors[1] != vectors[2]
    assert "mistral:7b" in [model.model for model in client.list().models]
    client.show("mistral:7b")
    with pytest.raises(ollama.ResponseError, match="not found") as caught:
        client.chat("absent", [])
    assert caught.value.status_code == 404


def test_ollama_stops_at_num_predict(peer: OllamaPeer, client: ollama.Client) -> None:
    """The limit of tokens cuts, and the reason says so."""
    peer.answers = ["one two three four"]
    reply = client.chat("llama3.2:1b", [], options={"num_predict": 2})
    assert (reply.message.content, reply.done_reason) == ("one two ", "length")


def test_a_prompt_too_long_is_noticed(peer: OllamaPeer, client: ollama.Client) -> None:
    """Where Ollama would silently cut the beginning, the peer keeps count."""
    client.chat("llama3.2:1b", [{"role": "user", "content": "word " * 3000}], options={"num_ctx": 2048})
    assert peer.overfull == [3000]


def test_cohere_ranks_and_embeds(cohere_client: cohere.ClientV2) -> None:
    """Scores in [0, 1], best first; one vector per text."""
    ranked = cohere_client.rerank(model="rerank-v3.5", query="tower height", documents=["bread", "the tower"], top_n=2)
    assert [result.index for result in ranked.results] == [1, 0]
    embedded = cohere_client.embed(
        model="embed-english-v3.0", texts=["a", "b"], input_type="search_query", embedding_types=["float"]
    )
    assert embedded.embeddings.float_ is not None
    assert [len(vector) for vector in embedded.embeddings.float_] == [DIMENSION] * 2


def test_cohere_chats_with_citations(cohere_client: cohere.ClientV2) -> None:
    """Streamed or whole, the answer is from the documents, and cited."""
    documents = [{"id": "7", "data": {"text": "The tower is tall."}}]
    messages = [{"role": "user", "content": "Question: How tall is the tower?"}]
    whole = cohere_client.chat(model="m", messages=messages, documents=documents)  # type: ignore[arg-type]
    assert whole.message.citations
    assert whole.message.citations[0].sources[0].id == "7"  # type: ignore[index]
    kinds = [event.type for event in cohere_client.chat_stream(model="m", messages=messages, documents=documents)]  # type: ignore[arg-type]
    assert kinds[0] == "message-start"
    assert kinds[-1] == "message-end"
    assert "citation-start" in kinds


def test_cohere_wants_its_key() -> None:
    """Another key is 401."""
    with CoherePeer() as peer, httpx.Client(timeout=30) as http:
        stranger = cohere.ClientV2("wrong", base_url=peer.url, httpx_client=http)
        with pytest.raises(cohere.UnauthorizedError):
            stranger.rerank(model="m", query="q", documents=["d"])


def test_a_fault_may_end_by_itself(peer: OllamaPeer) -> None:
    """A fault for so many requests, or for one path, leaves the others alone."""
    peer.fault = Fault("status", 503, retry_after="2", times=1, path="/api/version")
    assert httpx.get(f"{peer.url}/api/tags", timeout=30).status_code == 200
    refused = httpx.get(f"{peer.url}/api/version", timeout=30)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    assert httpx.get(f"{peer.url}/api/version", timeout=30).status_code == 200


def test_refusing_and_listening_again(peer: OllamaPeer) -> None:
    """A peer can go down, and come up at the same address."""
    url = peer.url
    peer.refuse()
    with pytest.raises(httpx.ConnectError):
        httpx.get(url, timeout=30)
    peer.listen()
    assert httpx.get(url, timeout=30).text == "Ollama is running"
    assert peer.url == url


async def test_hanging_up_is_noticed(peer: OllamaPeer) -> None:
    """A client that leaves in the middle of an answer is counted, and its connection is not kept."""
    peer.fault = Fault("drip")
    body = {"model": "llama3.2:1b", "messages": []}
    async with httpx.AsyncClient() as http, http.stream("POST", f"{peer.url}/api/chat", json=body) as reply:
        await anext(reply.aiter_lines())
    assert await asyncio.to_thread(peer.wait_until, lambda: peer.hung_up == 1 and peer.connections == 0)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a held port is only found free")
def test_a_held_port_refuses_connections_and_is_given_to_no_other_server() -> None:
    """Who asks for any port gets another; a connection is refused; who names it listens on it, as often as it likes."""
    with held_port() as port, ExitStack() as others:
        for _ in range(2):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=10)
            with socket.create_server(("127.0.0.1", port)):
                socket.create_connection(("127.0.0.1", port), timeout=10).close()
        asked = [others.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(200)]
        assert port not in [sock.getsockname()[1] for sock in asked]
        with pytest.raises(OSError, match="in use"), socket.socket() as other:
            other.bind(("127.0.0.1", port))  # without SO_REUSEADDR, as a client's end is

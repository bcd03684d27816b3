"""What a provider said, and where, for terminal and log: found in every vendor's errors, without secrets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import cohere.core
import httpx
import ollama
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client.http.exceptions import UnexpectedResponse

from app.api.errors import failure_body
from app.providers.embeddings.models import make_embeddings
from app.providers.http.error_mapping import chat_error, embedding_error, store_error
from app.providers.http.provider_text import MAX_CHARS, scrub
from app.providers.stores.qdrant import QdrantStore
from app.settings import load_settings
from graph.build import step
from graph.errors import EmbeddingUnavailable, RetrievalFailed
from graph.state import failure_of
from tests.contract.vector_store_kit import EMBEDDING, SIZE, asked
from tests.peers import HttpPeer
from tests.peers.wire import SECRET, Received, Reply

ADDRESS = "http://10.1.2.3:8001/v1/chat"
REQUEST = httpx.Request("POST", f"http://user:pw@10.1.2.3:8001/v1/chat?api_key={SECRET}")  # pragma: allowlist secret
SAID = "model 'mistral:7b' not found, try pulling it first"


def answered(body: Any, status: int = 500) -> httpx.HTTPStatusError:
    headers = {"X-Vendor": SECRET}
    response = httpx.Response(status, json=body, headers=headers, request=REQUEST)
    return httpx.HTTPStatusError("", request=REQUEST, response=response)


@pytest.mark.parametrize(
    "body",
    [
        {"error": SAID},
        {"error": {"message": SAID, "type": "invalid_request_error"}},
        {"status": {"error": SAID}, "time": 0.1},
        {"error": "InternalError", "message": SAID},
        {"detail": SAID},
        {"message": SAID},
    ],
)
def test_the_message_of_a_body_and_its_address(body: Any) -> None:
    """As Ollama, OpenAI, Qdrant, Chroma, FastAPI and Cohere write it; the address without user and query."""
    assert store_error(answered(body)).cause_text == f"{ADDRESS}: {SAID}"


def test_vendors_own_exceptions() -> None:
    """Without a request the address is the one that the caller knows; a page of HTML says nothing."""
    body = json.dumps({"status": {"error": SAID}}).encode()
    qdrant = UnexpectedResponse(500, "", body, httpx.Headers({"x": SECRET}))
    address = "http://me:pw@q:6333"  # pragma: allowlist secret
    assert store_error(qdrant, address=address).cause_text == f"http://q:6333: {SAID}"
    assert chat_error(ollama.ResponseError(SAID, 404), "m").cause_text == SAID
    tried = cohere.core.ApiError(status_code=429, headers={"x": SECRET}, body={"message": SAID})
    assert embedding_error(tried).cause_text == SAID
    page = UnexpectedResponse(502, "", b"<html>Bad Gateway</html>", httpx.Headers())
    assert store_error(page).cause_text is None
    unreached = httpx.ConnectError("Connection refused", request=REQUEST)
    assert store_error(unreached).cause_text == f"{ADDRESS}: Connection refused"
    assert store_error(ValueError(SAID)).cause_text is None


@pytest.mark.parametrize(
    "text",
    [
        f"broken: {SECRET}",
        f"Incorrect API key provided: {SECRET}.",
        f"Authorization: Bearer {SECRET}",
        f"GET http://me:{SECRET}@h/x failed",
        f"GET https://h/x?key={SECRET} failed",
        f"invalid password={SECRET}",
        "token: abc",
    ],
)
def test_secrets_are_hidden(text: str) -> None:
    """Keys after their name, in headers and addresses, and words that are called secret, key or token."""
    assert SECRET not in scrub(text)
    assert "abc" not in scrub(text)
    assert "(hidden)" in scrub(text)


@pytest.mark.parametrize(
    "key", ["sk-abc", "qdrant-test-key", "0123456789abcdef" * 3, "AbCdEfGh1jKlMnOpQrStUvWxYz0123456789"]
)
def test_what_looks_like_a_key_is_hidden(key: str) -> None:
    """Wherever it stands."""
    assert key not in scrub(f"no such key {key} here")


@pytest.mark.parametrize(
    "text",
    [SAID, "max_tokens is too large: 9000", "Collection `textbook_chunks` doesn't exist!", "invalid vector size: 384"],
)
def test_other_words_stay(text: str) -> None:
    """Names of models, collections and settings."""
    assert scrub(text) == text


@given(st.text())
def test_it_is_one_short_line(text: str) -> None:
    """Whatever a provider sends."""
    said = scrub(text * 50)
    assert len(said) <= MAX_CHARS
    assert said.isprintable()


class Refusing(HttpPeer):
    """Answers everything with an error of its own words, and a header that is not for others."""

    body: Any = None

    async def respond(self, request: Received) -> Reply:
        return Reply(json.dumps(self.body).encode(), 400, headers={"X-Vendor": SECRET})


@pytest.fixture
def peer() -> Iterator[Refusing]:
    with Refusing() as started:
        yield started


async def test_qdrants_words_reach_the_log_and_no_client(peer: Refusing, caplog: pytest.LogCaptureFixture) -> None:
    """The step's log line says what was said and where; the failure's body for clients does not."""
    peer.body = {"status": {"error": f"Wrong input: {SAID}; api-key: {SECRET}"}, "time": 0.0}
    store = QdrantStore(EMBEDDING, load_settings(qdrant_url=peer.url), "c", SIZE)

    async def retrieve(*_: Any) -> Any:
        await store.acount()

    with caplog.at_level(logging.WARNING, "garden.graph"):
        update = await step("retrieve", retrieve)({"question": asked("?")}, None)  # type: ignore[arg-type]
    (record,) = caplog.records
    assert vars(record)["said"] == f"{peer.url}: Wrong input: {SAID}; (hidden)"
    shown = json.dumps(failure_body(update["failure"]))
    assert "Wrong input" not in shown
    assert peer.url not in shown
    await store.aclose()


async def test_ollamas_words_are_on_the_error(peer: Refusing) -> None:
    """Of an embedding model that Ollama does not have; the failure keeps them out of its JSON."""
    peer.body = {"error": SAID}
    model = make_embeddings(load_settings(embedding_model="ollama:m", ollama_host=peer.url))
    with pytest.raises(EmbeddingUnavailable) as caught:
        await model.embeddings.aembed_query("?")
    assert SAID in (caught.value.cause_text or "")
    assert SAID not in repr(failure_of(caught.value))
    assert failure_of(caught.value).cause_text == caught.value.cause_text


async def test_an_address_that_nobody_serves_is_named(peer: Refusing) -> None:
    """Of Qdrant and of Ollama, with the port."""
    peer.refuse()
    store = QdrantStore(EMBEDDING, load_settings(qdrant_url=peer.url), "c", SIZE)
    model = make_embeddings(load_settings(embedding_model="ollama:m", ollama_host=peer.url))
    for asking in (store.acount(), model.embeddings.aembed_query("?")):
        with pytest.raises(RetrievalFailed, match="cannot be reached") as caught:
            await asking
        assert peer.url in (caught.value.cause_text or "")
    await store.aclose()

"""OpenAI's wire, asked by OpenAI's own client: the answer of /query, in content, annotations and an extension."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import openai
import pytest

from app.bootstrap.compose import build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import StoreUnavailable
from graph.nodes.answer import NOTHING_FOUND
from tests.app.api.one_chunk import served
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC, BrokenStore
from tests.app.api.test_query_stream import Patient, events
from tests.peers.ollama_peer import OllamaPeer
from tests.peers.wire import SECRET, Fault
from tests.support.samples_service import serve

MODEL = "knowledge-garden"
WORN = "What must be worn when handling chemicals?"
TWO = "How many vacation days are there, and what must be worn when handling chemicals?"


@contextmanager
def client_of(address: str, key: str = "none") -> Iterator[openai.OpenAI]:
    """OpenAI's client of that service."""
    with openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0, timeout=60) as client:
        yield client


@pytest.fixture
def client(address: str) -> Iterator[openai.OpenAI]:
    """OpenAI's client of the service over the samples."""
    with client_of(address) as made:
        yield made


def users(*texts: str) -> list[Any]:
    """A conversation in which the user has said that, and each time got an answer."""
    said = [message for text in texts[:-1] for message in (("user", text), ("assistant", "It is so [1]."))]
    return [{"role": role, "content": text} for role, text in [*said, ("user", texts[-1])]]


def ask(client: openai.OpenAI, *texts: str, **more: Any) -> Any:
    return client.chat.completions.create(model=MODEL, messages=users(*texts), **more)


def body_of(http: httpx.Client, query: str) -> dict[str, Any]:
    """The body of /query with evidence, without what differs from one request to the next."""
    return lasting(http.post("/query", json={"query": query, "includeEvidence": True}).json())


def lasting(body: dict[str, Any]) -> dict[str, Any]:
    changing = {"processingTimeMs", "requestId", "stageTimingsMs"}
    return {**body, "metadata": {name: one for name, one in body["metadata"].items() if name not in changing}}


def test_the_one_model_is_listed(client: openai.OpenAI) -> None:
    """``models.list`` finds the model that ``chat.completions`` takes."""
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL) == client.models.list().data[0]
    with pytest.raises(openai.NotFoundError, match="There is no model 'gpt-4' here"):
        client.models.retrieve("gpt-4")


def test_null_is_as_absent_in_what_only_some_clients_send(client: openai.OpenAI) -> None:
    """A piece without text beside one that has it, and the switch of the list of sources."""
    parts = [{"type": "text", "text": None}, {"type": "text", "text": CHEMICALS}]
    messages: list[Any] = [{"role": "assistant", "content": None}, {"role": "user", "content": parts}]
    nothing = {"knowledge_garden": {"sourceList": None, "source": None}}
    answered = client.chat.completions.create(model=MODEL, messages=messages, extra_body=nothing)
    assert answered.choices[0].message.content == ask(client, CHEMICALS).choices[0].message.content
    assert "\n\nSources:\n\n" in (answered.choices[0].message.content or "")


@pytest.mark.parametrize("query", [CHEMICALS, TWO])
def test_the_answer_is_that_of_query(client: openai.OpenAI, http: httpx.Client, query: str) -> None:
    """``content`` is the answer and the list of its sources; the extension is the body of /query with evidence."""
    completion = ask(client, query)
    expected = body_of(http, query)
    assert lasting(completion.model_extra["knowledge_garden"]) == expected
    content = completion.choices[0].message.content
    answer, _, listed = content.partition("\n\nSources:\n\n")
    assert answer == expected["answer"]
    lines = listed.splitlines()
    assert len(lines) == len(expected["citedDocuments"])
    for marker, (line, document) in enumerate(zip(lines, expected["citedDocuments"], strict=True), 1):
        assert line.startswith(f"{marker}. {document['title']}")
    assert completion.choices[0].finish_reason == "stop"
    usage = completion.usage
    assert (usage.total_tokens, usage.prompt_tokens > 0) == (usage.prompt_tokens + usage.completion_tokens, True)


@pytest.mark.parametrize("query", [CHEMICALS, TWO])
def test_every_marker_has_an_annotation_at_its_offsets(client: openai.OpenAI, http: httpx.Client, query: str) -> None:
    """An annotation names the document of the marker that stands at its offsets, and where to read the passage."""
    completion = ask(client, query)
    message, extension = completion.choices[0].message, completion.model_extra["knowledge_garden"]
    cited = [annotation.url_citation for annotation in message.annotations]
    markers = [message.content[annotation.start_index : annotation.end_index] for annotation in cited]
    assert len(markers) == extension["answer"].count("[")
    for marker, one in zip(markers, cited, strict=True):
        document = extension["citedDocuments"][int(marker.strip("[]")) - 1]
        assert one.title == document["title"]
        assert http.get(one.url).json()["documentId"] == document["id"]


def test_the_list_of_sources_can_be_turned_off(client: openai.OpenAI) -> None:
    """With ``sourceList`` false, ``content`` is the answer alone."""
    completion = ask(client, CHEMICALS, extra_body={"knowledge_garden": {"sourceList": False}})
    assert completion.choices[0].message.content == completion.model_extra["knowledge_garden"]["answer"]
    assert completion.choices[0].message.annotations


@pytest.mark.parametrize(
    ("title", "url", "listed"),
    [
        ("Whales", "https://example.org/whales", "[Whales](https://example.org/whales), Size"),
        ("A [b](c) *d*", "https://example.org/a(b) c", r"[A \[b\](c) \*d\*](https://example.org/a%28b%29%20c), Size"),
        ("![x](https://example.org/x.png)", "", r"\!\[x\](https://example.org/x.png), Size"),
        ("<img src=x>", "javascript:alert(1)", r"\<img src=x\>, Size"),
    ],
)
def test_the_list_links_what_is_an_address_and_nothing_else(
    embedding: EmbeddingModel, tmp_path: Path, title: str, url: str, listed: str
) -> None:
    """A document with a URL is linked, with its section; no title of a document is read as Markdown."""
    text = "The blue whale grows to 30 metres and feeds on krill."
    row = {"document_id": "w", "title": title, "section": "Size", "url": url or None, "text": text}
    with serve(build_container(load_settings(data_dir=tmp_path), embedding=embedding)) as address:
        path, headers = f"{address}/api/v1/documents?name=whales.jsonl", {"Content-Type": "application/octet-stream"}
        httpx.post(path, content=json.dumps(row).encode(), headers=headers, timeout=30).raise_for_status()
        with client_of(address) as client:
            message = ask(client, "How long does the blue whale grow?").choices[0].message
    assert message.content.endswith(f"\n\nSources:\n\n1. {listed}")
    (annotation,) = message.annotations
    assert annotation.url_citation.url.startswith(url if "://" in url else f"{address}/api/v1/chunks/")


@pytest.mark.parametrize("query", [CHEMICALS, OFF_TOPIC])
def test_a_stream_brings_the_same(client: openai.OpenAI, query: str) -> None:
    """The pieces make up the ``content`` of the whole answer; the last has annotations and extension; then usage."""
    whole = ask(client, query)
    chunks = list(ask(client, query, stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == whole.choices[0].message.content
    assert deltas[0].role == "assistant"
    *_, last, usage = chunks
    assert last.choices[0].finish_reason == "stop"
    expected = [annotation.model_dump() for annotation in whole.choices[0].message.annotations]
    assert last.choices[0].delta.model_extra["annotations"] == expected
    assert lasting(last.model_extra["knowledge_garden"]) == lasting(whole.model_extra["knowledge_garden"])
    assert (usage.choices, usage.usage) == ([], whole.usage)
    assert not any(chunk.usage for chunk in ask(client, query, stream=True))


def test_a_stream_ends_as_openai_ends_it(http: httpx.Client) -> None:
    """Each event is one ``data`` line, the last of them ``[DONE]``."""
    body = {"model": MODEL, "messages": users(CHEMICALS), "stream": True}
    response = http.post("/v1/chat/completions", json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = response.text.strip().split("\n\n")
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    assert blocks[-1] == "data: [DONE]"


def test_a_declined_question_is_a_plain_message(client: openai.OpenAI) -> None:
    """A decline is the sentence that says so, without annotations and sources; the extension has the outcome."""
    completion = ask(client, OFF_TOPIC)
    message = completion.choices[0].message
    assert (message.content, message.annotations) == (NOTHING_FOUND, [])
    extension = completion.model_extra["knowledge_garden"]
    assert extension["metadata"]["outcome"] == "no_relevant_chunks"
    assert (extension["citedDocuments"], extension["evidence"]) == ([], [])


def conversed(http: httpx.Client, *texts: str) -> dict[str, Any]:
    """The end of the last question of such a conversation of the page."""
    path = f"/api/v1/conversations/{uuid4().hex}/query"
    *_, last = [http.post(path, json={"query": text, "includeEvidence": True}) for text in texts]
    return lasting(events(last)[-1][1])


@pytest.mark.parametrize(
    "texts",
    [
        (WORN, "And where are they stored?"),
        (WORN, "Thanks!", "And where are they stored?"),
        (" ", WORN, "x" * 3000, "And where are they stored?"),
        ("What is Knowledge Garden?", WORN, "And where are they stored?"),
        ("How many vacation days do employees get?", "And for contractors?", "How many can be carried over?"),
    ],
)
def test_a_follow_up_is_understood(client: openai.OpenAI, http: httpx.Client, texts: tuple[str, ...]) -> None:
    """The user's messages before the last complete it, as in a conversation of the page; nothing is kept."""
    assert lasting(ask(client, *texts).model_extra["knowledge_garden"]) == conversed(http, *texts)
    assert lasting(ask(client, texts[-1]).model_extra["knowledge_garden"]) == body_of(http, texts[-1])


def test_what_other_services_know_is_ignored(client: openai.OpenAI) -> None:
    """A system prompt, parts of text, sampling parameters and tools change nothing; too many tokens are as the most."""
    tool: Any = {"type": "function", "function": {"name": "look", "parameters": {}}}
    plain = ask(client, CHEMICALS)
    messages: Any = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": [{"type": "text", "text": CHEMICALS}]},
    ]
    more: Any = {"temperature": 1.5, "top_p": 0.1, "seed": 7, "tools": [tool], "max_tokens": 100_000, "user": "x"}
    completion = client.chat.completions.create(model=MODEL, messages=messages, **more)
    assert completion.choices[0].message.content == plain.choices[0].message.content


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fields", "error", "says"),
    [
        ({"model": "gpt-5"}, openai.NotFoundError, "There is no model 'gpt-5' here, only 'knowledge-garden'."),
        ({"messages": []}, openai.BadRequestError, "messages: List should have at least 1 item"),
        ({"messages": [{"role": "system", "content": "x"}]}, openai.BadRequestError, "one with the role user"),
        ({"messages": users(" ")}, openai.BadRequestError, "Query must be non-blank and at most 2000 characters."),
        ({"messages": users("x" * 2001)}, openai.BadRequestError, "at most 2000 characters"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, openai.BadRequestError, "Only text"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
            openai.BadRequestError,
            "content.0.",
        ),
        ({"messages": [{"role": "user", "content": 5}]}, openai.BadRequestError, "messages.0.content: Input"),
        ({"extra_body": {"knowledge_garden": {"maxSources": 51}}}, openai.BadRequestError, "maxSources"),
    ],
)
def test_the_client_shows_what_is_wrong(
    client: openai.OpenAI, fields: dict[str, Any], error: type[openai.APIStatusError], says: str, stream: bool
) -> None:
    """A refusal is the client's error of that status, and its text is our message; the body has our three members."""
    asked: dict[str, Any] = {"model": MODEL, "messages": users(CHEMICALS), "stream": stream, **fields}
    with pytest.raises(error) as raised:
        client.chat.completions.create(**asked)
    assert says in str(raised.value)
    body = raised.value.response.json()
    assert set(body) == {"error", "message", "details"}
    assert body["error"]["message"] == body["message"]
    assert raised.value.code == body["error"]["type"]
    assert raised.value.param == body["details"].get("field")


def test_the_client_shows_an_outage(embedding: EmbeddingModel, tmp_path: Path) -> None:
    """A store that is down is a 503 with its message, streaming or not, and never a decline."""
    store: Any = BrokenStore(StoreUnavailable("It is down."))
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding, store=store)
    with serve(container) as address, client_of(address) as client:
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError, match="It is down") as raised:
                ask(client, CHEMICALS, stream=stream)
            assert (raised.value.status_code, raised.value.code) == (503, "RETRIEVAL_FAILED")


def test_the_api_key_is_the_clients(embedding: EmbeddingModel, tmp_path: Path) -> None:
    """With API_KEYS, the client's key opens; another is its AuthenticationError."""
    container = build_container(load_settings(data_dir=tmp_path, api_keys="sesame"), embedding=embedding)
    with serve(container) as address:
        with client_of(address, "sesame") as client:
            assert [model.id for model in client.models.list()] == [MODEL]
        with client_of(address, "other") as client:
            for call in (client.models.list, lambda: ask(client, CHEMICALS)):
                with pytest.raises(openai.AuthenticationError, match="An API key is required") as raised:
                    call()
                assert raised.value.code == "UNAUTHORIZED"


def test_past_the_slots_the_client_is_told_when(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """When every slot is taken, the client gets 503 OVERLOADED and Retry-After, by which it tries again."""
    patient = Patient()
    with (
        served(embedding, http, patient, max_concurrent_requests=1) as (_, address),
        client_of(address) as client,
        httpx.stream("POST", f"{address}/query/stream", json={"query": CHEMICALS}) as held,
    ):
        pieces = held.iter_raw()
        next(pieces)
        with pytest.raises(openai.InternalServerError, match="The service is busy") as raised:
            ask(client, CHEMICALS)
    assert raised.value.code == "OVERLOADED"
    assert int(raised.value.response.headers["retry-after"]) >= 1


@pytest.fixture
def chat(sample_data: Path, tmp_path: Path, embedding: EmbeddingModel) -> Iterator[tuple[OllamaPeer, openai.OpenAI]]:
    """A chat model, and a client of the samples served with it."""
    folder = shutil.copytree(sample_data, tmp_path / "data")
    with OllamaPeer() as peer:
        settings = load_settings(data_dir=folder, chat_model="ollama:llama3.2:1b", ollama_host=peer.url)
        with serve(build_container(settings, embedding=embedding)) as address, client_of(address) as client:
            yield peer, client


def test_only_verified_text_is_content(chat: tuple[OllamaPeer, openai.OpenAI]) -> None:
    """The model's draft comes as ``reasoning_content``; ``content`` is the answer, in a stream or not."""
    peer, client = chat
    draft = "Goggles and nitrile gloves must be worn at all times [1]. The moon is made of green cheese [1]."
    peer.answers = [draft, draft]
    whole = ask(client, CHEMICALS)
    deltas = [chunk.choices[0].delta for chunk in ask(client, CHEMICALS, stream=True)]
    assert "green cheese" in "".join(delta.model_extra.get("reasoning_content", "") for delta in deltas)
    content = "".join(delta.content or "" for delta in deltas)
    assert content == whole.choices[0].message.content


def test_a_failure_after_the_draft_is_shown(chat: tuple[OllamaPeer, openai.OpenAI]) -> None:
    """A model that fails in mid-stream is the client's APIError with our message and code, and no vendor's word."""
    peer, client = chat
    peer.fault = Fault("drop", path="/api/chat")
    with pytest.raises(openai.APIError) as raised:
        list(ask(client, CHEMICALS, stream=True))
    assert raised.value.code == "SYNTHESIS_FAILED"
    assert "chat model" in str(raised.value)
    assert SECRET not in str(raised.value.body)
    peer.fault = Fault("drop", path="/api/chat")
    with pytest.raises(openai.InternalServerError) as whole:
        ask(client, CHEMICALS)
    assert (whole.value.status_code, whole.value.code) == (503, raised.value.code)

"""Keys x collections x interfaces: what a key may not see is not searched, counted, named or logged for it."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError

from app.api.server import create_app
from app.bootstrap.compose import AppContainer, build_container
from app.ingest.pipeline import ingest_into
from app.ops.key_file import KeyFile
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.app.api.test_mcp import with_headers
from tests.support.calling import BYTES, caller
from tests.support.samples_service import serve

WORDS = {
    "corporate_documents": ("lantern.md", "The codeword of the front gate is LANTERN."),
    "payroll": ("marigold.md", "The codeword of the bonus list is MARIGOLD."),
    "aquarium": ("tortoise.md", "The codeword of the salt water pump is TORTOISE."),
    "tasks": ("zebra.md", "ZEBRA"),
}
"""Collection -> its document and what it says."""
QUESTIONS = {
    "corporate_documents": "What is the codeword of the front gate?",
    "payroll": "What is the codeword of the bonus list?",
    "aquarium": "What is the codeword of the salt water pump?",
}
NOWHERE = "neverland"
KEYS: dict[str, tuple[str, ...]] = {
    "all": tuple(WORDS),
    "pay": ("payroll",),
    "pay-and-fish": ("payroll", "aquarium"),
    "fish-reader": ("aquarium",),
    "nobody": (),
}
"""Key -> the collections that it may see; "nobody" is a caller without one."""
Call = Callable[[httpx.AsyncClient, dict[str, str], str | None], Awaitable[httpx.Response]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Path:
    """A data folder with three collections of documents, one document each, and one task."""
    root = tmp_path_factory.mktemp("access")

    async def fill(container: AppContainer) -> None:
        for name, (document, text) in WORDS.items():
            (root / document).write_text(f"# {document}\n\n{text}\n")
            if name == "tasks":
                await container.tasks.index_task({"id": "zebra", "title": text})
                continue
            async with container.collections.use(name, create=True) as to:
                await ingest_into(to.writer, [root / document])
        await container.aclose()

    asyncio.run(fill(build_container(load_settings(data_dir=root / "data"), embedding=embedding)))
    return root / "data"


@pytest.fixture(scope="module")
def keys(folder: Path) -> dict[str, dict[str, str]]:
    """The headers of each key: one of API_KEYS, the others added to the folder."""
    file = KeyFile(folder)
    made = {
        name: file.add(name, seen, read_only=name.endswith("reader"))
        for name, seen in KEYS.items()
        if name not in ("all", "nobody")
    }
    return {"all": {"X-API-Key": "alpha"}, "nobody": {}} | {
        name: {"Authorization": f"Bearer {key}"} for name, key in made.items()
    }


@pytest.fixture
def container(folder: Path, embedding: EmbeddingModel) -> Iterator[AppContainer]:
    made = build_container(load_settings(data_dir=folder, api_keys="alpha"), embedding=embedding)
    yield made
    asyncio.run(made.aclose())


def asking(path: str, body: Callable[[dict[str, Any]], Any] = lambda question: question) -> Call:
    """Post a question of the collection to *path*."""

    async def call(client: httpx.AsyncClient, headers: dict[str, str], collection: str | None) -> httpx.Response:
        text = QUESTIONS.get(collection or "", " and ".join(QUESTIONS.values()))
        question = {"query": text, "includeEvidence": True, "collection": collection}
        return await client.post(path, json=body(question), headers=headers)

    return call


def getting(path: str, **params: str) -> Call:
    """Get *path*, in which ``{document}`` is the collection's document."""

    async def call(client: httpx.AsyncClient, headers: dict[str, str], collection: str | None) -> httpx.Response:
        document = WORDS.get(collection or "", ("tortoise.md",))[0]
        chosen = {"collection": collection} if collection else {}
        return await client.get(path.format(document=document), params=params | chosen, headers=headers)

    return call


async def task_chat(client: httpx.AsyncClient, headers: dict[str, str], collection: str | None) -> httpx.Response:
    return await client.post("/api/v1/chat", json={"message": "zebra"}, headers=headers)


async def feedback(client: httpx.AsyncClient, headers: dict[str, str], collection: str | None) -> httpx.Response:
    row = {"question": "x", "outcome": "answered", "rating": "up", "collection": collection, "requestId": "r"}
    return await client.post("/api/v1/feedback", json=row, headers=headers)


def chat(question: dict[str, Any]) -> dict[str, Any]:
    """A question on OpenAI's wire."""
    message = {"role": "user", "content": question["query"]}
    options = {"collection": question["collection"]}
    return {"model": "knowledge-garden", "messages": [message], "knowledge_garden": options}


INTERFACES: dict[str, Call] = {
    "query": asking("/query"),
    "stream": asking("/query/stream"),
    "conversation": asking("/api/v1/conversations/0123456789abcdef/query"),
    "invoke": asking("/rag/invoke", lambda question: {"input": question}),
    "batch": asking("/rag/batch", lambda question: {"inputs": [question, question]}),
    "rag stream": asking("/rag/stream", lambda question: {"input": question}),
    "rag schema": getting("/rag/input_schema"),
    "rag output": getting("/rag/output_schema"),
    "rag config": getting("/rag/config_schema"),
    "playground": getting("/rag/playground/"),
    "described": getting("/openapi.json"),
    "models": getting("/v1/models"),
    "model": getting("/v1/models/knowledge-garden"),
    "chat": asking("/v1/chat/completions", chat),
    "chat stream": asking("/v1/chat/completions", lambda question: {**chat(question), "stream": True}),
    "search": getting("/api/v1/search", q="codeword", k="8"),
    "documents": getting("/api/v1/documents"),
    "document": getting("/api/v1/documents/{document}"),
    "chunk": getting("/api/v1/chunks/{document}%230"),
    "file": getting("/api/v1/files/{document}"),
    "picture": getting("/api/v1/pictures/{document}%230"),
    "page": getting("/api/v1/page"),
    "collections": getting("/api/v1/collections"),
    "folders": getting("/api/v1/folders"),
    "tasks": getting("/api/v1/search/semantic", q="zebra"),
    "task chat": task_chat,
    "feedback": feedback,
    "live": getting("/health/live"),
    "metrics": getting("/metrics"),
    "ready": getting("/health/ready"),
    "health": getting("/health"),
}
OPEN = {"metrics", "live", "ready", "health"}
FIXED = {"rag schema", "rag output", "rag config", "playground", "described", "model"}
"""Interfaces that say the same to every caller."""
EVENTS = {("post", "/rag/stream_events"), ("post", "/rag/stream_log")}
"""What LangServe writes from a task of its own: ``test_no_event_of_langserve_tells_it``."""
CHANGES = {
    ("delete", "/api/v1/conversations/{conversationId}"),
    ("delete", "/api/v1/collections/{name}"),
    ("post", "/api/v1/documents"),
    ("post", "/api/v1/documents/{documentId}"),
    ("delete", "/api/v1/documents/{documentId}"),
}
"""What changes something: two tests of their own, ``…_it_cannot_change`` and ``…_is_its_keys_own``."""


def words(collections: Any) -> set[str]:
    """The words by which an answer gives away that it knows these collections."""
    return {word for collection in collections for word in (collection, WORDS[collection][0].partition(".")[0])} - {
        "tasks"
    }


def untimed(text: str) -> str:
    """A body without what differs from one request to the next."""
    for stop in ("processingTimeMs", "created", "chatcmpl-", "requestId", "stageTimingsMs", "run_id", "timestamp"):
        head, found, rest = text.partition(stop)
        while found:
            text = head + rest.partition("}" if stop == "stageTimingsMs" else ",")[2]
            head, found, rest = text.partition(stop)
    return text


async def test_the_table_has_every_route(container: AppContainer) -> None:
    """Each route that the service describes is asked below, or is one of those that change something."""
    described = create_app(container).openapi()["paths"]
    asked: list[httpx.Request] = []

    def note(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200)

    async with httpx.AsyncClient(transport=httpx.MockTransport(note), base_url="http://127.0.0.1") as client:
        for ask in INTERFACES.values():
            await ask(client, {}, "aquarium")
    patterns = {
        (method, path): re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        for path, row in described.items()
        for method in row
    }
    missing = {
        route
        for route, pattern in patterns.items()
        if not any(call.method.lower() == route[0] and pattern.fullmatch(call.url.path) for call in asked)
    }
    assert missing == EVENTS | CHANGES


@pytest.mark.parametrize("key", KEYS)
async def test_no_interface_tells_a_key_of_what_it_may_not_see(
    container: AppContainer, keys: dict[str, dict[str, str]], key: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Each interface is asked twice for each collection. What a key sees, it gets; what it does not see is answered
    exactly as what does not exist, is in no reply to it, and in no log line of its requests."""
    caplog.set_level(logging.DEBUG)
    seen, hidden = KEYS[key], [word for word in WORDS if word not in KEYS[key]]
    async with caller(container) as client:
        for name, ask in INTERFACES.items():
            for collection in (None,) if name in FIXED else (*QUESTIONS, NOWHERE, None):
                caplog.clear()
                first, second = [await ask(client, keys[key], collection) for _ in range(2)]
                where = (key, name, collection, first.text)
                assert first.status_code == second.status_code, where
                if name in FIXED and key != "nobody":
                    assert first.text == (await ask(client, keys["all"], None)).text, where
                    continue
                said = (
                    first.text
                    + second.text
                    + str(first.headers)
                    + json.dumps(
                        [vars(record) for record in caplog.records if record.name.startswith("garden")], default=str
                    )
                )
                message = said.replace(collection or "-", "").lower() if collection in hidden else said.lower()
                asked = words([collection]) if collection in hidden else set()
                assert not [word for word in words(hidden) - asked if word in message], where
                if key == "nobody":
                    assert first.status_code == (200 if name in OPEN else 401), where
                elif name == "folders" and key.endswith("reader"):
                    assert first.status_code == 403, where
                elif name in ("tasks", "task chat"):
                    assert first.status_code == (200 if "tasks" in seen else 403), where
                elif collection in hidden and name not in OPEN | {"collections", "models"}:
                    nowhere = await ask(client, keys[key], NOWHERE)
                    status = 200 if name == "rag stream" else 400  # LangServe's streams say it in an event
                    assert (first.status_code, "VALIDATION_ERROR" in first.text) == (status, True), where
                    assert untimed(first.text.replace(collection, NOWHERE)) == untimed(nowhere.text), where
                elif collection in seen and name in (
                    "query",
                    "stream",
                    "conversation",
                    "invoke",
                    "batch",
                    "search",
                    "chat",
                ):
                    assert WORDS[collection][0].partition(".")[0].upper() in first.text, where


def test_no_event_of_langserve_tells_it(container: AppContainer, keys: dict[str, dict[str, str]]) -> None:
    """The events of a question and the log of its run hold what the key sees, and of another collection no word."""
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as client:
        for key, seen in KEYS.items():
            hidden = WORDS.keys() - set(seen)
            for (_, path), collection in product(sorted(EVENTS), (*QUESTIONS, NOWHERE)):
                question = {"query": QUESTIONS.get(collection, "Where?"), "collection": collection}
                reply = client.post(path, json={"input": question}, headers=keys[key])
                where = (key, path, collection, reply.text)
                assert reply.status_code == (401 if key == "nobody" else 200), where
                assert not [word for word in words(hidden - {collection}) if word in reply.text.lower()], where
                told = WORDS[collection][0].partition(".")[0].upper() if collection in seen else "VALIDATION_ERROR"
                assert key == "nobody" or told in reply.text, where
                assert collection not in hidden or WORDS[collection][0] not in reply.text, where


async def test_no_tool_tells_an_agent_of_what_it_may_not_see(
    container: AppContainer, keys: dict[str, dict[str, str]]
) -> None:
    """Each tool of the Model Context Protocol is called for each collection: what the key sees, it gets; what it does
    not see is answered as what does not exist. The resources are documents that it sees."""
    with serve(container) as address:
        for key in KEYS.keys() - {"nobody"}:
            seen, hidden = KEYS[key], [word for word in WORDS if word not in KEYS[key]]
            async with with_headers(address, keys[key]) as client:

                async def message_of(
                    tool: str, collection: str, client: Client = client, hidden: list[str] = hidden
                ) -> tuple[bool, str]:
                    document, question = WORDS.get(collection, ("x.md",))[0], QUESTIONS.get(collection, "Where?")
                    arguments = {"read": {"document_id": document}, "list_documents": {}}.get(tool, {"query": question})
                    result = await client.call_tool(tool, {**arguments, "collection": collection})
                    body = json.dumps(result.structured_content)
                    return result.is_error, body.replace(collection, NOWHERE) if collection in hidden else body

                for tool in ("ask", "search", "read", "list_documents"):
                    nowhere = await message_of(tool, NOWHERE)
                    assert nowhere[0]
                    for collection in QUESTIONS:
                        failed, text = await message_of(tool, collection)
                        assert not [word for word in words(hidden) if word in text], (key, tool, collection)
                        if collection in hidden:
                            assert (failed, text) == nowhere, (key, tool, collection)
                        else:
                            assert (failed, WORDS[collection][0] in text) == (False, True), (key, tool, collection)
                own = next((word for word in WORDS if word in seen), "")
                assert [resource.name for resource in (await client.list_resources()).resources] == [WORDS[own][0]]
                for collection in set(QUESTIONS) - {own}:
                    with pytest.raises(MCPError):
                        await client.read_resource(f"garden://documents/{WORDS[collection][0]}")


async def test_what_a_key_does_not_see_it_cannot_change(
    container: AppContainer, keys: dict[str, dict[str, str]]
) -> None:
    """Documents are added, ingested again and deleted, and collections deleted, only where a key sees them and may
    write; a collection of another is untouched, whatever was asked."""
    note = {"content": b"# Note\n\nA note.\n"}
    async with caller(container) as client:
        before = (await client.get("/api/v1/documents", params={"collection": "payroll"}, headers=keys["all"])).json()
        for key, status in (("fish-reader", 403), ("pay", 400), ("nobody", 401)):
            at: dict[str, Any] = {"params": {"collection": "aquarium", "name": "note.md"}, "headers": BYTES | keys[key]}
            replies = [
                await client.post("/api/v1/documents", **at, **note),
                await client.post("/api/v1/documents/tortoise.md", **at),
                await client.delete("/api/v1/documents/tortoise.md", **at),
            ]
            assert [reply.status_code for reply in replies] == [status] * 3, key
            gone = await client.delete("/api/v1/collections/aquarium", headers=keys[key])
            assert gone.status_code == (404 if status == 400 else status)
        after = (await client.get("/api/v1/documents", params={"collection": "payroll"}, headers=keys["all"])).json()
        assert before == after
        listed = await client.get("/api/v1/documents", params={"collection": "aquarium"}, headers=keys["all"])
        assert [document["id"] for document in listed.json()["documents"]] == ["tortoise.md"]
        for method in ("post", "delete"):
            own: dict[str, Any] = {
                "params": {"collection": "payroll", "name": "note.md"},
                "headers": BYTES | keys["pay"],
            }
            path = "/api/v1/documents" + ("/note.md" if method == "delete" else "")
            done = await client.request(method, path, **own, **(note if method == "post" else {}))
            assert done.status_code == 200, done.text


async def test_a_key_without_a_collection_named_asks_its_own(
    container: AppContainer, keys: dict[str, dict[str, str]]
) -> None:
    """The default collection where the key sees it, else the first that the key names."""
    for key, word in (
        ("all", "LANTERN"),
        ("pay", "MARIGOLD"),
        ("pay-and-fish", "MARIGOLD"),
        ("fish-reader", "TORTOISE"),
    ):
        async with caller(container) as client:
            found = await client.get("/api/v1/search", params={"q": "codeword"}, headers=keys[key])
        assert [word in hit["text"] for hit in found.json()["results"]] == [True], key


async def test_a_conversation_is_its_keys_own(container: AppContainer, keys: dict[str, dict[str, str]]) -> None:
    """Under the same id, another key's follow-up does not learn what was asked before, nor can that key delete it."""
    path = "/api/v1/conversations/fedcba9876543210"
    async with caller(container) as client:

        async def asked(key: str, query: str) -> str:
            return (await client.post(f"{path}/query", json={"query": query}, headers=keys[key])).text

        await asked("pay", QUESTIONS["payroll"])
        assert "rewritten" not in await asked("fish-reader", "And for the salt water pump?")
        await client.delete(path, headers=keys["fish-reader"])
        assert "bonus" in await asked("pay", "And when?")


MESSAGES: dict[str, dict[str, Any]] = {
    "ask": {"query": " and ".join(QUESTIONS.values())},
    "search": {"query": "codeword", "k": 8},
    "read": {"document_id": "tortoise.md"},
    "list_documents": {},
}
"""Tools of the Model Context Protocol, and their arguments."""


@pytest.mark.parametrize("key", KEYS)
def test_no_agent_is_told_either(container: AppContainer, keys: dict[str, dict[str, str]], key: str) -> None:
    """Each tool is called twice for each collection, and resources are listed and read: as on every interface."""
    accepted = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    hidden = [word for word in WORDS if word not in KEYS[key]]
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as client:

        def message_of(method: str, **params: Any) -> str:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            replies = [client.post("/mcp", json=message, headers=keys[key] | accepted) for _ in range(2)]
            assert {reply.status_code for reply in replies} == {401 if key == "nobody" else 200}, replies[0].text
            return replies[0].text + replies[1].text

        assert not [word for word in words(hidden) if word in message_of("resources/list").lower()]
        uri = "garden://documents/lantern.md"
        assert ("LANTERN" in message_of("resources/read", uri=uri)) == ("corporate_documents" in KEYS[key])
        for tool, arguments in MESSAGES.items():
            for collection in (*QUESTIONS, None):
                chosen = {"collection": collection} if collection else {}
                text = message_of("tools/call", name=tool, arguments=arguments | chosen)
                if collection in hidden:
                    nowhere = message_of("tools/call", name=tool, arguments=arguments | {"collection": NOWHERE})
                    assert text.replace(collection, NOWHERE) == nowhere, (key, tool, collection)
                else:
                    assert not [word for word in words(hidden) - {"tortoise"} if word in text.lower()], (key, tool)
                    assert "TORTOISE" not in text or "aquarium" in KEYS[key]
                if collection in KEYS[key] and tool in ("search", "list_documents"):
                    assert WORDS[collection][0] in text, (key, tool, collection)


def test_only_hashes_are_stored(folder: Path, keys: dict[str, dict[str, str]]) -> None:
    """The file holds no key, and only its owner may read it."""
    text = (folder / "keys.json").read_text()
    assert all(headers["Authorization"][7:] not in text for headers in keys.values() if "Authorization" in headers)
    assert (folder / "keys.json").stat().st_mode & 0o077 == 0


async def test_keys_come_and_go_without_a_restart(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """A key added beside a running service is accepted, and closes a service that was open; one removed is refused,
    also the last one. A file that cannot be read changes nothing."""
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding)
    file = KeyFile(tmp_path)
    async with caller(container) as client:

        async def status(key: str = "") -> int:
            return (await client.get("/api/v1/documents", headers={"X-API-Key": key} if key else {})).status_code

        assert await status() == 200
        key = file.add("first", ["corporate_documents"], read_only=False)
        assert (await status(), await status(key), await status(f"{key}x")) == (401, 200, 401)
        file.path.write_text("{")
        assert (await status(), await status(key)) == (401, 200)
        file.path.unlink()
        assert (await status(), await status(key)) == (401, 401)
    await container.aclose()

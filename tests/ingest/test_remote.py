"""Ingest through a running server: the same result as beside the store, over real HTTP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from app import errors_http, middleware
from app.ingest.documents import SkippedFile, TextChunk
from app.ingest.pipeline import ingest_into
from app.ingest.planted import Planted
from app.ingest.remote import PATH, remote_sink
from app.ingest.sink import LocalSink
from app.ingest_api import ingest_routes
from app.keyring import Keyring
from app.providers.edge_engine import EdgeEngine
from app.providers.edge_store import EdgeVectorStore
from app.providers.minilm import MiniLMEmbeddings
from graph.errors import ConfigurationError, GardenError, InvalidInput, StoreUnavailable
from tests.ingest.conftest import MODEL

SENTENCE = "The operator checks the brakes of every cart before the first mission of the day."


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """The address of *app* on loopback."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # from here on, a client waits for the server rather than being refused
        serving = asyncio.create_task(server.serve([listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await serving


@pytest_asyncio.fixture
async def address(store: EdgeVectorStore, embeddings: MiniLMEmbeddings) -> AsyncIterator[str]:
    """A server that holds ``store``, with the service's own error handlers, body limit and keys."""

    async def open_sink(collection: str | None) -> LocalSink:
        if collection not in (None, "documents", "team.docs", "Bücher_2"):
            raise InvalidInput("This server holds no such collection.", field="collection")
        return LocalSink(store, embeddings, MODEL)

    app = FastAPI()
    app.include_router(ingest_routes(open_sink, asyncio.Lock()))
    app.add_exception_handler(RequestValidationError, errors_http.on_validation_error)
    app.add_exception_handler(GardenError, errors_http.on_garden_error)
    app.add_middleware(middleware.BodyLimit)
    app.add_middleware(middleware.ApiKeys, keyring=Keyring(["key"]))
    async with served(app) as base:
        yield base


async def test_the_whole_of_ingest_through_a_server(address: str, store: EdgeVectorStore, tmp_path: Path) -> None:
    """Added, left alone, changed and pruned: as it is without a server."""
    root = tmp_path / "docs"
    root.mkdir()
    (root / "a.md").write_text("# A\n\nText of a.\n")
    (root / "b.txt").write_text("Text of b is here.")
    async with remote_sink(address, "documents", ["key"]) as sink:
        assert (await ingest_into(sink, [root], planted=Planted(tmp_path / "notes", [root]))).added == 2
        assert (await ingest_into(sink, [root])).unchanged == 2
        (root / "a.md").write_text("# A\n\nOther text.\n")
        (root / "b.txt").unlink()
        report = await ingest_into(sink, [root], planted=Planted(tmp_path / "notes", [root], prune=True))
    assert (report.changed, report.removed) == (1, 1)
    assert set(await store.adocuments()) == {"a.md"}


async def test_a_document_larger_than_a_request(address: str, store: EdgeVectorStore, tmp_path: Path) -> None:
    """A document travels in as many parts as it needs, and stands whole at the end, also when it shrinks."""
    path = tmp_path / "book.jsonl"
    rows = "".join(
        f'{{"document_id": "book", "chunk_id": "c{n}", "text": "{SENTENCE} {"x" * 60_000}"}}\n' for n in range(20)
    )
    path.write_text(rows)
    async with remote_sink(address, None, ["key"]) as sink:
        assert (await ingest_into(sink, [path])).chunks == 20
        assert (await ingest_into(sink, [path])).unchanged == 1
        path.write_text('{"document_id": "book", "chunk_id": "c7", "text": "Short."}\n')
        assert (await ingest_into(sink, [path])).changed == 1
    assert set(await store.achunk_hashes("book")) == {"c7"}


async def test_a_chunk_of_another_document_is_refused(address: str, store: EdgeVectorStore, tmp_path: Path) -> None:
    """By name on this side, the rest being kept; and by the server, whoever asks it."""
    (path := tmp_path / "rows.jsonl").write_text('{"document_id": "a", "chunk_id": "c", "text": "First."}\n')
    async with remote_sink(address, None, ["key"]) as sink:
        assert (await ingest_into(sink, [path])).added == 1
        path.write_text(
            '{"document_id": "b", "chunk_id": "c", "text": "Second."}\n'
            '{"document_id": "e", "chunk_id": "e", "text": "Third."}\n'
        )
        report = await ingest_into(sink, [path])
    assert (report.added, [one.path for one in report.skipped]) == (1, ["b"])
    chunk = {"chunk_id": "c", "chunk_index": 0, "text": "abc", "spans": []}
    part = {"document": DOCUMENT, "content_hash": "h", "last": True, "replaces": False, "chunks": [chunk]}
    async with httpx.AsyncClient(base_url=address, headers={"X-API-Key": "key"}) as client:
        response = await client.post(PATH, json={"parts": [part]})
    assert (response.status_code, "taken by document a" in response.json()["message"]) == (400, True)
    assert set(await store.adocuments()) == {"a", "e"}


@pytest.mark.parametrize("name", ["team.docs", "Bücher_2"])
async def test_a_name_that_the_engine_takes_is_taken_over_http_too(address: str, tmp_path: Path, name: str) -> None:
    """One rule for the names of collections, here and beside a server."""
    EdgeEngine(tmp_path, name).close()
    (path := tmp_path / "a.txt").write_text("Hello there.")
    async with remote_sink(address, name, ["key"]) as sink:
        assert (await ingest_into(sink, [path])).added == 1


async def test_a_broken_file_is_named_here(address: str, tmp_path: Path) -> None:
    """Files are read on this side, and named on this side."""
    (path := tmp_path / "a.pdf").write_bytes(b"%PDF nothing")
    async with remote_sink(address, None, ["key"]) as sink:
        report = await ingest_into(sink, [path])
    assert report.skipped == (SkippedFile(path="a.pdf", reason="a damaged PDF"),)


async def test_errors_of_the_server_have_names(address: str, tmp_path: Path) -> None:
    """A wrong key, another collection and no server at all: each an error of ours."""
    (path := tmp_path / "a.txt").write_text("Hello there.")
    with pytest.raises(ConfigurationError, match="API_KEYS"):
        async with remote_sink(address, None) as sink:
            await ingest_into(sink, [path])
    with pytest.raises(InvalidInput, match="no such collection"):
        async with remote_sink(address, "other", ["key"]) as sink:
            await ingest_into(sink, [path])
    with pytest.raises(StoreUnavailable):
        async with remote_sink("http://127.0.0.1:9", None) as sink:
            await ingest_into(sink, [path])


def version(words: str, chunks: int) -> list[dict[str, Any]]:
    """A document as its client sends it, in two parts."""
    split = [TextChunk(chunk_id=f"d#{n}", chunk_index=n, text=f"{words} {n}.", spans=()) for n in range(chunks)]
    whole = {"document": DOCUMENT, "content_hash": f"hash of {words}", "replaces": False, "total": chunks}
    firsts, lasts = split[1:-1], [split[-1], split[0]]
    return [
        {**whole, "last": last, "chunks": [chunk.model_dump(mode="json") for chunk in group]}
        for last, group in ((False, firsts), (True, lasts))
    ]


async def texts(store: EdgeVectorStore) -> set[str]:
    """The text of every stored chunk."""
    return {point.text async for page in store.apoints() for point in page}


async def test_of_two_versions_stored_at_once_one_remains(address: str, store: EdgeVectorStore) -> None:
    """Neither client knew of the other: the later version stands alone, whole, whatever it said that it replaces."""
    async with httpx.AsyncClient(base_url=address, headers={"X-API-Key": "key"}) as client:
        for parts in (version("Old", 9), version("New", 4)):
            assert (await client.post(PATH, json={"parts": parts})).status_code == 200
    assert await texts(store) == {f"New {n}." for n in range(4)}
    assert await store.adocuments() == {"d": "hash of New"}


async def test_a_document_that_lost_chunks_on_its_way_does_not_count_as_whole(
    address: str, store: EdgeVectorStore
) -> None:
    """Another version came between its parts: the next run finds another hash, and makes it whole."""
    new = version("New", 6)
    async with httpx.AsyncClient(base_url=address, headers={"X-API-Key": "key"}) as client:
        for parts in (new[:1], version("Old", 3), new[1:]):
            assert (await client.post(PATH, json={"parts": parts})).status_code == 200
        assert await store.adocuments() == {"d": "part of hash of New"}
        assert await texts(store) == {"New 0.", "New 5."}
        assert (await client.post(PATH, json={"parts": new})).status_code == 200
    assert await texts(store) == {f"New {n}." for n in range(6)}
    assert await store.adocuments() == {"d": "hash of New"}


TORN = {"chunk_id": "c", "chunk_index": 0, "text": "abc", "spans": [[0, 9]]}
DOCUMENT = {"document_id": "d", "source": "d"}


@pytest.mark.parametrize("value", ["NaN", "-Infinity", '"\\ud800"', '{"\\udc00": 1}', str(2**70)])
async def test_metadata_that_cannot_be_stored_is_refused_by_name(
    address: str, store: EdgeVectorStore, value: str
) -> None:
    """Not-a-number, half a surrogate pair and numbers past 64 bits are 400 with the field, and nothing is stored."""
    document = f'{{"document_id": "d", "source": "d", "metadata": {{"deep": [{value}]}}}}'
    chunk = '{"chunk_id": "c", "chunk_index": 0, "text": "abc", "spans": []}'
    part = f'{{"document": {document}, "content_hash": "h", "last": true, "chunks": [{chunk}]}}'
    headers = {"X-API-Key": "key", "Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=address, headers=headers) as client:
        response = await client.post(PATH, content=f'{{"parts": [{part}]}}')
    told = response.json()
    assert (response.status_code, told["details"]["field"]) == (400, "parts.0.document.metadata")
    assert await store.acount() == 0


@pytest.mark.parametrize(
    "body",
    [
        {"collection": "../../etc"},
        {"collection": ".hidden"},
        {"collection": "team.docs\n"},
        {"remove": [""]},
        {"parts": [{}]},
        {"parts": [{"document": DOCUMENT, "content_hash": "h", "last": True, "replaces": False, "chunks": [TORN]}]},
    ],
)
async def test_a_wrong_request_is_refused(address: str, store: EdgeVectorStore, body: object) -> None:
    """Collections out of the data folder, empty ids, torn parts and spans past the text: 400, and nothing stored."""
    async with httpx.AsyncClient(base_url=address, headers={"X-API-Key": "key"}) as client:
        response = await client.post(PATH, json=body)
    assert (response.status_code, response.json()["error"]) == (400, "VALIDATION_ERROR")
    assert await store.acount() == 0

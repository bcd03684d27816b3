"""The Model Context Protocol, asked by its own SDK's client: over HTTP in both of its eras, and over stdio."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from app.bootstrap.compose import build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import StoreUnavailable
from tests.app.api.one_chunk import served
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC, BrokenStore
from tests.app.api.test_query_stream import Patient
from tests.support.paths import ROOT
from tests.support.samples_service import serve, wait_until

TOOLS = {"ask", "search", "read", "list_documents"}
Connect = Callable[[], Any]


@pytest.fixture(params=["http", "http, before 2026-07-28", "stdio"])
def connect(request: pytest.FixtureRequest, sample_data: Path, tmp_path: Path) -> Connect:
    """A way to connect to the samples: what every one of them must do alike."""
    if request.param == "stdio":
        folder = shutil.copytree(sample_data, tmp_path / "data")
        environment = {**os.environ, "DATA_DIR": str(folder), "PYTHONPATH": str(ROOT)}
        command = StdioServerParameters(command=sys.executable, args=["-m", "app.cli", "mcp"], env=environment)
        return lambda: Client(command)
    address = request.getfixturevalue("address")
    return lambda: Client(f"{address}/mcp", mode="auto" if request.param == "http" else "legacy")


@asynccontextmanager
async def with_headers(address: str, headers: dict[str, str]) -> AsyncIterator[Client]:
    """A client that sends *headers*."""
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
    ):
        yield client


def get(http: httpx.Client, path: str, **params: Any) -> Any:
    """The body of a GET; the server has a thread of its own, so this one may wait."""
    return http.get(path, params=params).json()


def lasting(body: dict[str, Any]) -> dict[str, Any]:
    """The body of /query without what differs from one request to the next."""
    changing = {"processingTimeMs", "requestId", "stageTimingsMs"}
    return {**body, "metadata": {name: one for name, one in body["metadata"].items() if name not in changing}}


def body_of(http: httpx.Client, query: str, **fields: Any) -> dict[str, Any]:
    return lasting(http.post("/query", json={"query": query, "includeEvidence": True, **fields}).json())


async def test_an_agent_finds_its_way(connect: Connect, http: httpx.Client) -> None:
    """What is listed is there: four tools that only read, asked, searched and read one after the other, and every
    document as a resource; all with the data of the HTTP APIs."""
    async with connect() as client:
        assert (client.server_info.name, "checked" in client.instructions) == ("knowledge-garden", True)
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        assert all(tool.annotations.read_only_hint and tool.description and tool.output_schema for tool in tools)

        asked = await client.call_tool("ask", {"query": CHEMICALS})
        assert lasting(asked.structured_content) == body_of(http, CHEMICALS)
        text = asked.content[0].text
        assert text == f"{asked.structured_content['answer']}\n\nSources:\n\n1. Safety Manual, page 3"

        searched = await client.call_tool("search", {"query": CHEMICALS, "k": 3})
        assert searched.structured_content == get(http, "/api/v1/search", q=CHEMICALS, k=3)

        cited = asked.structured_content["evidence"][0]
        part = await client.call_tool(
            "read", {"document_id": cited["documentId"], "chunk_id": cited["chunkId"], "limit": 2}
        )
        path = f"/api/v1/documents/{cited['documentId']}"
        assert part.structured_content == get(http, path, around=cited["chunkId"], limit=2)
        assert cited["quote"] in part.content[0].text

        listed = await client.call_tool("list_documents", {"limit": 2, "offset": 1})
        assert listed.structured_content == get(http, "/api/v1/documents", offset=1, limit=2)

        resources = (await client.list_resources()).resources
        stored = get(http, "/api/v1/documents")["documents"]
        assert [(resource.name, resource.title) for resource in resources] == [
            (point["id"], point["title"]) for point in stored
        ]
        whole = await client.read_resource(
            next(resource.uri for resource in resources if resource.name == cited["documentId"])
        )
        assert cited["quote"] in whole.contents[0].text
        assert [template.uri_template for template in (await client.list_resource_templates()).resource_templates] == [
            "garden://documents/{document_id}"
        ]


async def test_what_goes_wrong_is_told(connect: Connect) -> None:
    """A decline is a result; a wrong question, document or argument is a result marked as an error, with the one error
    body; an unknown resource or tool is an error of the protocol or of the tool."""
    async with connect() as client:
        declined = await client.call_tool("ask", {"query": OFF_TOPIC})
        assert (declined.is_error, declined.structured_content["metadata"]["outcome"]) == (False, "no_relevant_chunks")
        for tool, arguments, field in (
            ("ask", {"query": " "}, "query"),
            ("ask", {"query": "x" * 2001}, "query"),
            ("ask", {"query": CHEMICALS, "max_sources": 51}, "maxSources"),
            ("search", {"query": " "}, "query"),
            ("read", {"document_id": "nobody.md"}, "document_id"),
        ):
            refused = await client.call_tool(tool, arguments)
            body = refused.structured_content
            assert (refused.is_error, body["error"], body["details"]["field"]) == (True, "VALIDATION_ERROR", field)
            assert refused.content[0].text == f"VALIDATION_ERROR: {body['message']}"
        for tool, wrong in (("read", {"document_id": 7}), ("list_documents", {"limit": 0}), ("ask", {})):
            assert (await client.call_tool(tool, wrong)).is_error
        for uri in ("garden://documents/nobody.md", "garden://documents/..%2F..%2Fetc%2Fpasswd", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)


async def test_a_question_may_be_narrowed(address: str, http: httpx.Client) -> None:
    """``source`` and ``filters`` narrow ask and search as on every interface."""
    async with Client(f"{address}/mcp") as client:
        narrowed: dict[str, Any] = {"source": "hr_*"}
        asked = await client.call_tool("ask", {"query": CHEMICALS, **narrowed})
        assert lasting(asked.structured_content) == body_of(http, CHEMICALS, **narrowed)
        found = await client.call_tool("search", {"query": CHEMICALS, "filters": {"type": "md"}})
        assert {hit["document_id"].rpartition(".")[2] for hit in found.structured_content["results"]} == {"md"}


@pytest.mark.parametrize("name", ["a b.md", "ü/#?&%.md", "..md", "deep/er/../x.md"])
async def test_any_id_is_a_resource(embedding: EmbeddingModel, tmp_path: Path, name: str) -> None:
    """A document is read by its URI whatever its id holds."""
    row = f'{{"document_id": "{name}", "title": "Whales", "text": "The blue whale feeds on krill."}}'
    with serve(build_container(load_settings(data_dir=tmp_path), embedding=embedding)) as address:
        path, headers = f"{address}/api/v1/documents?name=w.jsonl", {"Content-Type": "application/octet-stream"}
        async with httpx.AsyncClient(timeout=30) as http:
            (await http.post(path, content=row.encode(), headers=headers)).raise_for_status()
        async with Client(f"{address}/mcp") as client:
            (resource,) = (await client.list_resources()).resources
            assert (resource.name, resource.uri) == (name, f"garden://documents/{quote(name, safe='')}")
            assert "krill" in (await client.read_resource(resource.uri)).contents[0].text


async def test_a_key_is_wanted(embedding: EmbeddingModel, tmp_path: Path) -> None:
    """With API_KEYS, a client without one is refused with the one error body, and one with it is served."""
    container = build_container(load_settings(data_dir=tmp_path, api_keys="sesame"), embedding=embedding)
    with serve(container) as address:
        async with httpx.AsyncClient() as http:
            refused = await http.post(f"{address}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert (refused.status_code, refused.json()["error"]) == (401, "UNAUTHORIZED")
        with pytest.raises(BaseException):  # noqa: B017  # the SDK raises a group, whose kind depends on where it was
            async with with_headers(address, {"Authorization": "Bearer other"}) as client:
                await client.list_tools()
        async with with_headers(address, {"X-API-Key": "sesame"}) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS


async def test_an_outage_is_a_result(embedding: EmbeddingModel, tmp_path: Path) -> None:
    """A store that is down is RETRIEVAL_FAILED for every tool that needs it, and never "nothing found"."""
    store: Any = BrokenStore(StoreUnavailable("It is down."))
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding, store=store)
    with serve(container) as address:
        async with Client(f"{address}/mcp") as client:
            for tool in ("ask", "search"):
                failed = await client.call_tool(tool, {"query": CHEMICALS})
                assert (failed.is_error, failed.structured_content["error"]) == (True, "RETRIEVAL_FAILED")
                assert failed.content[0].text == "RETRIEVAL_FAILED: It is down."


async def test_slots_are_those_of_every_interface(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """When every slot is taken, a tool's result is OVERLOADED, and says when to try again."""
    with served(embedding, http, Patient(), max_concurrent_requests=1) as (container, address):
        async with (
            httpx.AsyncClient() as other,
            Client(f"{address}/mcp") as client,
            other.stream("POST", f"{address}/query/stream", json={"query": CHEMICALS}) as held,
        ):
            pieces = held.aiter_raw()  # kept, since letting go of it would close the connection
            await anext(pieces)
            for tool in ("ask", "search"):
                busy = await client.call_tool(tool, {"query": CHEMICALS})
                assert (busy.is_error, busy.structured_content["error"]) == (True, "OVERLOADED")
                assert busy.structured_content["details"]["retryAfterSeconds"] >= 1
        wait_until(lambda: container.service.in_flight == 0)


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_client_that_leaves_stops_the_model(embedding: EmbeddingModel, http: httpx.Client, version: str) -> None:
    """When the client closes the connection, the work of its tool is cancelled and the slot is free again."""
    patient = Patient()
    params: dict[str, Any] = {"name": "ask", "arguments": {"query": CHEMICALS}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version}
    if version == "2026-07-28":
        meta = {"protocolVersion": version, "clientCapabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "ask"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with served(embedding, http, patient, max_concurrent_requests=1) as (container, address):
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{address}/mcp", json=message, headers=headers, timeout=3)
        assert patient.begun.is_set()
        assert patient.stopped.wait(20)
        wait_until(lambda: container.service.in_flight == 0)


def test_the_transport_keeps_the_services_limits(http: httpx.Client) -> None:
    """A body past 1 MiB is 413, another method 405, another host name 400, each in the one error body."""
    for expected, response in (
        ((413, "PAYLOAD_TOO_LARGE"), http.post("/mcp", content=b"x" * (1 << 20) + b"x")),
        ((405, "METHOD_NOT_ALLOWED"), http.get("/mcp")),
        ((400, "VALIDATION_ERROR"), http.post("/mcp", json={}, headers={"Host": "evil.example"})),
    ):
        assert (response.status_code, response.json()["error"]) == expected


def test_what_is_no_message_is_an_error_of_the_protocol(http: httpx.Client) -> None:
    """What is no JSON-RPC is 4xx with JSON-RPC's error, and tells nothing of the inside."""
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    for content in (b"", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff", b"null"):
        response = http.post("/mcp", content=content, headers=headers)
        assert 400 <= response.status_code < 500, content
        assert response.json()["error"]["code"] < 0
        assert "Traceback" not in response.text
    refused = http.post("/mcp", content=b"{}", headers={**headers, "Content-Type": "text/plain"})
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "Content-Type")


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("ask", {}, "query"),
        ("ask", {"query": 5}, "query"),
        ("ask", {"query": CHEMICALS, "source": 7}, "source"),
        ("search", {"query": CHEMICALS, "k": "x"}, "k"),
        ("read", {"chunk_id": "safety_manual.pdf#3"}, "document_id"),
        ("list_documents", {"offset": -1}, "offset"),
    ],
)
async def test_wrong_arguments_are_the_one_error_body(
    address: str, tool: str, arguments: dict[str, Any], field: str
) -> None:
    """A missing argument, or one of another type, is a result that names it, as a wrong question is."""
    async with Client(f"{address}/mcp") as client:
        refused = await client.call_tool(tool, arguments)
    assert refused.is_error
    assert refused.structured_content["error"] == "VALIDATION_ERROR"
    assert refused.structured_content["details"] == {"field": field}
    assert "pydantic" not in refused.content[0].text

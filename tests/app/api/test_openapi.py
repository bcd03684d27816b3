"""The OpenAPI document: every operation described, every request made of its examples answered as documented."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import jsonschema_rs
import pytest

from app.bootstrap.compose import build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.support.samples_service import serve

METHODS = ("get", "post", "put", "patch", "delete")
OPTIONS = {"config", "kwargs", "diff"} | {
    f"{way}_{kind}" for way in ("include", "exclude") for kind in ("names", "types", "tags")
}
"""What LangServe takes beside the question."""
EVENT = re.compile(r"(?:event: \S+\r?\n)?(?:data: ?[^\n]*\r?\n)+|event: \S+\r?\n")


@pytest.fixture(scope="module")
def served(
    sample_data: Path, embedding: EmbeddingModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A client of a service of its own, for some examples write."""
    folder = tmp_path_factory.mktemp("openapi") / "data"
    shutil.copytree(sample_data, folder)
    container = build_container(load_settings(data_dir=folder), embedding=embedding)
    (folder / "archive").mkdir()
    shutil.copy(folder / "corporate_documents" / "garden.sqlite3", folder / "archive")
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def document(served: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = served.get("/openapi.json").json()
    return found


def test_docs_ask_no_other_host(served: httpx.Client) -> None:
    """``/docs`` names no address of another host, and what it loads from this one is there."""
    page = served.get("/docs").text
    assert "SwaggerUIBundle" in page
    assert "://" not in page
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(loaded) == 3
    assert [served.get(path).status_code for path in [*loaded, "/openapi.json"]] == [200] * 4
    assert served.get("/redoc").status_code == 404


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, shared in document["paths"].items()
        for method, operation in shared.items()
        if method in METHODS
    ]


def example(document: dict[str, Any], schema: dict[str, Any]) -> Any:
    """A value made of the examples of *schema* and of what it refers to; LangServe's own schemas have none."""
    if "$ref" in schema:
        return example(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "examples" in schema:
        return schema["examples"][0]
    if schema.get("type") == "array":
        return [example(document, schema["items"])]
    return {
        name: example(document, value) for name, value in schema.get("properties", {}).items() if name not in OPTIONS
    }


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    """Each has a summary, a description and the one error body, and none speaks of 422, which is never answered."""
    for _, path, operation in operations(document):
        assert operation["summary"], path
        assert operation["description"], path
        assert "422" not in operation["responses"], path
        for status in ("4XX", "5XX"):
            content = operation["responses"][status]["content"]["application/json"]
            name = "OpenAIErrorBody" if path.startswith("/v1/") else "ErrorBody"
            assert content["schema"] == {"$ref": f"#/components/schemas/{name}"}, (path, status)


def test_every_example_runs(served: httpx.Client, document: dict[str, Any]) -> None:
    """A request made of an operation's examples is answered with 200, in the documented media type and schema."""
    for method, path, operation in operations(document):
        bodies = operation.get("requestBody", {}).get("content", {})
        body: dict[str, Any] = {}
        if "application/json" in bodies:
            body = {"json": example(document, bodies["application/json"]["schema"])}
        elif bodies:
            body = {"content": "# Beans\n\nBeans are sown in May.\n", "headers": {"Content-Type": next(iter(bodies))}}
        shown = {
            parameter["name"]: parameter["schema"]["examples"][0]
            for parameter in operation.get("parameters", ())
            if "examples" in parameter["schema"]
        }
        inside = {name: quote(value) for name, value in shown.items() if f"{{{name}}}" in path}
        params = {name: value for name, value in shown.items() if name not in inside}
        response = served.request(method, path.format(**inside), params=params, **body)
        assert (path, response.status_code) == (path, 200), response.text
        documented = operation["responses"]["200"]["content"]
        kind = response.headers["content-type"].split(";")[0]
        if kind == "application/json":
            schema = documented[kind]["schema"]
            jsonschema_rs.validate({**schema, "components": document["components"]}, response.json())
        elif path not in ("/rag/stream_events", "/rag/stream_log"):  # LangServe describes these as JSON
            assert (path, kind) in [(path, kind) for kind in documented]
            if kind != "text/event-stream":
                continue
            for text in (response.text, documented[kind].get("example", "data: x\n\n")):
                assert all(EVENT.fullmatch(f"{block}\n") for block in re.split(r"\r?\n\r?\n", text.strip())), path


def test_the_chat_is_described_as_it_streams(document: dict[str, Any]) -> None:
    """Its example is text, lines of one event, and the end; a failure is described as an error event without it."""
    answer = document["paths"]["/api/v1/chat"]["post"]["responses"]["200"]
    assert set(answer["content"]) == {"text/event-stream"}
    assert answer["content"]["text/event-stream"]["example"].endswith("data: [DONE]\n\n")
    assert "event: error" in answer["description"]

"""The OpenAPI document: every door described, every example sent to a running service, every error in the one body."""

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

from app.api.openapi import described
from app.api.openapi_examples import DOORS
from app.bootstrap.compose import build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.support.samples_service import serve

METHODS = ("get", "post", "put", "patch", "delete")
EVENT = re.compile(r"(?:event: \S+\r?\n)?(?:data: ?[^\n]*\r?\n)+|event: \S+\r?\n")


@pytest.fixture(scope="module")
def served(
    planted: Path, embedding: EmbeddingModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A client of a service of its own, for some examples write."""
    folder = tmp_path_factory.mktemp("openapi") / "data"
    shutil.copytree(planted, folder)
    container = build_container(load_settings(data_dir=folder), embedding=embedding)
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def document(served: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = served.get("/openapi.json").json()
    return found


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, shared in document["paths"].items()
        for method, operation in shared.items()
        if method in METHODS
    ]


def requests_of(operation: dict[str, Any]) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """The documented requests by name: body and parameters. A door without arguments has the one that says nothing."""
    named: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        for name, example in body.get("examples", {}).items():
            value = example["value"]
            named[name] = ({"json": value} if kind == "application/json" else {"content": value, "kind": kind}, {})
    for parameter in operation.get("parameters", ()):
        for name, example in parameter.get("examples", {}).items():
            named.setdefault(name, ({}, {}))[1][parameter["name"]] = example["value"]
    if not named and "requestBody" not in operation:
        (only,) = operation["responses"]["200"]["content"]["application/json"]["examples"]
        named[only] = ({}, {})
    return named


def answer_to(operation: dict[str, Any], name: str) -> tuple[int, str, dict[str, Any], Any]:
    """Status, media type, schema and example of the one documented answer of that name."""
    (found,) = [
        (int(status), kind, content["schema"], content["examples"][name]["value"])
        for status, answer in operation["responses"].items()
        for kind, content in answer.get("content", {}).items()
        if name in content.get("examples", {})
    ]
    return found


def check(document: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    jsonschema_rs.validate({**schema, "components": document["components"]}, value)


def test_every_door_is_described(document: dict[str, Any]) -> None:
    """Each operation has a summary, a description and an example; and no description is of a door that is not there."""
    for method, path, operation in operations(document):
        assert operation["summary"], path
        assert operation["description"], path
        assert requests_of(operation), path
        assert (method, path) in DOORS
    assert {(method, path) for method, path, _ in operations(document)} == set(DOORS)


def test_every_example_runs(served: httpx.Client, document: dict[str, Any]) -> None:
    """Each documented request gets the documented status, and an answer of the schema that its example has too."""
    sent = 0
    for method, path, operation in operations(document):
        for name, (body, params) in requests_of(operation).items():
            status, kind, schema, example = answer_to(operation, name)
            inside = {name: value for name, value in params.items() if f"{{{name}}}" in path}
            url = path.format(**{name: quote(value) for name, value in inside.items()})
            asked = {name: value for name, value in params.items() if name not in inside}
            headers = {"Content-Type": body["kind"]} if "kind" in body else {}
            sent_body = {name: value for name, value in body.items() if name != "kind"}
            response = served.request(method, url, params=asked, headers=headers, **sent_body)
            where = f"{method} {path}: {name}"
            assert (where, response.status_code) == (where, status), response.text
            assert response.headers["content-type"].split(";")[0] == kind, where
            if kind == "application/json":
                check(document, schema, response.json())
                check(document, schema, example)
            else:
                for text in (response.text, example):
                    assert all(EVENT.fullmatch(f"{block}\n") for block in re.split(r"\r?\n\r?\n", text.strip())), where
            sent += 1
    assert sent >= len(operations(document))


def test_errors_have_the_one_body(document: dict[str, Any]) -> None:
    """Every documented status from 400 on is the one error body, but for health's own 503; 422 is never documented."""
    for method, path, operation in operations(document):
        assert "422" not in operation["responses"], path
        for status, answer in operation["responses"].items():
            if int(status) < 400 or (path, status) == ("/health", "503"):
                continue
            content = answer["content"]["application/json"]
            assert content["schema"] == {"$ref": "#/components/schemas/ErrorBody"}, (method, path, status)
            for example in content["examples"].values():
                check(document, content["schema"], example["value"])
        assert "500" in operation["responses"], path
        assert ("401" in operation["responses"]) is not path.startswith("/health"), path


def test_a_door_nobody_described_stays_as_it_is() -> None:
    """What has no entry of its own keeps FastAPI's description."""
    given = {"paths": {"/x": {"get": {"summary": "X", "responses": {"200": {}}}}}, "components": {"schemas": {}}}
    assert described(given)["paths"] == {"/x": {"get": {"summary": "X", "responses": {"200": {}}}}}

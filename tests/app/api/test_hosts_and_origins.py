"""Who may call from where: host names, origins, and that another site's page cannot ingest anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.server import create_app
from app.bootstrap.compose import build_container
from app.settings import load_settings
from tests.support.two_facts import QUESTION, WIKI, serve_here

PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,x-api-key"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example"]
)
def test_over_loopback_without_keys_a_foreign_name_is_refused(client: httpx.Client, host: str) -> None:
    """A foreign name that points at 127.0.0.1 (DNS rebinding) is 400; health and metrics stay open for probes."""
    answer = client.post("/query", json={"query": QUESTION}, headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]) == (400, "VALIDATION_ERROR")
    assert "TRUSTED_HOSTS" in answer.json()["message"]
    assert client.get("/health/ready", headers={"Host": host}).status_code == 200
    assert client.get("/metrics", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "[::1]:8000", "0.0.0.0:1"])
def test_an_address_or_localhost_is_answered(client: httpx.Client, host: str) -> None:
    """An IP address cannot be rebound."""
    assert client.get("/docs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("given", "host", "status"),
    [
        ({"trusted_hosts": "garden.example.org, other"}, "Garden.example.org:443", 200),
        ({"trusted_hosts": "garden.example.org"}, "evil.example", 400),
        ({"trusted_hosts": "garden.example.org", "api_keys": "key"}, "evil.example", 400),
        ({"trusted_hosts": "*"}, "evil.example", 200),
        ({"api_keys": "key"}, "proxied.example", 200),
    ],
)
def test_names_behind_a_proxy(tmp_path: Path, embedding: Any, given: dict[str, str], host: str, status: int) -> None:
    """TRUSTED_HOSTS names more, ``*`` is any, and once set it holds with keys too; keys alone need no name."""
    settings = load_settings(data_dir=tmp_path, **given)
    app = create_app(build_container(settings, embedding=embedding))
    with serve_here(app) as address:
        answer = httpx.get(f"{address}/docs", headers={"Host": host, "X-API-Key": "key"}, timeout=30)
    assert answer.status_code == status


def test_named_origins_may_call(client: httpx.Client) -> None:
    """A page of a named origin may ask and delete, with a key, and read the answer and its request id."""
    for method, path in (("POST", "/query"), ("DELETE", "/api/v1/documents/tower.md")):
        asked = {"Origin": WIKI, **PREFLIGHT, "Access-Control-Request-Method": method}
        allowed = client.options(path, headers=asked)
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, WIKI)
    answer = client.post("/query", json={"query": QUESTION}, headers={"Origin": WIKI})
    assert answer.headers["access-control-allow-origin"] == WIKI
    assert "X-Request-ID" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{WIKI}.evil.example", "http://wiki.example.org"])
def test_other_origins_may_not(client: httpx.Client, origin: str) -> None:
    """Any other origin is refused, in the preflight and in the response."""
    refused = client.options("/query", headers={"Origin": origin, **PREFLIGHT})
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers
    answer = client.post("/query", json={"query": QUESTION}, headers={"Origin": origin})
    assert "access-control-allow-origin" not in answer.headers


def test_by_default_no_origin_may(tmp_path: Path, embedding: Any) -> None:
    """Without CORS_ORIGINS no answer carries a CORS header."""
    settings = load_settings(data_dir=tmp_path)
    with serve_here(create_app(build_container(settings, embedding=embedding))) as address:
        asked = httpx.options(f"{address}/query", headers={"Origin": WIKI, **PREFLIGHT})
        answer = httpx.get(f"{address}/docs", headers={"Origin": WIKI}, timeout=30)
    assert asked.status_code == 405
    assert not [name for name in (*asked.headers, *answer.headers) if name.startswith("access-control")]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
@pytest.mark.parametrize(
    "path",
    [
        *("/query", "/query/stream", "/api/v1/chat", "/api/v1/feedback"),
        *(f"/rag/{way}" for way in ("invoke", "batch", "stream", "stream_log", "stream_events")),
    ],
)
def test_a_cross_site_form_is_not_read_as_json(client: httpx.Client, path: str, kind: str) -> None:
    """A simple request, which needs no preflight, is refused even if its body is JSON."""
    asked: dict[str, Any] = {"query": "What?", "message": "What?"}
    asked |= {"question": "What?", "outcome": "answered", "rating": "up"}
    body = json.dumps({**asked, "input": {"query": "What?"}, "inputs": [{"query": "What?"}]})
    answer = client.post(path, content=body, headers={"Content-Type": kind} if kind else {})
    assert (answer.status_code, answer.json()["error"]) == (400, "VALIDATION_ERROR")
    assert client.get("/api/v1/chunks/tower.md%230").status_code == 200

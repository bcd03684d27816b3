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
from tests.support.two_facts import QUESTION, serve_here

WIKI = "https://wiki.example.org"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,x-api-key"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example"]
)
def test_over_loopback_without_keys_a_foreign_name_is_refused(facts_client: httpx.Client, host: str) -> None:
    """A foreign name that points at 127.0.0.1 (DNS rebinding) is 400; health and metrics stay open for probes."""
    answer = facts_client.post("/query", json={"query": QUESTION}, headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]) == (400, "VALIDATION_ERROR")
    assert "TRUSTED_HOSTS" in answer.json()["message"]
    assert facts_client.get("/health/ready", headers={"Host": host}).status_code == 200
    assert facts_client.get("/metrics", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "[::1]:8000", "0.0.0.0:1"])
def test_an_address_or_localhost_is_answered(facts_client: httpx.Client, host: str) -> None:
    """An IP address cannot be rebound."""
    assert facts_client.get("/docs", headers={"Host": host}).status_code == 200


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


def test_no_other_origin_may_read(tmp_path: Path, embedding: Any) -> None:
    """No answer carries a CORS header, and a preflight is refused."""
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
def test_a_cross_site_form_is_not_read_as_json(facts_client: httpx.Client, path: str, kind: str) -> None:
    """A simple request, which needs no preflight, is refused even if its body is JSON."""
    asked: dict[str, Any] = {"query": "What?", "message": "What?"}
    asked |= {"question": "What?", "outcome": "answered", "rating": "up"}
    body = json.dumps({**asked, "input": {"query": "What?"}, "inputs": [{"query": "What?"}]})
    answer = facts_client.post(path, content=body, headers={"Content-Type": kind} if kind else {})
    assert (answer.status_code, answer.json()["error"]) == (400, "VALIDATION_ERROR")
    assert facts_client.get("/api/v1/chunks/tower.md%230").status_code == 200

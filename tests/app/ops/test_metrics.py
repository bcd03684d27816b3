"""``/metrics``: what is counted, that its labels are few, and that no client's text is in it."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app.api.monitoring import Metrics
from app.api.server import create_app
from app.bootstrap.compose import AppContainer, build_container
from app.settings import load_settings
from tests.peers import OllamaPeer
from tests.support.paths import ROOT
from tests.support.two_facts import QUESTION, serve_here

DEPLOY = ROOT / "deploy"
OURS = re.compile(r"\b((?:garden|process)_[a-z_]+)\b")
Sample = tuple[str, tuple[tuple[str, str], ...]]


def figures(facts_client: httpx.Client) -> dict[Sample, float]:
    """Every sample: its value by name and labels."""
    answer = facts_client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return samples(answer.text)


def samples(text: str) -> dict[Sample, float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def of(found: dict[Sample, float], name: str, **labels: str) -> float:
    return found.get((name, tuple(sorted(labels.items()))), 0.0)


def test_a_question_is_counted(facts_client: httpx.Client) -> None:
    """One question adds one to its interface, to its outcome, and to the histogram of each stage it went through."""
    before = figures(facts_client)
    assert facts_client.post("/query", json={"query": QUESTION}).status_code == 200
    after = figures(facts_client)

    def more(name: str, **labels: str) -> float:
        return of(after, name, **labels) - of(before, name, **labels)

    assert more("garden_http_requests_total", interface="query", route="/query", method="POST", status="200") == 1
    assert more("garden_http_request_seconds_count", interface="query") == 1
    assert more("garden_questions_total", outcome="answered") == 1
    assert more("garden_question_seconds_count") == 1
    for stage in ("validate", "retrieve", "grade", "synthesize", "cite"):
        assert more("garden_stage_seconds_count", stage=stage) == 1


def test_what_is_read_at_the_scrape(facts_client: httpx.Client, here: tuple[str, AppContainer]) -> None:
    """Chunks of each collection, readiness, slots, nothing in flight, and what is built in."""
    found = figures(facts_client)
    assert of(found, "garden_chunks", collection="corporate_documents") == 1
    assert of(found, "garden_chunks", collection="tasks") == 0
    assert of(found, "garden_ready") == 1
    assert of(found, "garden_draining") == 0
    assert of(found, "garden_slots") == here[1].settings.slots
    assert of(found, "garden_questions_in_flight") == of(found, "garden_http_requests_in_flight") == 0
    assert of(found, "process_resident_memory_bytes") > 0
    (build,) = [dict(labels) for name, labels in found if name == "garden_build_info"]
    assert (build["version"], build["store"], build["chat"]) == (here[1].version, "embedded", "extractive")


def test_labels_are_few_and_hold_no_text_of_a_client(facts_client: httpx.Client) -> None:
    """However many paths, methods, ids and questions clients make up, they add one series and none of their words."""

    def call(n: int) -> None:
        facts_client.request(f"BREW{n}", f"/made-up-{n}", headers={"X-Request-ID": f"made-up-{n}"})
        facts_client.get(f"/rag/playground/made-up-{n}")
        facts_client.post("/query", json={"query": f"Is made-up-{n} true?"})
        facts_client.get("/api/v1/search/semantic", params={"q": f"made-up-{n}"})

    call(0)  # the routes' own series, whichever test comes first
    before = len(figures(facts_client))
    for n in range(1, 30):
        call(n)
    text = facts_client.get("/metrics").text
    assert "made-up" not in text
    assert "BREW" not in text
    assert len(samples(text)) - before < 120


def test_metrics_want_no_key(tmp_path: Path, embedding: Any) -> None:
    """With API_KEYS set, /metrics and /health still answer, and two services in one process count apart."""
    containers = []
    for name, keys in (("a", "key"), ("b", "")):
        settings = load_settings(data_dir=tmp_path / name, api_keys=keys)
        containers.append(container := build_container(settings, embedding=embedding))
        with serve_here(create_app(container)) as address:
            assert httpx.get(f"{address}/docs", timeout=30).status_code == (401 if keys else 200)
            found = samples(httpx.get(f"{address}/metrics", timeout=30).text)
            status = "401" if keys else "200"
            route = {"interface": "none", "route": "none"} if keys else {"interface": "page", "route": "/docs"}
            assert of(found, "garden_http_requests_total", method="GET", status=status, **route) == 1
            assert sum(name == "garden_http_requests_total" for name, _ in found) == 1


def test_tokens_of_the_model(tmp_path: Path, embedding: Any) -> None:
    """A chat model's own token counts add up."""
    with OllamaPeer() as peer:
        settings = load_settings(
            data_dir=tmp_path, ollama_host=peer.url, ollama_model="llama3.2:1b", relevance_threshold=0
        )
        container = build_container(settings, embedding=embedding)
        with serve_here(create_app(container)) as address, httpx.Client(base_url=address, timeout=30) as client:
            client.post("/api/v1/chat", json={"message": "Hello?", "use_rag": False})
            found = figures(client)
    spent = {kind: of(found, "garden_model_tokens_total", kind=kind) for kind in ("input", "output")}
    assert spent["input"] == 1
    assert spent["output"] > 0


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory, embedding: Any) -> set[str]:
    """The names of all series a service with a chat model exports."""
    settings = load_settings(data_dir=tmp_path_factory.mktemp("names"), ollama_model="llama3.2:1b")
    container = build_container(settings, embedding=embedding)
    metrics = Metrics(container)

    async def read() -> None:
        await metrics.scrape()
        await container.aclose()

    asyncio.run(read())
    names: set[str] = set()
    for family in metrics.registry.collect():
        suffixes = {"counter": ["_total"], "info": ["_info"], "histogram": ["_bucket", "_sum", "_count"]}.get(
            family.type, [""]
        )
        names |= {f"{family.name}{suffix}" for suffix in suffixes}
    return names


def queries(value: Any) -> list[str]:
    """Every PromQL expression below *value*."""
    if isinstance(value, dict):
        own = [value["expr"]] if isinstance(value.get("expr"), str) else []
        own += [value["query"]] if isinstance(value.get("query"), str) and "garden_" in value["query"] else []
        return own + [query for inner in value.values() for query in queries(inner)]
    return [query for inner in value for query in queries(inner)] if isinstance(value, list) else []


def test_the_dashboard_asks_for_what_is_exported(exported: set[str]) -> None:
    """Every metric of the Grafana dashboard is one the service exports, and every metric of ours is on it."""
    dashboard = json.loads((DEPLOY / "grafana" / "knowledge-garden.json").read_text(encoding="utf-8"))
    asked = {name for query in queries(dashboard) for name in OURS.findall(query)}
    assert asked - exported == set()
    shown = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in asked}
    assert {re.sub(r"_(total|bucket|sum|count)$", "", n) for n in exported if n.startswith("garden_")} - shown == set()
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids)) > 8


def test_the_alerts_ask_for_what_is_exported(exported: set[str]) -> None:
    """So is every metric of the alert rules; each rule says how bad it is, what it means, and which section helps."""
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))
    alerts = [rule for group in rules["groups"] for rule in group["rules"]]
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert len(alerts) > 5
    for alert in alerts:
        assert set(OURS.findall(alert["expr"])) - exported == set()
        assert alert["labels"]["severity"] in ("page", "ticket")
        assert alert["annotations"]["summary"]
        assert alert["annotations"]["runbook"] == f"docs/operations.md#{alert['alert'].lower()}"
        assert f"### {alert['alert']}\n" in page

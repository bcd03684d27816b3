"""OpenTelemetry and LangSmith: sent where the standard variables say, and nowhere otherwise."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.server import create_app
from app.bootstrap.compose import build_container
from app.providers.stores.chunk_store import ChunkStore
from app.settings import load_settings
from graph.errors import StoreUnavailable
from tests.peers.collector import Collector
from tests.support.paths import ROOT
from tests.support.two_facts import QUESTION, serve_here

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = f"00-{TRACE}-b7ad6b7169203331-01"
STEPS = ["validate", "retrieve", "grade", "synthesize", "cite"]


@ChunkStore.register
class Broken:
    """A store that is down, in a vendor's words."""

    notes = ()

    async def ahybrid(self, *_: Any, **__: Any) -> Any:
        raise StoreUnavailable("The vector store cannot be reached.") from OSError("vendor-secret")

    async def acount(self) -> int:
        return 0

    async def aprobe(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


def spans_of(data: Path, embedding: Any, path: str, body: dict[str, Any], **parts: Any) -> tuple[list[Any], bytes]:
    """The spans of one request, and all the bytes they came in."""
    with Collector() as collector:
        settings = load_settings(data_dir=data, otel_exporter_otlp_endpoint=collector.url)
        app = create_app(build_container(settings, embedding=embedding, **parts))
        with serve_here(app) as address:
            headers = {"X-Request-ID": "my-id", "traceparent": CALLER}
            httpx.post(f"{address}{path}", json=body, headers=headers, timeout=30)
            httpx.get(f"{address}/health/live", timeout=30)
        return collector.spans(), b"".join(content for _, content in collector.received)


def attributes(span: Any) -> dict[str, Any]:
    return {pair.key: pair.value.string_value or pair.value.int_value for pair in span.attributes}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/query", {"query": QUESTION}),
        ("/query/stream", {"query": QUESTION}),
        ("/rag/invoke", {"input": {"query": QUESTION}}),
    ],
)
def test_a_request_is_a_span_and_each_node_below_it(
    data: Path, embedding: Any, path: str, body: dict[str, Any]
) -> None:
    """With OTEL_EXPORTER_OTLP_ENDPOINT set: a span for the request, which continues the caller's trace and has the
    request id, one for its question, one for each node; no word of question or answer; none for a probe of health."""
    spans, content = spans_of(data, embedding, path, body)
    by_name = {span.name: span for span in spans}
    assert list(by_name) == [*STEPS, "question", f"POST {path}"]
    assert {span.trace_id.hex() for span in spans} == {TRACE}
    request, question = by_name[f"POST {path}"], by_name["question"]
    assert (request.parent_span_id.hex(), question.parent_span_id) == (CALLER.split("-")[2], request.span_id)
    assert {by_name[name].parent_span_id for name in STEPS} == {question.span_id}
    assert attributes(request)["request_id"] == attributes(question)["request_id"] == "my-id"
    assert (attributes(request)["http.response.status_code"], attributes(request)["http.route"]) == (200, path)
    assert attributes(question)["outcome"] == "answered"
    assert not [word for word in (b"Eiffel", b"1889", b"iron") if word in content]


def test_a_failure_shows_where_it_was(data: Path, embedding: Any) -> None:
    """The node that failed, and the request, end as errors, without a vendor's words."""
    spans, content = spans_of(data, embedding, "/query", {"query": QUESTION}, store=Broken())
    by_name = {span.name: span for span in spans}
    assert attributes(by_name["retrieve"])["error.type"] == "StoreUnavailable"
    assert by_name["retrieve"].status.code == by_name["POST /query"].status.code == 2
    assert attributes(by_name["question"])["outcome"] == "retrieval_failed"
    assert b"vendor-secret" not in content


def test_nothing_is_loaded_unless_asked_for(tmp_path: Path) -> None:
    """Without the variables, or with OTEL_SDK_DISABLED, what makes spans is not even imported."""
    code = """
import sys, app.api.server
from app.settings import load_settings
from app.bootstrap.compose import make_spans
off = dict(otel_exporter_otlp_endpoint="http://127.0.0.1:1", otel_sdk_disabled=True)
assert make_spans(load_settings()) is make_spans(load_settings(**off)) is None
assert "app.ops.spans" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)


def test_a_missing_extra_is_one_line(tmp_path: Path) -> None:
    """Where the variables are set and OpenTelemetry is not installed, one line says so and what to do; service goes
    on."""
    code = """
import sys
sys.modules["opentelemetry"] = None  # as where it is not installed
from app.ops.log import set_up_logging
from app.settings import load_settings
from app.bootstrap.compose import make_spans
set_up_logging("INFO", "text")
assert make_spans(load_settings(otel_exporter_otlp_endpoint="http://127.0.0.1:1")) is None
"""
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert done.stderr.count("\n") == 1
    assert "pip install 'knowledge-garden[otel]'" in done.stderr


ASK = f"""
from rag_service import RAGService
from langchain_core.tracers.langchain import wait_for_all_tracers
with RAGService() as service:
    assert service.query({QUESTION!r}).answer
wait_for_all_tracers()
"""


def test_langsmith_gets_nothing_unless_it_is_asked_for(two_facts: Path, tmp_path: Path) -> None:
    """With LangSmith's address and key alone nothing is sent; with LANGSMITH_TRACING=true the run is, by its own
    client."""
    running = []
    with Collector() as quiet, Collector() as wanted:
        for name, peer, more in (("a", quiet, {}), ("b", wanted, {"LANGSMITH_TRACING": "true"})):
            folder = shutil.copytree(two_facts, tmp_path / name)
            environment = {
                **os.environ,
                **more,
                "PYTHONPATH": str(ROOT),
                "DATA_DIR": str(folder),
                "LANGSMITH_ENDPOINT": peer.url,
                "LANGSMITH_API_KEY": "key",
            }
            running.append(subprocess.Popen([sys.executable, "-c", ASK], cwd=tmp_path, env=environment))
        assert [process.wait(60) for process in running] == [0, 0]
        assert quiet.received == []
        assert any(path.startswith("/runs") for path, _ in wanted.received)

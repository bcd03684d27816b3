"""Every HTTP interface takes a slot (contract, ``MAX_CONCURRENT_REQUESTS``), the chat until its stream ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from app.bootstrap.compose import build_container
from app.pipeline.chat import ChatSynthesizer
from app.providers.chat.models import make_chat_model
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.peers import Fault, OllamaPeer
from tests.support.samples_service import serve, wait_until

ASKED: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/api/v1/search?q=anything", None),
    ("GET", "/api/v1/search/semantic?q=anything", None),
    ("POST", "/api/v1/chat", {"message": "hello"}),
    ("POST", "/query", {"query": "anything"}),
]


def test_a_chat_holds_the_only_slot(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """While a chat streams, every other request is 503 OVERLOADED with Retry-After, before a stream; then all serve."""
    with OllamaPeer() as ollama:
        settings = load_settings(
            data_dir=tmp_path, chat_model="ollama:llama3.2:1b", ollama_host=ollama.url, ollama_timeout_seconds=60,
            max_concurrent_requests=1,
        )  # fmt: skip
        synthesizer = ChatSynthesizer(make_chat_model(settings))
        container = build_container(settings, embedding=embedding, synthesizer=synthesizer)
        with serve(container) as address, httpx.Client(base_url=address, timeout=30) as http:
            ollama.fault = Fault("drip", path="/api/chat")
            with http.stream("POST", "/api/v1/chat", json={"message": "hello"}) as held:
                lines = held.iter_lines()  # kept, since letting go of it would close the connection
                assert next(lines).startswith("data: ")
                for method, path, body in ASKED:
                    refused = http.request(method, path, json=body)
                    assert (path, refused.status_code, refused.json()["error"]) == (path, 503, "OVERLOADED")
                    assert int(refused.headers["retry-after"]) >= 1
            wait_until(lambda: container.service.in_flight == 0)
            ollama.fault = None
            for method, path, body in ASKED:
                served = http.request(method, path, json=body)
                assert (path, served.status_code) == (path, 200)
            assert container.service.in_flight == 0

"""300 questions while model and store fail in turn: every body is valid, nothing is left behind, all is well after."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.server import create_app
from app.bootstrap.compose import AppContainer, build_container
from app.settings import load_settings
from tests.failures.world import QUESTION, chunk_points
from tests.peers import CoherePeer, Fault, OllamaPeer
from tests.peers.chroma_server import ChromaServer
from tests.peers.wire import SECRET, FaultKind

QUESTIONS, AT_ONCE = 300, 32
FAULTS: list[FaultKind] = ["status", "hangup", "silence", "garbage", "drip", "drop", "no_done", "length", "error_event"]
STATUSES = {200: None, 400: {"VALIDATION_ERROR"}, 503: {"RETRIEVAL_FAILED", "SYNTHESIS_FAILED", "OVERLOADED"}}
AFTER = 5.0
"""Seconds after the last fault by which service is normal (the issue's bound)."""


async def ask(client: httpx.AsyncClient, number: int) -> tuple[int, Any]:
    """One of several kinds of request; status and body."""
    kinds: list[dict[str, Any]] = [{"query": QUESTION}, {"query": QUESTION, "maxSources": 3}, {"query": ""}]
    body = kinds[2 if number % 10 == 9 else number % 2]
    response = await client.post("/query", json=body)
    assert SECRET not in response.text
    return response.status_code, response.json()


async def trouble(ollama: OllamaPeer, chroma: ChromaServer) -> None:
    """Every fault of the model in turn, and the store killed and started again, for about ten seconds."""
    for number, kind in enumerate(FAULTS):
        ollama.fault = Fault(kind, status=random.Random(number).choice([401, 429, 500, 503]), path="/api/chat")
        if number == len(FAULTS) // 2:
            await asyncio.to_thread(chroma.kill)
            await asyncio.sleep(1)
            await asyncio.to_thread(chroma.start)
        await asyncio.sleep(1)
    ollama.fault = None


@pytest.mark.timeout(240)
@pytest.mark.long
async def test_a_storm_passes_and_leaves_nothing(tmp_path: Path) -> None:
    """As the contract has it: 32 at once, no 500, no leaked task or connection, normal within 5 s."""
    with OllamaPeer() as ollama, CoherePeer() as cohere, ChromaServer(tmp_path) as chroma:
        settings = load_settings(
            vector_store="chroma",
            vector_store_url=chroma.url,
            ollama_host=ollama.url,
            ollama_timeout_seconds=1.0,
            chat_model="ollama:llama3.2:1b",
            embedding_model="embed-english-v3.0",
            cohere_api_key=cohere.key,
            cohere_base_url=cohere.url,
            relevance_threshold=0,
            min_confidence_threshold=0,
        )
        container = build_container(settings)
        await container.store.aupsert(chunk_points())
        before = asyncio.all_tasks()
        seen = await storm(container, ollama, chroma)
        if ending := asyncio.all_tasks() - before:
            await asyncio.wait(ending, timeout=10)
        assert asyncio.all_tasks() <= before
        assert await asyncio.to_thread(ollama.wait_until, lambda: ollama.connections == 0)
        assert await asyncio.to_thread(cohere.wait_until, lambda: cohere.connections == 0)
        await container.aclose()
    assert sum(seen.values()) >= QUESTIONS
    assert seen[200] > 0
    assert seen[503] > 0


async def storm(container: AppContainer, ollama: OllamaPeer, chroma: ChromaServer) -> Counter[int]:
    """Ask until the trouble is over and enough is asked; then wait for normal service. Statuses and their counts."""
    seen: Counter[int] = Counter()
    numbers = iter(range(1_000_000))
    transport = httpx.ASGITransport(create_app(container))
    async with httpx.AsyncClient(transport=transport, base_url="http://garden", timeout=60) as client:
        troubled = asyncio.create_task(trouble(ollama, chroma))

        async def keep_asking() -> None:
            while not troubled.done() or seen.total() < QUESTIONS:
                status, body = await ask(client, next(numbers))
                valid = STATUSES[status]
                if valid is None:
                    assert set(body) == {"answer", "citedDocuments", "metadata"}
                else:
                    assert set(body) == {"error", "message", "details"}
                    assert body["error"] in valid
                seen[status] += 1
                await asyncio.sleep(0.05)

        await asyncio.gather(*(keep_asking() for _ in range(AT_ONCE)))
        await troubled
        over = time.monotonic()
        while (await ask(client, 0))[0] != 200 or not (await ask(client, 0))[1].get("citedDocuments"):
            assert time.monotonic() - over < AFTER, "service is not normal again"
            await asyncio.sleep(0.1)
    return seen

"""LangServe: ``/rag/batch`` with more questions than slots, with failures, and with too little time."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from answering.markers.draft import read_draft
from answering.types import Draft
from app.providers.embeddings.models import EmbeddingModel
from app.query_service.service import SLOT_TIMEOUT
from graph.errors import SynthesisFailed
from tests.app.api.one_chunk import served
from tests.app.api.test_query_api import CHEMICALS
from tests.support.samples_service import wait_until


class Fails:
    """A synthesizer that always fails, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    async def synthesize(self, question: Any, chunks: Any, retrieved: Any, emit: Any) -> Draft:
        self.asked += 1
        raise SynthesisFailed("The chat model failed.")


def test_a_batch_ends_whole_when_one_question_fails(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """The failure keeps its status, no further question of the batch is asked, and the slots are free again."""
    model = Fails()
    with served(embedding, http, model, max_concurrent_requests=2) as (container, address):
        failed = httpx.post(f"{address}/rag/batch", json={"inputs": [{"query": CHEMICALS}] * 5}, timeout=30)
        assert (failed.status_code, failed.json()["error"]) == (503, "SYNTHESIS_FAILED")
        assert (model.asked, container.service.in_flight) == (1, 0)


class Counted:
    """A synthesizer that counts how many it writes for at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def synthesize(self, question: Any, chunks: Any, retrieved: Any, emit: Any) -> Draft:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(SLOT_TIMEOUT)
        self.now -= 1
        return Draft(read_draft(f"{chunks[0].sentences[0]} [1]", chunks))


def test_a_batch_larger_than_the_places_waits_for_itself(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """A batch takes half the slots at a time, so it is answered whole where each question outlasts the waiting."""
    model = Counted()
    with served(embedding, http, model, max_concurrent_requests=4) as (_, address):
        batch = httpx.post(f"{address}/rag/batch", json={"inputs": [{"query": CHEMICALS}] * 6}, timeout=60)
        assert batch.status_code == 200
        assert [bool(answer["citedDocuments"]) for answer in batch.json()["output"]] == [True] * 6
        assert model.most == 2


def test_a_batch_ends_with_the_time_of_a_request(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """However few at once, a batch has the time of one request: past it the whole is 503, and nothing goes on."""
    with served(embedding, http, Counted(), max_concurrent_requests=2, request_timeout_seconds=1) as (
        container,
        address,
    ):
        late = httpx.post(f"{address}/rag/batch", json={"inputs": [{"query": CHEMICALS}] * 9}, timeout=60)
        assert (late.status_code, late.json()["error"]) == (503, "SYNTHESIS_FAILED")
        wait_until(lambda: container.service.in_flight == 0)

"""A chat model's answer and the passages': what a small model leaves out is shown beside what it wrote."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.bootstrap.compose import AppContainer, build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.peers import OllamaPeer
from tests.support.calling import caller, upload

SAW = b"""# Band saw

The band saw stands in the back room. The band saw may only be used by staff. It is oiled on Mondays.

# Kiln

The kiln fires at 1060 degrees.
"""
QUESTION = "Who may use the band saw?"
STAFF = "The band saw may only be used by staff"
BESIDE = "The band saw stands in the back room"


@pytest.fixture
async def client(
    tmp_path: Path, embedding: EmbeddingModel, ollama_peer: OllamaPeer
) -> AsyncIterator[httpx.AsyncClient]:
    """A caller on this machine; a peer writes the answers."""
    settings = load_settings(data_dir=tmp_path / "data", chat_model="ollama:llama3.2:1b", ollama_host=ollama_peer.url)
    container: AppContainer = build_container(settings, embedding=embedding)
    async with caller(container) as made:
        await upload(made, "workshop.md", SAW)
        yield made
    await container.aclose()


async def test_the_sentence_that_answers_stands_beside_a_true_one_that_does_not(
    client: httpx.AsyncClient, ollama_peer: OllamaPeer
) -> None:
    """The model's sentence comes first, the passages' in a paragraph of its own, each with its quote."""
    ollama_peer.answers = [f"{BESIDE} [1]."]
    body = (await client.post("/query", json={"query": QUESTION, "includeEvidence": True})).json()
    assert body["answer"] == f"{BESIDE} [1].\n\n{STAFF} [1]."
    assert [quote["quote"] for quote in body["evidence"]] == [f"{BESIDE}.", f"{STAFF}."]
    assert body["metadata"]["answeredBy"] == "model"


async def test_an_answer_that_rests_on_the_sentence_stays_as_it_is(
    client: httpx.AsyncClient, ollama_peer: OllamaPeer
) -> None:
    """In the model's own words, too: nothing is said twice."""
    for answer in (f"{STAFF} [1].", "Only staff may use the band saw [1]."):
        ollama_peer.answers = [answer]
        body = (await client.post("/query", json={"query": QUESTION})).json()
        assert body["answer"] == answer


async def test_a_stream_tells_the_sentence_as_verified(client: httpx.AsyncClient, ollama_peer: OllamaPeer) -> None:
    """It comes as an event of its own before the answer."""
    ollama_peer.answers = [f"{BESIDE} [1]."]
    response = await client.post("/query/stream", json={"query": QUESTION})
    events = [block.split("\n") for block in response.text.strip().split("\n\n")]
    verified = [json.loads(data.removeprefix("data: ")) for name, data, *_ in events if name == "event: verified"]
    assert [event["sentence"] for event in verified] == [f"{BESIDE}.", f"{STAFF}."]
    assert events[-1][0] == "event: answer"


async def test_a_yes_gives_way_to_passages_that_restrict(client: httpx.AsyncClient, ollama_peer: OllamaPeer) -> None:
    """Where the best sentence denies what the model affirms, the passages answer, and the "Yes" is listed."""
    ollama_peer.answers = ["Yes, the band saw stands in the back room [1]."]
    body = (await client.post("/query", json={"query": "May I use the band saw?", "includeEvidence": True})).json()
    assert STAFF in body["answer"]
    assert "Yes" not in body["answer"]
    assert body["metadata"]["answeredBy"] == "passages"
    assert body["metadata"]["unsupported"] == ["Yes, the band saw stands in the back room."]

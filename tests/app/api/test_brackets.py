"""Brackets that stand in a document are content: in answer and quote, and told from the citations by their offsets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.bootstrap.compose import build_container
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.support.calling import caller

ROWS = {
    "What range does the trust score lie in?": "The trust score lies in the range [0, 1].",
    "Which case is the leading one on salvage?": "The leading case on salvage is Harrow v Pell [1977] QB 966, "
    "followed in [2015] UKSC 11.",
    "Which form do I bring for a fishing permit?": "For a fishing permit bring form [12] to desk [3].",
    "Where does the counter of the loom start?": "The counter of the loom starts at spool[1], not at spool[0].",
    "Who first described the marsh orchid?": "The marsh orchid was first described by Ada Reed [4] in 1871.",
}


@pytest.fixture
async def client(tmp_path: Path, embedding: EmbeddingModel) -> AsyncIterator[httpx.AsyncClient]:
    """A caller of a service over a document for each sentence."""
    (tmp_path / "docs").mkdir()
    for number, text in enumerate(ROWS.values()):
        (tmp_path / "docs" / f"note-{number}.txt").write_text(f"{text}\n")
    made = build_container(load_settings(data_dir=tmp_path / "data"), embedding=embedding)
    await ingest_into(made.writer, [tmp_path / "docs"])
    async with caller(made) as client:
        yield client
    await made.aclose()


async def test_brackets_of_a_document_stay_and_are_no_citations(client: httpx.AsyncClient) -> None:
    """The quote is the sentence as written; the answer is it with its citation, which alone the markers name."""
    for question, text in ROWS.items():
        body = (await client.post("/query", json={"query": question, "includeEvidence": True})).json()
        (evidence,) = body["evidence"]
        assert evidence["quote"] == text
        assert body["answer"] == f"{text[:-1]} [1]."
        assert [body["answer"][start:end] for start, end in evidence["markers"]] == ["[1]"]
        assert evidence["markers"][0][1] == len(body["answer"]) - 1

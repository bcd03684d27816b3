"""Rerankers by name, the kit over each, and what is special to Cohere's."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature

import cohere
import pytest
from langchain_cohere import CohereRerank
from langchain_core.documents import BaseDocumentCompressor, Document

from app.pipeline.rerank_grader import RerankGrader
from app.providers.rerank.cohere import CohereReranker
from app.providers.rerank.models import make_reranker
from app.providers.rerank.scores import SCORE
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError, RerankFailed
from graph.ports import Grader
from tests.contract.reranker_kit import ASKED, POOL, RerankerKit, pool
from tests.peers import CoherePeer

MODEL = "cohere:rerank-v3.5"
DOCUMENTS = [Document("Bread needs flour.", metadata={"n": 0}), Document("The tower is tall.", metadata={"n": 1})]


@pytest.fixture
def peer() -> Iterator[CoherePeer]:
    with CoherePeer() as started:
        yield started


@pytest.fixture
def settings(peer: CoherePeer) -> Settings:
    return load_settings(reranker=MODEL, cohere_api_key=peer.key, cohere_base_url=peer.url)


class TestCohere(RerankerKit):
    """The kit over Cohere's reranker."""


@pytest.fixture
def reranker(settings: Settings) -> CohereReranker:
    made = make_reranker(settings)
    assert isinstance(made, CohereReranker)
    return made


def test_blocking_calls_score_too(reranker: CohereReranker, peer: CoherePeer) -> None:
    """``compress_documents`` scores every document, keeps its metadata, and makes exactly one call."""
    scored = reranker.compress_documents(DOCUMENTS, "How tall is the tower?")
    assert [document.metadata["n"] for document in scored] == [1, 0]
    assert all(0.0 <= document.metadata[SCORE] <= 1.0 for document in scored)
    assert "relevance_score" not in DOCUMENTS[0].metadata
    assert len(peer.requests) == 1


def test_langchain_cohere_and_the_sdk_still_need_a_subclass() -> None:
    """Once this fails, ``CohereReranker.acompress_documents`` or ``NO_RETRIES`` is no longer needed."""
    assert "acompress_documents" not in vars(CohereRerank)
    assert "max_retries" not in signature(cohere.ClientV2).parameters


def test_the_request_is_coheres(reranker: CohereReranker, peer: CoherePeer) -> None:
    """Model, query, all documents, and the key as a bearer token."""
    reranker.compress_documents(DOCUMENTS, "How tall?")
    body = peer.asked("/v2/rerank")[0].body
    assert (body["model"], body["query"], body["top_n"]) == ("rerank-v3.5", "How tall?", 2)
    assert body["documents"] == [document.page_content for document in DOCUMENTS]
    assert peer.requests[0].headers["authorization"] == f"Bearer {peer.key}"


def test_no_documents_no_call(reranker: CohereReranker, peer: CoherePeer) -> None:
    """Nothing to rank is an empty list."""
    assert reranker.compress_documents([], "x") == []
    assert peer.requests == []


@pytest.mark.parametrize("scores", [[float("nan"), 0.1, 0.2], [0.5, 0.1, float("inf")]])
async def test_scores_that_are_no_numbers_are_a_failure(
    grader: RerankGrader, peer: CoherePeer, scores: list[float]
) -> None:
    """A reply that does not score the documents is no reply."""
    peer.scores = scores
    with pytest.raises(RerankFailed):
        await grader.grade(ASKED, pool())


async def test_scores_are_brought_onto_our_scale(grader: RerankGrader, peer: CoherePeer) -> None:
    """Cohere's 0.3, the threshold of the Validation API, becomes 0.8, the relevance threshold."""
    peer.scores = [0.3, 0.95, 0.01]
    graded = {chunk.chunk_id: chunk.relevance or 0.0 for chunk in await grader.grade(ASKED, pool())}
    assert graded["c1"] == pytest.approx(0.8, abs=0.001)
    assert graded["c2"] > 0.98
    assert graded["c3"] < 0.15


class Pickiest(BaseDocumentCompressor):
    """A reranker of someone else's, which returns only what it likes best."""

    def compress_documents(self, documents, query, callbacks=None):  # type: ignore[no-untyped-def]
        best = documents[1]
        return [Document(best.page_content, metadata={**best.metadata, SCORE: 0.9})]


async def test_any_langchain_compressor_that_scores() -> None:
    """What it leaves out comes last, with a relevance near 0."""
    grader: Grader = RerankGrader(Pickiest())
    graded = await grader.grade(ASKED, pool())
    assert graded[0].chunk_id == "c2"
    assert [chunk.relevance for chunk in graded[1:]] == [pytest.approx(0.0, abs=0.001)] * (len(POOL) - 1)


@pytest.mark.parametrize(
    "name",
    [
        *("local", "none", "magic", "/no/such/folder", "cohere:", "cohere: ", "tei:", "tei:host:8080"),
        "tei:http://user:secret@host",  # pragma: allowlist secret
        *("tei:http://", "rerank:http://host", "rerank:@http://host", "rerank:m@host"),
    ],
)
def test_names_without_a_reranker(name: str) -> None:
    """Only a folder, ``provider:model`` and an address have one; the message names what is allowed and no password."""
    with pytest.raises(ConfigurationError, match="RERANKER") as caught:
        make_reranker(load_settings(reranker=name, cohere_api_key="k"))
    assert "secret" not in caught.value.message


def test_a_missing_key_is_reported_at_the_start() -> None:
    """The setting that is missing is named, before any question."""
    with pytest.raises(ConfigurationError, match="COHERE_API_KEY"):
        make_reranker(load_settings(reranker=MODEL))


def test_the_key_is_in_no_repr(settings: Settings, peer: CoherePeer) -> None:
    """Printing a reranker shows no key."""
    assert peer.key not in repr(make_reranker(settings))

"""Rerankers on a server of the user's own: the kit over both protocols, and what is special to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.pipeline.rerank_grader import RerankGrader
from app.providers.rerank.models import make_reranker, reranker_label
from app.providers.rerank.scores import SCORE
from app.settings import Settings, load_settings
from graph.errors import RerankFailed
from tests.app.providers.rerank.test_models import DOCUMENTS
from tests.contract.reranker_kit import ASKED, POOL, RerankerKit, pool
from tests.peers import RerankPeer

NAMES = {"tei": "tei:{url}", "rerank": "rerank:BAAI/bge-reranker-v2-m3@{url}/v1/"}


@pytest.fixture
def peer() -> Iterator[RerankPeer]:
    with RerankPeer(key="rerank-test-key") as started:
        yield started


@pytest.fixture(params=list(NAMES))
def settings(peer: RerankPeer, request: pytest.FixtureRequest) -> Settings:
    return load_settings(reranker=NAMES[request.param].format(url=peer.url), reranker_api_key=peer.key)


class TestServers(RerankerKit):
    """The kit over both protocols."""


async def test_one_request_a_question(grader: RerankGrader, peer: RerankPeer) -> None:
    """All candidates of a question go in one request, with the key as a bearer token."""
    await grader.grade(ASKED, pool())
    (request,) = peer.requests
    assert request.headers["authorization"] == f"Bearer {peer.key}"
    texts = request.body.pop("texts" if request.path == "/rerank" else "documents")
    assert texts == [chunk.text for chunk in POOL]
    assert request.body == (
        {"query": ASKED.text, "raw_scores": False, "truncate": True}
        if request.path == "/rerank"
        else {"model": "BAAI/bge-reranker-v2-m3", "query": ASKED.text, "top_n": len(POOL)}
    )


def test_blocking_calls_score_too(settings: Settings, peer: RerankPeer) -> None:
    """``compress_documents`` scores every document and keeps its metadata; nothing to rank makes no call."""
    reranker = make_reranker(settings)
    scored = reranker.compress_documents(DOCUMENTS, "How tall is the tower?")
    assert [document.metadata["n"] for document in scored] == [1, 0]
    assert all(0.0 <= document.metadata[SCORE] <= 1.0 for document in scored)
    assert reranker.compress_documents([], "x") == []
    assert len(peer.requests) == 1


async def test_log_odds_are_distinguished_from_probabilities(grader: RerankGrader, peer: RerankPeer) -> None:
    """A server that once gave what is no probability is read as one of log-odds from then on."""
    peer.scores = [0.3, 0.95, 0.01]
    first = {chunk.chunk_id: chunk.relevance or 0.0 for chunk in await grader.grade(ASKED, pool())}
    assert first["c1"] == pytest.approx(0.8, abs=0.001)
    peer.scores = [-3.0, 7.74, -11.0]
    second = {chunk.chunk_id: chunk.relevance or 0.0 for chunk in await grader.grade(ASKED, pool())}
    assert second["c2"] > 0.999 > 0.5 > second["c1"] > second["c3"]
    peer.scores = [0.3, 0.95, 0.01]
    third = {chunk.chunk_id: chunk.relevance or 0.0 for chunk in await grader.grade(ASKED, pool())}
    assert third["c3"] > 0.8 > first["c3"]


@pytest.mark.parametrize("scores", [[float("nan"), 0.1, 0.2], [0.5, 0.1, float("inf")]])
async def test_scores_that_are_no_numbers_are_a_failure(
    grader: RerankGrader, peer: RerankPeer, scores: list[float]
) -> None:
    """A reply that does not score the documents is no reply, and says nothing of later ones."""
    peer.scores = scores
    with pytest.raises(RerankFailed):
        await grader.grade(ASKED, pool())
    peer.scores = [0.3, 0.95, 0.01]
    graded = {chunk.chunk_id: chunk.relevance or 0.0 for chunk in await grader.grade(ASKED, pool())}
    assert graded["c1"] == pytest.approx(0.8, abs=0.001)


async def test_half_a_surrogate_pair_is_sent_as_a_question_mark(settings: Settings, peer: RerankPeer) -> None:
    """What no UTF-8 can hold fails neither here nor there."""
    grader = RerankGrader(make_reranker(settings))
    await grader.grade(ASKED, pool("tower \ud800"))
    await grader.aclose()
    assert peer.requests[0].body["query"] == "tower ?"


def test_neither_key_nor_address_is_shown(settings: Settings, peer: RerankPeer) -> None:
    """Printing a reranker shows no key, and figures that anybody may read show no address."""
    assert peer.key not in repr(make_reranker(settings))
    assert reranker_label(settings) in ("tei", "rerank:BAAI/bge-reranker-v2-m3")

"""The contract of a reranker behind a wire, for every vendor. Fixtures: ``grader``, ``impatient``, ``peer``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from answering.types import Chunk, Question, SubqueryResults
from graph.errors import RerankFailed
from graph.ports import Grader
from tests.peers import Fault, HttpPeer
from tests.peers.wire import SECRET, FaultKind
from tests.support.synthesis import chunk, question

POOL = (
    chunk(1, "Bread needs flour and water.", relevance=0.0),
    chunk(2, "The tower was finished in 1889.", relevance=0.0),
    chunk(3, "The tower is painted every seven years.", relevance=0.0),
)
ASKED = question("When was the tower finished?")
FAULTS: list[FaultKind] = ["hangup", "silence", "garbage", "huge"]


def pool(*questions: str, chunks: tuple[Chunk, ...] = POOL) -> tuple[SubqueryResults, ...]:
    return tuple(SubqueryResults(text, chunks) for text in questions or (ASKED.text,))


class RerankerKit:
    """For every vendor's reranker."""

    async def test_every_candidate_once_best_first(self, grader: Grader) -> None:
        """All chunks come back, each with a relevance in [0, 1], the one that is about the question first."""
        graded = await grader.grade(ASKED, pool())
        assert {chunk.chunk_id for chunk in graded} == {chunk.chunk_id for chunk in POOL}
        assert graded[0].chunk_id == "c2"
        scores = [chunk.relevance for chunk in graded]
        assert all(score is not None and 0.0 <= score <= 1.0 for score in scores)
        assert scores == sorted(scores, key=lambda score: -(score or 0.0))

    async def test_a_chunk_is_otherwise_unchanged(self, grader: Grader) -> None:
        """Grading sets the relevance and nothing else."""
        for graded in await grader.grade(ASKED, pool()):
            assert replace(graded, relevance=0.0) in POOL

    async def test_parts_count_by_the_best(self, grader: Grader) -> None:
        """Of a compound question, a chunk has the relevance of the part it is most about."""
        parts = ("When was the tower finished?", "Which water does bread need?")
        graded = {chunk.chunk_id: chunk.relevance or 0.0 for chunk in await grader.grade(ASKED, pool(*parts))}
        alone = {chunk.chunk_id: chunk.relevance or 0.0 for chunk in await grader.grade(ASKED, pool(parts[0]))}
        assert graded["c1"] > alone["c1"]
        assert graded["c2"] == alone["c2"]

    async def test_nothing_to_grade_makes_no_call(self, grader: Grader, peer: HttpPeer) -> None:
        """An empty pool is an empty result."""
        assert await grader.grade(ASKED, pool(chunks=())) == []
        assert peer.requests == []

    @pytest.mark.parametrize("kind", FAULTS)
    async def test_every_fault_is_ours(
        self, impatient: Callable[[float], Grader], peer: HttpPeer, kind: FaultKind
    ) -> None:
        """Whatever goes wrong on the wire is ``RerankFailed``, and repeats no text of the vendor."""
        peer.fault = Fault(kind)
        with pytest.raises(RerankFailed) as caught:
            await impatient(0.4 if kind == "silence" else 20.0).grade(ASKED, pool())
        assert SECRET not in f"{caught.value.message} {caught.value.details}"

    @pytest.mark.parametrize(("status", "calls"), [(400, 1), (401, 1), (404, 1), (429, 3), (500, 3), (503, 3)])
    async def test_every_status_is_ours(self, grader: Grader, peer: HttpPeer, status: int, calls: int) -> None:
        """A status is mapped by its number; 429 and 5xx are tried three times in all, nothing else is."""
        peer.fault = Fault("status", status, retry_after="0")
        with pytest.raises(RerankFailed) as caught:
            await grader.grade(ASKED, pool())
        assert caught.value.details == {"status": status}
        assert len(peer.requests) == calls

    async def test_a_long_retry_after_is_not_waited_for(self, grader: Grader, peer: HttpPeer) -> None:
        """When the vendor asks for more time than there is, the failure comes at once."""
        peer.fault = Fault("status", 429, retry_after="3600")
        with pytest.raises(RerankFailed):
            await grader.grade(ASKED, pool())
        assert len(peer.requests) == 1

    async def test_passing_trouble_is_not_seen(self, grader: Grader, peer: HttpPeer) -> None:
        """One bad reply is made good by the next try."""
        peer.fault = Fault("status", 503, times=1)
        assert len(await grader.grade(ASKED, pool())) == len(POOL)

    async def test_down_and_up_again(self, grader: Grader, peer: HttpPeer) -> None:
        """An outage is a failure, and the next question after it works."""
        peer.refuse()
        with pytest.raises(RerankFailed):
            await grader.grade(ASKED, pool())
        peer.listen()
        assert await grader.grade(ASKED, pool())

    async def test_a_deadline_that_has_passed(self, grader: Grader, peer: HttpPeer) -> None:
        """No time left is a failure, not a wait."""
        with pytest.raises(RerankFailed):
            await grader.grade(Question("q", ("q",), 5, None, None, 0.0, time.monotonic() - 1.0), pool())

    async def test_a_client_that_goes_away_cancels_the_call(self, grader: Grader, peer: HttpPeer) -> None:
        """Cancelling closes the connection."""
        peer.fault = Fault("silence")
        task = asyncio.create_task(grader.grade(ASKED, pool()))
        assert await asyncio.to_thread(peer.wait_until, lambda: len(peer.requests) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(peer.wait_until, lambda: peer.hung_up == 1 and peer.connections == 0)

"""The contract of an embedding model, and of one behind a wire: one suite, run over every provider.

Fixtures: ``embeddings``; of a remote one also ``peer`` and ``impatient`` (seconds -> one more).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from graph.errors import EmbeddingUnavailable
from tests.peers import Fault, HttpPeer
from tests.peers.wire import SECRET, FaultKind

TEXTS = ["The tower was finished in 1889.", "Bread needs flour and water.", "Lakes are deep."]
QUESTION = "When was the tower finished?"
FAULTS: list[FaultKind] = ["hangup", "silence", "garbage", "huge"]


class EmbeddingsKit:
    """For every embedding model."""

    async def test_one_vector_for_each_text_in_order(self, embeddings: Embeddings) -> None:
        """The vectors have one size, and do not depend on what else was embedded in the same call."""
        rows = np.array(await embeddings.aembed_documents(TEXTS))
        assert rows.shape[0] == len(TEXTS)
        alone = np.array(await embeddings.aembed_documents(TEXTS[1:2]))
        np.testing.assert_allclose(rows[1], alone[0], atol=2e-3)

    async def test_a_question_is_nearest_to_its_answer(self, embeddings: Embeddings) -> None:
        """By cosine."""
        rows, asked = np.array(await embeddings.aembed_documents(TEXTS)), await embeddings.aembed_query(QUESTION)
        assert int(np.argmax(rows @ np.array(asked) / np.linalg.norm(rows, axis=1))) == 0

    async def test_plain_calls_do_the_same(self, embeddings: Embeddings) -> None:
        """The methods that block give what the awaited ones give."""
        expected = await embeddings.aembed_documents(TEXTS)
        np.testing.assert_allclose(await asyncio.to_thread(embeddings.embed_documents, TEXTS), expected, atol=2e-3)
        question = await embeddings.aembed_query(QUESTION)
        np.testing.assert_allclose(await asyncio.to_thread(embeddings.embed_query, QUESTION), question, atol=2e-3)

    async def test_nothing_is_no_vector(self, embeddings: Embeddings) -> None:
        """An empty list of texts gives an empty list."""
        assert len(await embeddings.aembed_documents([])) == 0

    async def test_concurrent_calls_do_not_mix(self, embeddings: Embeddings) -> None:
        """Many questions at once each get their own vector."""
        alone = {text: await embeddings.aembed_query(text) for text in TEXTS}
        many = await asyncio.gather(*(embeddings.aembed_query(text) for text in TEXTS * 6))
        for text, vector in zip(TEXTS * 6, many, strict=True):
            np.testing.assert_allclose(vector, alone[text], atol=2e-3)


class RemoteEmbeddingsKit(EmbeddingsKit):
    """For every embedding model behind a wire."""

    @pytest.mark.parametrize("kind", FAULTS)
    async def test_every_fault_is_ours(
        self,
        impatient: Callable[[float], Embeddings],
        peer: HttpPeer,
        kind: FaultKind,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        """Whatever goes wrong on the wire is ``EmbeddingUnavailable``, and repeats no text of the vendor."""
        peer.fault = Fault(kind)
        with caplog.at_level(logging.DEBUG, "garden"), pytest.raises(EmbeddingUnavailable) as caught:
            await impatient(0.4 if kind == "silence" else 20.0).aembed_query(QUESTION)
        assert type(caught.value) is EmbeddingUnavailable
        assert SECRET not in f"{caught.value.message} {caught.value.details}"
        assert not [r for r in caplog.records if r.name.startswith("garden") and SECRET in r.getMessage()]

    @pytest.mark.parametrize(
        ("status", "calls"), [(400, 1), (401, 1), (403, 1), (404, 1), (429, 3), (500, 3), (503, 3)]
    )
    async def test_every_status_is_ours(self, embeddings: Embeddings, peer: HttpPeer, status: int, calls: int) -> None:
        """A status is mapped by its number; 429 and 5xx are tried three times in all, nothing else is."""
        peer.fault = Fault("status", status, retry_after="0")
        with pytest.raises(EmbeddingUnavailable) as caught:
            await embeddings.aembed_query(QUESTION)
        assert caught.value.details == {"status": status}
        assert len(peer.requests) == calls

    async def test_plain_calls_fail_alike(self, embeddings: Embeddings, peer: HttpPeer) -> None:
        """Code that blocks meets the same error after the same tries."""
        peer.fault = Fault("status", 503, retry_after="0")
        with pytest.raises(EmbeddingUnavailable):
            await asyncio.to_thread(embeddings.embed_documents, TEXTS)
        assert len(peer.requests) == 3

    async def test_passing_trouble_is_not_seen(self, embeddings: Embeddings, peer: HttpPeer) -> None:
        """One bad reply is made good by the next try."""
        peer.fault = Fault("status", 503, times=1)
        assert len(await embeddings.aembed_query(QUESTION)) > 0

    async def test_down_and_up_again(self, embeddings: Embeddings, peer: HttpPeer) -> None:
        """An outage is a failure, and the next question after it works."""
        peer.refuse()
        with pytest.raises(EmbeddingUnavailable, match="cannot be reached"):
            await embeddings.aembed_query(QUESTION)
        peer.listen()
        assert len(await embeddings.aembed_query(QUESTION)) > 0

    async def test_many_texts_go_in_several_requests(self, embeddings: Embeddings, peer: HttpPeer) -> None:
        """However many texts there are, no request holds more than the vendor takes."""
        texts = [f"Text number {n}." for n in range(200)]
        assert len(await embeddings.aembed_documents(texts)) == 200
        assert len(peer.requests) > 1

    async def test_a_client_that_goes_away_cancels_the_call(self, embeddings: Embeddings, peer: HttpPeer) -> None:
        """Cancelling closes the connection."""
        peer.fault = Fault("silence")
        task = asyncio.create_task(embeddings.aembed_query(QUESTION))
        assert await asyncio.to_thread(peer.wait_until, lambda: len(peer.requests) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(peer.wait_until, lambda: peer.hung_up == 1 and peer.connections == 0)

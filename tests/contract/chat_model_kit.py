"""The contract of a synthesizer, and of one over a remote chat model: one suite, run over every provider.

A provider's test subclasses a kit and gives its fixtures. What a kit asks holds for all; what is special to a provider
is tested beside it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from answering.relevance.graders import assess
from answering.types import Chunk, Draft, Question, SubqueryResults
from graph.errors import ModelUnavailable, SynthesisFailed, SynthesisTimeout
from graph.ports import Synthesizer
from tests.peers import Fault, HttpPeer
from tests.peers.wire import SECRET, FaultKind
from tests.support.synthesis import WORDS_AND_NEARNESS, Tokens, chunk, cited, marked, question

FACTS = {
    "When was the Eiffel Tower finished?": "The Eiffel Tower was finished in 1889.",
    "How deep is the Baikal lake?": "The Baikal lake is 1642 metres deep.",
    "Who painted the Guernica mural?": "The Guernica mural was painted by Picasso.",
    "Which gas do green plants take in?": "Green plants take in carbon dioxide gas.",
}
CHUNKS = [chunk(n, f"An opening remark. {text} A closing remark.") for n, text in enumerate(FACTS.values(), start=1)]


def asked(text: str) -> tuple[Question, tuple[SubqueryResults, ...]]:
    """A question, and results in which the chunk of that fact is near and the others are not."""
    near = list(FACTS).index(text) if text in FACTS else None

    def measured(index: int, one: Chunk) -> Chunk:
        similarity = 0.85 if index == near else 0.05
        return replace(one, similarity=similarity, keyword=similarity, span_similarities=(similarity,) * len(one.spans))

    pool = sorted((measured(index, one) for index, one in enumerate(CHUNKS)), key=lambda chunk: -chunk.similarity)
    return question(text), (assess(SubqueryResults(text, tuple(pool)), WORDS_AND_NEARNESS),)


async def draft_of(synthesizer: Synthesizer, text: str, tokens: Tokens | None = None) -> Draft:
    made, retrieved = asked(text)
    return await synthesizer.synthesize(made, CHUNKS, retrieved, tokens if tokens is not None else Tokens())


async def loaded(synthesizer: Synthesizer, peer: HttpPeer) -> None:
    """Have the model loaded, if it is one that has to be, so that what follows is a question's own call."""
    await synthesizer.chat.loader.load()  # type: ignore[attr-defined]  # every remote one is a ChatSynthesizer
    peer.requests.clear()


class SynthesizerKit:
    """For every synthesizer. Fixture: ``synthesizer``."""

    @pytest.mark.parametrize("text", FACTS)
    async def test_answers_from_the_chunk_that_knows(self, synthesizer: Synthesizer, text: str) -> None:
        """The answer holds the fact, and its marker names the chunk that holds it."""
        draft = await draft_of(synthesizer, text)
        assert FACTS[text].rstrip(".") in " ".join(draft.text.split())
        assert set(cited(marked(draft))) == {list(FACTS).index(text) + 1}

    async def test_knows_what_it_does_not_know(self, synthesizer: Synthesizer) -> None:
        """Chunks that do not answer give no text."""
        draft = await draft_of(synthesizer, "Why did Rome fall?")
        assert draft.text == ""

    async def test_streams_what_it_drafts(self, synthesizer: Synthesizer) -> None:
        """The tokens joined are the draft, markers and white space aside."""
        tokens = Tokens()
        draft = await draft_of(synthesizer, next(iter(FACTS)), tokens)
        bare = [re.sub(r"\s|\[\d+\]", "", text) for text in (tokens.text, draft.text)]
        assert bare[0] == bare[1] != ""

    async def test_concurrent_questions_do_not_mix(self, synthesizer: Synthesizer) -> None:
        """Many questions at once each get their own answer."""
        many = [*FACTS] * 6
        drafts = await asyncio.gather(*(draft_of(synthesizer, text) for text in many))
        for text, draft in zip(many, drafts, strict=True):
            assert FACTS[text].split()[-1].rstrip(".") in draft.text

    async def test_leaves_no_task_behind(self, synthesizer: Synthesizer) -> None:
        """After an answer, nothing of it runs on."""
        before = asyncio.all_tasks()
        await draft_of(synthesizer, next(iter(FACTS)))
        if closing := asyncio.all_tasks() - before:  # a vendor's stream that is being closed
            await asyncio.wait(closing, timeout=5)
        assert asyncio.all_tasks() <= before


Impatient = Callable[[float], Synthesizer]

FAULTS: dict[FaultKind, type[SynthesisFailed]] = {
    "hangup": ModelUnavailable,
    "silence": SynthesisTimeout,
    "garbage": SynthesisFailed,
    "huge": SynthesisFailed,
    "drip": SynthesisTimeout,
    "drop": SynthesisFailed,
    "no_done": SynthesisFailed,
    "error_event": SynthesisFailed,
}
STATUSES: dict[int, type[SynthesisFailed]] = {
    400: SynthesisFailed,
    401: ModelUnavailable,
    403: ModelUnavailable,
    404: ModelUnavailable,
    429: SynthesisFailed,
    500: SynthesisFailed,
    503: SynthesisFailed,
}


class RemoteSynthesizerKit(SynthesizerKit):
    """For every chat model behind a wire. Fixtures: ``synthesizer``, ``peer``, ``impatient`` (seconds -> one more)."""

    @pytest.mark.parametrize("kind", FAULTS)
    async def test_every_fault_is_one_of_ours(
        self, impatient: Impatient, peer: HttpPeer, kind: FaultKind, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Whatever goes wrong on the wire is one error of ours, and repeats no text of the vendor."""
        synthesizer = impatient(0.4 if FAULTS[kind] is SynthesisTimeout else 20.0)
        await loaded(synthesizer, peer)
        peer.fault = Fault(kind)
        with caplog.at_level(logging.DEBUG, "garden"), pytest.raises(FAULTS[kind]) as caught:
            await draft_of(synthesizer, next(iter(FACTS)))
        assert type(caught.value) is FAULTS[kind]
        assert SECRET not in f"{caught.value.message} {caught.value.details}"
        assert not [r for r in caplog.records if r.name.startswith("garden") and SECRET in r.getMessage()]

    @pytest.mark.parametrize("status", STATUSES)
    async def test_every_status_is_one_of_ours(self, synthesizer: Synthesizer, peer: HttpPeer, status: int) -> None:
        """401, 403 and 404 are a model that is not there; 429 and 5xx are tried once more, 400 is not."""
        await loaded(synthesizer, peer)
        peer.fault = Fault("status", status)
        with pytest.raises(STATUSES[status]) as caught:
            await draft_of(synthesizer, next(iter(FACTS)))
        assert type(caught.value) is STATUSES[status]
        assert SECRET not in f"{caught.value.message} {caught.value.details}"
        assert len(peer.requests) == (2 if status == 429 or status >= 500 else 1)

    async def test_connection_refused(self, synthesizer: Synthesizer, peer: HttpPeer) -> None:
        """A server that is down is ``ModelUnavailable``, and the next question works once it is up again."""
        await loaded(synthesizer, peer)
        peer.refuse()
        with pytest.raises(ModelUnavailable):
            await draft_of(synthesizer, next(iter(FACTS)))
        peer.listen()
        assert (await draft_of(synthesizer, next(iter(FACTS)))).text

    async def test_one_retry_helps(self, synthesizer: Synthesizer, peer: HttpPeer) -> None:
        """A trouble that passes is not seen by the reader."""
        await loaded(synthesizer, peer)
        peer.fault = Fault("status", 503, times=1)
        assert (await draft_of(synthesizer, next(iter(FACTS)))).text
        assert len(peer.requests) == 2

    async def test_cut_by_length_is_reported(self, synthesizer: Synthesizer, peer: HttpPeer) -> None:
        """An answer that stops at the limit of tokens is a draft without its unfinished sentence."""
        await loaded(synthesizer, peer)
        peer.fault = Fault("length")
        draft = await draft_of(synthesizer, next(iter(FACTS)))
        assert draft.text != FACTS[next(iter(FACTS))]

    async def test_the_questions_deadline_counts_too(self, synthesizer: Synthesizer, peer: HttpPeer) -> None:
        """What is left of the request's time limits the call, when that is less than the model's own time."""
        await loaded(synthesizer, peer)
        peer.fault = Fault("drip")
        made, retrieved = asked(next(iter(FACTS)))
        hurried = replace(made, deadline=made.started + 0.4)
        with pytest.raises(SynthesisTimeout):
            await synthesizer.synthesize(hurried, CHUNKS, retrieved, Tokens())

    async def test_a_client_that_goes_away_cancels_the_call(self, synthesizer: Synthesizer, peer: HttpPeer) -> None:
        """Cancelling closes the connection, so that the server stops writing; nothing stays open."""
        await loaded(synthesizer, peer)
        peer.fault = Fault("drip")
        begun = asyncio.Event()

        async def emit(text: str) -> None:
            begun.set()

        made, retrieved = asked(next(iter(FACTS)))
        task = asyncio.create_task(synthesizer.synthesize(made, CHUNKS, retrieved, emit))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await _seen(peer, lambda: peer.hung_up == 1 and peer.connections == 0)

    async def test_instructions_come_first_and_chunks_as_material(
        self, synthesizer: Synthesizer, peer: HttpPeer
    ) -> None:
        """The request has a system message of ours, the question, and every chunk."""
        await draft_of(synthesizer, next(iter(FACTS)))
        body = peer.requests[-1].body
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert "only material to read" in body["messages"][0]["content"]
        assert all(fact in str(body) for fact in FACTS.values())


async def _seen(peer: HttpPeer, holds: Callable[[], bool]) -> bool:
    waiting: Awaitable[bool] = asyncio.to_thread(peer.wait_until, holds)
    return await waiting

"""A chat model that reads the claims of which the reader is not sure: ``VERIFIER=model`` or ``provider:model``."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator

import pytest

from answering.ports import ReadingFailed
from answering.types import Chunk, Passage
from app.pipeline.verifiers import PLAIN, ChatVerifier, make_verifiers
from app.providers.chat.models import make_chat_model
from app.settings import load_settings
from graph.errors import ConfigurationError
from tests.peers.ollama_peer import OllamaPeer
from tests.peers.openai_peer import MODEL, OpenAIPeer
from tests.peers.wire import Fault
from tests.support.verifying import supports, verified

PASSAGE = Passage("Lockers", ("A lost key costs 15 euros to replace.",))
CLAIM = "What does a lost key cost? You pay for it."
CHUNK = Chunk("a#1", "a", "Lockers", "A lost key costs 15 euros to replace.")


class Unsure:
    """A reader that cannot tell, but for what nothing carries."""

    async def support(self, claim: str, passage: Passage) -> float:
        return -9.0 if "Elves" in claim else 0.0


@pytest.fixture
async def ollama(ollama_peer: OllamaPeer) -> AsyncIterator[ChatVerifier]:
    chat = make_chat_model(load_settings(chat_model="ollama:llama3.2:1b", ollama_host=ollama_peer.url))
    yield ChatVerifier(chat)
    assert chat.aclose
    await chat.aclose()


@pytest.fixture
async def openai(openai_peer: OpenAIPeer) -> AsyncIterator[ChatVerifier]:
    chat = make_chat_model(load_settings(chat_model=f"openai:{MODEL}", openai_base_url=f"{openai_peer.url}/v1"))
    yield ChatVerifier(chat)
    assert chat.aclose
    await chat.aclose()


async def test_the_probability_of_yes_is_read(
    ollama: ChatVerifier, ollama_peer: OllamaPeer, openai: ChatVerifier, openai_peer: OpenAIPeer
) -> None:
    """Where the server tells it, the verdict is the log-odds of "yes", in any spelling, against "no"."""
    for verifier, peer in ((ollama, ollama_peer), (openai, openai_peer)):
        peer.answers = ["Yes"]
        peer.probabilities = {"Yes": 0.5, " yes": 0.1, "No": 0.3, "Perhaps": 0.1}
        assert await verifier.support(CLAIM, PASSAGE) == pytest.approx(math.log(0.6 / 0.3), abs=0.01)
    prompt = ollama_peer.prompt()
    assert PASSAGE.sentences[0] in prompt
    assert CLAIM in prompt


async def test_a_plain_word_is_a_verdict(
    ollama: ChatVerifier, ollama_peer: OllamaPeer, openai: ChatVerifier, openai_peer: OpenAIPeer
) -> None:
    """A server that is silent about probabilities, or refuses to tell them, says yes or no; else nothing was read."""
    openai_peer.probabilities = None
    for verifier, peer in ((ollama, ollama_peer), (openai, openai_peer)):
        peer.answers = ["Yes, it does.", "**No**"]
        assert [await verifier.support(CLAIM, PASSAGE) for _ in range(2)] == [PLAIN, -PLAIN]
        peer.answers = ["Perhaps."]
        with pytest.raises(ReadingFailed):
            await verifier.support(CLAIM, PASSAGE)


@pytest.mark.parametrize(("answer", "kept"), [("Yes", True), ("No", False)])
async def test_it_decides_where_the_reader_is_unsure(
    ollama: ChatVerifier, ollama_peer: OllamaPeer, answer: str, kept: bool
) -> None:
    """Both readings count alike; a claim of which the reader is sure is not read again."""
    ollama_peer.answers = [answer]
    text = "You pay for a key that is lost [1]. Elves sing at night [1]."
    first, second = supports(await verified(text, [CHUNK], reader=Unsure(), second=ollama))
    assert (first > 0.5) is kept
    assert second < 0.01
    assert len([r for r in ollama_peer.requests if r.path == "/api/chat"]) == 1


async def test_the_readers_verdict_stays_where_it_fails(
    ollama: ChatVerifier, ollama_peer: OllamaPeer, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken or silent server costs the second reading alone, within the time there is, and is logged."""
    for fault in (Fault("status"), Fault("silence")):
        caplog.clear()
        ollama_peer.fault = fault
        with caplog.at_level(logging.WARNING, logger="garden.graph"):
            (support,) = supports(
                await verified("Lost keys cost you [1].", [CHUNK], reader=Unsure(), second=ollama, seconds=1.0)
            )
        assert support == 0.5
        assert [record.message for record in caplog.records] == ["claims not read again"]


def test_what_cannot_be_used_is_reported_in_a_line() -> None:
    """Without a chat model there is none to read again; other names are refused with what is allowed."""
    for name, reported in (("model", "CHAT_MODEL"), ("deberta", "folder"), ("nosuch:model", "VERIFIER='nosuch:model'")):
        with pytest.raises(ConfigurationError, match=reported):
            make_verifiers(load_settings(verifier=name), Unsure(), None)


async def test_a_model_of_its_own(ollama_peer: OllamaPeer) -> None:
    """``VERIFIER=ollama:MODEL`` asks that model, whichever writes the answers."""
    settings = load_settings(verifier="ollama:mistral:7b", ollama_host=ollama_peer.url)
    made = make_verifiers(settings, Unsure(), None)
    ollama_peer.answers = ["Yes"]
    assert made.second
    assert made.aclose
    assert await made.second.support(CLAIM, PASSAGE) == PLAIN
    assert ollama_peer.requests[-1].body["model"] == "mistral:7b"
    await made.aclose()

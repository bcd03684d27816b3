"""A model is loaded before it is asked, by a call that no client's leaving ends, and asked one question at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.pipeline.chat import ChatSynthesizer
from app.providers.chat.models import make_chat_model
from app.providers.chat.pace import Pace
from app.settings import load_settings
from graph.errors import ModelLoading, Overloaded, SynthesisTimeout
from tests.peers import Fault, OllamaPeer, OpenAIPeer
from tests.support.synthesis import NOTHING, Tokens, chunk, marked, question

SKY = [chunk(1, "The sky is blue."), chunk(2, "Grass is green.")]


@pytest.fixture
async def hasty(ollama_peer: OllamaPeer) -> AsyncIterator[ChatSynthesizer]:
    """A model that has half a second for an answer."""
    settings = load_settings(ollama_model="llama3.2:1b", ollama_host=ollama_peer.url, ollama_timeout_seconds=0.5)
    synthesizer = ChatSynthesizer(make_chat_model(settings))
    yield synthesizer
    assert synthesizer.chat.aclose
    await synthesizer.chat.aclose()


async def draft(synthesizer: ChatSynthesizer, seconds: float = 30.0) -> str:
    """The draft to a question that has *seconds*."""
    asked = question("What colour is the sky?", seconds=seconds)
    return marked(await synthesizer.synthesize(asked, SKY, NOTHING, None))


async def test_a_model_is_loaded_with_its_instructions_once(hasty: ChatSynthesizer, ollama_peer: OllamaPeer) -> None:
    """The first question has the model loaded: the instructions alone, one token, kept in memory."""
    for _ in range(2):
        assert await draft(hasty) == "The sky is blue. [1]"
    (load,) = ollama_peer.loads
    assert load.body["options"]["num_predict"] == 1
    assert load.body["keep_alive"] == 7200
    asked = ollama_peer.asked("/api/chat")[0].body["messages"]
    assert load.body["messages"][0] == asked[0]  # to the byte, so that a server keeps them read


async def test_the_first_question_too_is_cut_to_the_models_pace(
    hasty: ChatSynthesizer, ollama_peer: OllamaPeer
) -> None:
    """Loading tells the pace, and the passages are chosen after it: a model too slow for one is not asked."""
    ollama_peer.prompt_eval = (100, 10_000_000_000)
    assert await draft(hasty) == ""
    assert len(ollama_peer.loads) == 1
    assert not ollama_peer.asked("/api/chat")


async def test_a_question_while_the_model_loads_is_told_so(hasty: ChatSynthesizer, ollama_peer: OllamaPeer) -> None:
    """A load that takes longer than an answer may is not ended by the question that waited for it."""
    ollama_peer.fault = Fault("silence")
    with pytest.raises(ModelLoading) as loading:
        await draft(hasty)
    assert loading.value.details["retryAfterSeconds"] >= 1
    assert hasty.chat.loader.loading
    assert ollama_peer.hung_up == 0


async def test_a_load_that_is_never_answered_is_asked_for_again(
    hasty: ChatSynthesizer, ollama_peer: OllamaPeer
) -> None:
    """A server that hung and came back is asked anew, without a restart of the service."""
    ollama_peer.fault = Fault("silence")
    with pytest.raises(ModelLoading):
        await draft(hasty)
    ollama_peer.fault = None
    await hasty.chat.loader.load()
    assert await draft(hasty) == "The sky is blue. [1]"


async def test_a_prompt_that_is_still_read_keeps_the_model_taken(
    hasty: ChatSynthesizer, ollama_peer: OllamaPeer
) -> None:
    """A server reads on though its client has left: the next question is refused at once, with the time to wait."""
    await hasty.chat.loader.load()
    hasty.chat.pace = Pace(read_rate=1000.0, write_rate=1000.0)
    ollama_peer.fault = Fault("silence")
    with pytest.raises(SynthesisTimeout):
        await hasty.synthesize(question("What colour is the sky?"), SKY, NOTHING, Tokens())
    ollama_peer.fault = None
    with pytest.raises(Overloaded) as refused:
        await draft(hasty, seconds=0.3)
    assert refused.value.details["retryAfterSeconds"] >= 1


async def test_questions_wait_for_their_turn(hasty: ChatSynthesizer, ollama_peer: OllamaPeer) -> None:
    """Four questions at once are all answered by a model that answers one at a time."""
    assert await asyncio.gather(*(draft(hasty) for _ in range(4))) == ["The sky is blue. [1]"] * 4


def test_the_pace_is_that_of_what_was_new_to_the_server() -> None:
    """What a prompt has in common with the one before is read already: it counts for nothing."""
    pace = Pace()
    pace.observe("a" * 1000, (400, 4.0), (40, 4.0))
    assert (pace.read_rate, pace.write_rate) == (100.0, 10.0)
    pace.observe("a" * 1000, (400, 0.01), (40, 4.0))
    assert pace.read_rate == 100.0
    pace.observe("a" * 500 + "b" * 500, (400, 2.0), (40, 4.0))
    assert pace.read_rate == 100.0
    assert 0.0 < pace.seconds("c" * 420, 1000) - pace.answer / pace.writes <= 1.01


async def test_a_model_that_was_too_slow_is_measured_again(hasty: ChatSynthesizer, ollama_peer: OllamaPeer) -> None:
    """A machine that was busy at the start does not silence the model for ever: its pace is measured anew."""
    await hasty.chat.loader.load()
    hasty.chat.pace.read_rate = 1.0
    assert await draft(hasty) == ""
    assert await asyncio.to_thread(ollama_peer.wait_until, lambda: len(ollama_peer.loads) == 2)
    measured = ollama_peer.loads[1].body["messages"]
    assert measured[1]["content"] not in measured[0]["content"]  # a server has not kept it read


async def test_after_a_call_without_a_token_less_is_given_to_read(
    hasty: ChatSynthesizer, ollama_peer: OllamaPeer
) -> None:
    """A machine that became busy fails one question, not all: the next prompt is cut to what it may read in time."""
    await hasty.chat.loader.load()
    hasty.chat.pace = Pace(read_rate=1000.0, write_rate=1000.0)
    ollama_peer.fault = Fault("silence")
    with pytest.raises(SynthesisTimeout):
        await draft(hasty)
    slower = hasty.chat.pace.read_rate
    assert 0.0 < slower < 1000.0
    with pytest.raises(SynthesisTimeout):
        await draft(hasty)
    assert hasty.chat.pace.read_rate == slower  # a server that hangs is down, and not slow


async def test_the_time_to_load_is_not_the_pace() -> None:
    """A server that does not tell how long it loaded is asked once more, so that loading counts for nothing."""
    with OpenAIPeer() as peer:
        chat = make_chat_model(load_settings(chat_model="openai:m", openai_base_url=f"{peer.url}/v1"))
        await chat.loader.load()
        first, second = peer.loads
        assert chat.aclose
        await chat.aclose()
    assert first.body["messages"][0] == second.body["messages"][0]
    assert first.body["messages"][1] != second.body["messages"][1]

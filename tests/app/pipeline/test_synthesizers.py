"""The contract kit over every synthesizer: embedded, Ollama, Cohere, and any other LangChain model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from answering.extract.passages_answer import ExtractiveSynthesizer
from app.pipeline.chat import ChatSynthesizer
from app.providers.chat.chat_model import ChatModel
from app.providers.chat.models import make_chat_model
from app.settings import load_settings
from graph.ports import Synthesizer
from tests.contract.chat_model_kit import CHUNKS, FACTS, RemoteSynthesizerKit, SynthesizerKit, draft_of
from tests.peers import CoherePeer, HttpPeer, OllamaPeer, OpenAIPeer
from tests.support.synthesis import marked

Maker = Callable[..., ChatSynthesizer]


@pytest.fixture
async def make() -> AsyncIterator[Maker]:
    """Makes synthesizers from settings, and closes them."""
    made: list[ChatSynthesizer] = []

    def maker(**settings: Any) -> ChatSynthesizer:
        made.append(ChatSynthesizer(make_chat_model(load_settings(**settings))))
        return made[-1]

    yield maker
    for synthesizer in made:
        assert synthesizer.chat.aclose
        await synthesizer.chat.aclose()


class TestExtractive(SynthesizerKit):
    @pytest.fixture
    def synthesizer(self) -> Synthesizer:
        return ExtractiveSynthesizer()


class TestOllama(RemoteSynthesizerKit):
    @pytest.fixture
    def peer(self, ollama_peer: OllamaPeer) -> HttpPeer:
        return ollama_peer

    @pytest.fixture
    def impatient(self, make: Maker, peer: HttpPeer) -> Callable[[float], Synthesizer]:
        return lambda seconds: make(
            chat_model="ollama:llama3.2:1b", ollama_host=peer.url, ollama_timeout_seconds=seconds
        )

    @pytest.fixture
    def synthesizer(self, impatient: Callable[[float], Synthesizer]) -> Synthesizer:
        return impatient(20.0)


class TestCohere(RemoteSynthesizerKit):
    @pytest.fixture
    def peer(self, cohere_peer: CoherePeer) -> HttpPeer:
        return cohere_peer

    @pytest.fixture
    def impatient(self, make: Maker, cohere_peer: CoherePeer) -> Callable[[float], Synthesizer]:
        return lambda seconds: make(
            chat_model="cohere:command-r7b-12-2024",
            cohere_api_key=cohere_peer.key,
            cohere_base_url=cohere_peer.url,
            ollama_timeout_seconds=seconds,
        )

    @pytest.fixture
    def synthesizer(self, impatient: Callable[[float], Synthesizer]) -> Synthesizer:
        return impatient(20.0)


class TestOpenAI(RemoteSynthesizerKit):
    @pytest.fixture
    def peer(self, openai_peer: OpenAIPeer) -> HttpPeer:
        return openai_peer

    @pytest.fixture
    def impatient(self, make: Maker, peer: HttpPeer) -> Callable[[float], Synthesizer]:
        return lambda seconds: make(
            chat_model="openai:qwen2.5", openai_base_url=f"{peer.url}/v1", ollama_timeout_seconds=seconds
        )

    @pytest.fixture
    def synthesizer(self, impatient: Callable[[float], Synthesizer]) -> Synthesizer:
        return impatient(20.0)


async def test_any_langchain_chat_model() -> None:
    """A model of someone else's needs nothing but LangChain's interface; one that names no reason has finished."""
    fact = next(iter(FACTS.values()))
    model = GenericFakeChatModel(messages=iter([AIMessage(f"{fact} [1]"), AIMessage("I don’t know.")]))
    synthesizer = ChatSynthesizer(ChatModel("own", model, 4096, seconds=20))
    draft = await draft_of(synthesizer, next(iter(FACTS)))
    assert (marked(draft), draft.by_model, draft.confidence) == (f"{fact} [1]", True, None)
    assert (await draft_of(synthesizer, next(iter(FACTS)))).text == ""
    assert len(CHUNKS) == len(FACTS)

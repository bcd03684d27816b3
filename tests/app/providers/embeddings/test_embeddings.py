"""Embedding models by name, the kit over each, and what is special to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import langchain_cohere
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from app.providers.embeddings.models import make_embeddings
from app.providers.embeddings.remote import RemoteEmbeddings
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError, EmbeddingUnavailable
from tests.contract.embeddings_kit import EmbeddingsKit, RemoteEmbeddingsKit
from tests.peers import CoherePeer, OllamaPeer
from tests.peers.reading import DIMENSION

if TYPE_CHECKING:
    from app.providers.embeddings.minilm import MiniLMEmbeddings


def impatient_of(settings: Settings) -> Callable[[float], Embeddings]:
    """What makes a model of these settings that waits so many seconds for a question."""

    def make(seconds: float) -> Embeddings:
        made = make_embeddings(settings).embeddings
        assert isinstance(made, RemoteEmbeddings)
        return RemoteEmbeddings(made.inner, seconds=seconds)

    return make


class TestEmbedded(EmbeddingsKit):
    """The kit over the embedded model."""

    @pytest.fixture
    def embeddings(self, embeddings: MiniLMEmbeddings) -> Embeddings:
        return embeddings


class TestOllama(RemoteEmbeddingsKit):
    """The kit over Ollama's embeddings."""

    @pytest.fixture
    def peer(self) -> Iterator[OllamaPeer]:
        with OllamaPeer() as started:
            yield started

    @pytest.fixture
    def impatient(self, peer: OllamaPeer) -> Callable[[float], Embeddings]:
        return impatient_of(load_settings(embedding_model="nomic-embed-text", ollama_host=peer.url))

    @pytest.fixture
    def embeddings(self, impatient: Callable[[float], Embeddings]) -> Embeddings:
        return impatient(20.0)

    async def test_a_model_that_is_not_pulled(self, peer: OllamaPeer) -> None:
        """Ollama's 404 is reported as a model that was not found."""
        made = make_embeddings(load_settings(embedding_model="ollama:nothing", ollama_host=peer.url))
        with pytest.raises(EmbeddingUnavailable, match=r"was not found \(HTTP 404\)"):
            await made.embeddings.aembed_query("?")


class TestCohere(RemoteEmbeddingsKit):
    """The kit over Cohere's embeddings."""

    @pytest.fixture
    def peer(self) -> Iterator[CoherePeer]:
        with CoherePeer() as started:
            yield started

    @pytest.fixture
    def settings(self, peer: CoherePeer) -> Settings:
        return load_settings(embedding_model="embed-english-v3.0", cohere_api_key=peer.key, cohere_base_url=peer.url)

    @pytest.fixture
    def impatient(self, settings: Settings) -> Callable[[float], Embeddings]:
        return impatient_of(settings)

    @pytest.fixture
    def embeddings(self, settings: Settings) -> Embeddings:
        return make_embeddings(settings).embeddings

    async def test_questions_and_documents_say_what_they_are(self, embeddings: Embeddings, peer: CoherePeer) -> None:
        """Each goes with its own ``input_type``, and the model's name."""
        await embeddings.aembed_query("Why?")
        await embeddings.aembed_documents(["Because."])
        bodies = [request.body for request in peer.requests]
        assert [body["input_type"] for body in bodies] == ["search_query", "search_document"]
        assert {body["model"] for body in bodies} == {"embed-english-v3.0"}

    def test_langchain_cohere_still_replaces_the_clients(self) -> None:
        """Once this fails, ``async_client`` can be given to ``CohereEmbeddings``."""
        ours = object()
        made = langchain_cohere.CohereEmbeddings(client=ours, async_client=ours, model="m", cohere_api_key="k")
        assert made.client is not ours

    def test_the_key_is_not_shown(self, embeddings: Embeddings, peer: CoherePeer) -> None:
        """Neither ``repr`` holds it."""
        assert peer.key not in repr(embeddings) + repr(vars(embeddings))

    def test_without_a_key_the_start_says_so(self) -> None:
        """Before anything is asked."""
        with pytest.raises(ConfigurationError, match="COHERE_API_KEY"):
            make_embeddings(load_settings(embedding_model="cohere:embed-english-v3.0"))


async def test_the_dimension_is_known_after_the_first_vector() -> None:
    """And not before, for it costs a call."""
    with OllamaPeer() as peer:
        made = make_embeddings(load_settings(embedding_model="nomic-embed-text", ollama_host=peer.url))
        assert isinstance(made.embeddings, RemoteEmbeddings)
        assert made.embeddings.dimension is made.dimension is None
        await made.embeddings.aembed_query("?")
        assert made.embeddings.dimension == DIMENSION


class Odd(DeterministicFakeEmbedding):
    """A model that gives one vector too few, or one of another size, or no number."""

    fault: str

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows = super().embed_documents(texts)
        return {"few": rows[1:], "sizes": [*rows[1:], [1.0]], "nan": [[float("nan")] * self.size, *rows[1:]]}[
            self.fault
        ]


@pytest.mark.parametrize("fault", ["few", "sizes", "nan"])
async def test_odd_vectors_are_an_error(fault: str) -> None:
    """What is not one finite vector of one size per text is never stored or searched with."""
    with pytest.raises(EmbeddingUnavailable):
        await RemoteEmbeddings(Odd(size=3, fault=fault)).aembed_documents(["a", "b"])


def test_an_unknown_name_stops_the_start() -> None:
    """With one line that names the setting and the value."""
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODEL='nobody:nothing'"):
        make_embeddings(load_settings(embedding_model="nobody:nothing"))

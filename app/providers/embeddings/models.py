"""Embedding models by name, each a LangChain ``Embeddings``; vendor packages are imported only when chosen."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langchain_core.embeddings import Embeddings

from app.providers.embeddings.minilm import MiniLMEmbeddings, find_weights
from app.providers.embeddings.remote import BATCH_SECONDS, RemoteEmbeddings
from app.settings import Settings
from graph.errors import ConfigurationError

BARE_NAMES = {
    "all-MiniLM-L6-v2": "embedded:all-MiniLM-L6-v2",
    "sentence-transformers/all-MiniLM-L6-v2": "embedded:all-MiniLM-L6-v2",
    "nomic-embed-text": "ollama:nomic-embed-text",
    "embed-english-v3.0": "cohere:embed-english-v3.0",
}
"""Names the documents write without a provider."""

COHERE_TEXTS = 96
"""Texts Cohere takes in one request."""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedding model and its calibration's name.

    ``dimension`` is None where only a remote model knows it; ``aprobe`` raises when that fails, None for one run here.
    """

    name: str
    embeddings: Embeddings
    dimension: int | None
    aprobe: Callable[[], Awaitable[None]] | None = None
    close: Callable[[], None] = lambda: None


def make_embeddings(settings: Settings) -> EmbeddingModel:
    """Make the embedding model that ``EMBEDDING_MODEL`` names: embedded ones are loaded, servers are not contacted.

    Raises ``ConfigurationError``.
    """
    name = settings.embedding_model
    provider, _, model = BARE_NAMES.get(name, name).partition(":")
    if not model:
        raise ConfigurationError(
            f"EMBEDDING_MODEL={name!r} is not allowed: {', '.join(sorted(BARE_NAMES))}, or provider:model"
        )
    return FACTORIES[provider](settings, model) if provider in FACTORIES else _any_langchain(name)


def _embedded(settings: Settings, model: str) -> EmbeddingModel:
    minilm = MiniLMEmbeddings(find_weights())
    if model != minilm.model_name:
        raise ConfigurationError(f"EMBEDDING_MODEL={settings.embedding_model!r} is not allowed: {minilm.model_name}")
    minilm.load()
    return EmbeddingModel(minilm.model_name, minilm, minilm.dimension, close=minilm.close)


def _ollama(settings: Settings, model: str) -> EmbeddingModel:
    from langchain_ollama import OllamaEmbeddings

    from app.providers.http.transport import AiohttpTransport

    # The timeout is per read, as httpx counts; RemoteEmbeddings limits the total.
    ollama = OllamaEmbeddings(
        model=model,
        base_url=settings.ollama_host,
        client_kwargs={"timeout": BATCH_SECONDS},
        async_client_kwargs={"transport": AiohttpTransport()},
    )
    return _remote(model, ollama)


def _cohere(settings: Settings, model: str) -> EmbeddingModel:
    from langchain_cohere import CohereEmbeddings

    from app.providers.http.cohere_client import cohere_client

    client, _ = cohere_client(settings, "EMBEDDING_MODEL", BATCH_SECONDS)
    key, tries = settings.cohere_api_key, 1  # retries are those of RemoteEmbeddings
    cohere = CohereEmbeddings(
        client=None, async_client=None, model=model, cohere_api_key=key, max_retries=tries, truncate="END"
    )
    # A client that it is given is replaced (langchain-ai/langchain-cohere, pull request 187) by one with httpx's pool.
    cohere.async_client = client
    return _remote(model, cohere, batch=COHERE_TEXTS)


def _any_langchain(name: str) -> EmbeddingModel:
    from langchain.embeddings import init_embeddings

    try:
        embeddings = init_embeddings(name)
    except Exception as error:  # a vendor's own class too, mostly for a missing key
        raise ConfigurationError(
            f"EMBEDDING_MODEL={name!r} cannot be used: no such provider, its LangChain package is not installed, "
            "or its key is not set."
        ) from error
    return _remote(name.partition(":")[2], embeddings)


def _remote(name: str, inner: Embeddings, **limits: int) -> EmbeddingModel:
    embeddings = RemoteEmbeddings(inner, **limits)
    return EmbeddingModel(name, embeddings, None, embeddings.aprobe)


FACTORIES: dict[str, Callable[[Settings, str], EmbeddingModel]] = {
    "embedded": _embedded,
    "ollama": _ollama,
    "cohere": _cohere,
}
"""Provider -> factory; any other name goes to LangChain's own ``init_embeddings``."""

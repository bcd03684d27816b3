"""Embedding models by name, each a LangChain ``Embeddings``; vendor packages are imported only when chosen."""

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from langchain_core.embeddings import Embeddings

from app.providers.embeddings import minilm, mpnet
from app.providers.embeddings.folder import FolderEmbeddings, fetch, onnx_files, sentence_transformers
from app.providers.embeddings.fused import FusedEmbeddings, weights_of
from app.providers.embeddings.onnx_encoder import ShippedEncoder
from app.providers.embeddings.remote import BATCH_SECONDS, RemoteEmbeddings
from app.providers.plugins import find_factory
from app.settings import Settings
from graph.errors import ConfigurationError

BARE_NAMES = {
    "all-MiniLM-L6-v2": "embedded:all-MiniLM-L6-v2",
    "sentence-transformers/all-MiniLM-L6-v2": "embedded:all-MiniLM-L6-v2",
    "all-mpnet-base-v2": "embedded:all-mpnet-base-v2",
    "sentence-transformers/all-mpnet-base-v2": "embedded:all-mpnet-base-v2",
    "bge-small-en-v1.5": "hub:BAAI/bge-small-en-v1.5",
    "nomic-embed-text": "ollama:nomic-embed-text",
    "embed-english-v3.0": "cohere:embed-english-v3.0",
}
"""Names the documents write without a provider."""
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(?:@[\w.-]+)?")
KNOWN_FOLDERS = ("bge-small-en-v1.5",)
"""Names by which a calibrated model's folder may begin, as that of a quantised copy does."""

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

    Names joined by ``+`` are searched together. Raises ``ConfigurationError``.
    """
    name = settings.embedding_model
    names = name.split("+")
    if len(names) == 1 or is_folder(name):
        return _single(settings, name)
    models = []
    with ExitStack() as opened:
        for name in names:
            models.append(_single(settings, name.strip()))
            opened.callback(models[-1].close)
        return _fused(models, opened.pop_all().close)


def is_folder(name: str) -> bool:
    return bool(name) and Path(name).expanduser().is_dir()


def _single(settings: Settings, name: str) -> EmbeddingModel:
    if is_folder(name):
        return _folder(settings, name)
    named = BARE_NAMES.get(name, name)
    if HUB_NAME.fullmatch(named):
        named = f"hub:{named}"
    provider, _, model = named.partition(":")
    if not model:
        raise ConfigurationError(
            f"EMBEDDING_MODEL={name!r} is not allowed: {', '.join(sorted(BARE_NAMES))}, a folder of a "
            "sentence-transformers model, its name OWNER/MODEL on the Hugging Face hub, provider:model, or several of "
            "them joined by +"
        )
    factory = FACTORIES.get(provider) or find_factory("embeddings", provider)
    return factory(settings, model) if factory else _any_langchain(named)


def _fused(models: Sequence[EmbeddingModel], close: Callable[[], None]) -> EmbeddingModel:
    """Join *models*, which *close* closes; one that a server runs is probed as it is alone."""
    sizes = [model.dimension for model in models]
    size = sum(size for size in sizes if size) if all(sizes) else None
    names = [model.name for model in models]
    embeddings = FusedEmbeddings([model.embeddings for model in models], weights_of(names), size)
    probes = [model.aprobe for model in models if model.aprobe]

    async def aprobe() -> None:
        for probe in probes:
            await probe()

    return EmbeddingModel("+".join(names), embeddings, size, aprobe if probes else None, close)


def _embedded(settings: Settings, model: str) -> EmbeddingModel:
    encoder: ShippedEncoder
    if model == mpnet.MODEL_NAME:
        encoder = mpnet.MPNetEmbeddings(mpnet.unpack(settings.data_dir / ".models" / mpnet.MODEL_NAME))
    elif model == minilm.MODEL_NAME:
        encoder = minilm.MiniLMEmbeddings(minilm.find_weights())
    else:
        allowed = f"{minilm.MODEL_NAME} or {mpnet.MODEL_NAME}"
        raise ConfigurationError(f"EMBEDDING_MODEL={settings.embedding_model!r} is not allowed: {allowed}")
    encoder.load()
    return EmbeddingModel(encoder.model_name, encoder, encoder.dimension, close=encoder.close)


def _folder(settings: Settings, name: str, model: str = "") -> EmbeddingModel:
    """Load the model in the folder *name*; *model* is its name where the folder has another."""
    folder = Path(name).expanduser()
    model = model or folder.resolve().name
    model = next((known for known in KNOWN_FOLDERS if model.startswith(known)), model)
    if not onnx_files(folder):
        return EmbeddingModel(model, *sentence_transformers(folder, model, settings))
    embeddings = FolderEmbeddings(folder, model, settings)
    return EmbeddingModel(model, embeddings, embeddings.dimension, close=embeddings.close)


def _hub(settings: Settings, model: str) -> EmbeddingModel:
    return _folder(settings, str(fetch(model)), model.partition("@")[0].rpartition("/")[2])


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

    from app.providers.cohere import cohere_client

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
    "hub": _hub,
    "ollama": _ollama,
    "cohere": _cohere,
}
"""Provider -> factory; other names are those that packages register, or go to LangChain's ``init_embeddings``."""

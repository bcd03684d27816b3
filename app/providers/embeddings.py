"""Embedding models by name: one function and one table line each.

What comes out is always a LangChain ``Embeddings``; the embedded model also gives arrays (``ArrayEmbeddings``), which
spares a detour through lists of floats. Vendor packages are imported only when chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings import Settings
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

BARE_NAMES = {
    "all-MiniLM-L6-v2": "embedded:all-MiniLM-L6-v2",
    "sentence-transformers/all-MiniLM-L6-v2": "embedded:all-MiniLM-L6-v2",
    "nomic-embed-text": "ollama:nomic-embed-text",
    "embed-english-v3.0": "cohere:embed-english-v3.0",
}
"""Names the documents write without a provider (contract, Settings)."""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedding model and the name its calibration goes by; ``dimension`` is None until a vendor has told."""

    name: str
    embeddings: Embeddings
    dimension: int | None


def make_embeddings(settings: Settings) -> EmbeddingModel:
    """The embedding model that ``EMBEDDING_MODEL`` names. Raises ``ConfigurationError``."""
    wanted = settings.embedding_model
    if Path(wanted).expanduser().is_dir():
        return _embedded(settings, wanted)
    provider, _, model = BARE_NAMES.get(wanted, wanted).partition(":")
    if not model:
        raise ConfigurationError(
            f"EMBEDDING_MODEL={wanted!r} is not allowed: a folder, {', '.join(sorted(BARE_NAMES))}, or provider:model"
        )
    return MAKERS.get(provider, _any_langchain)(settings, BARE_NAMES.get(wanted, wanted))


def _embedded(settings: Settings, name: str) -> EmbeddingModel:
    from app.providers.minilm import MiniLMEmbeddings
    from app.providers.weights import find_weights

    folder = Path(name).expanduser()
    made = MiniLMEmbeddings(
        find_weights(folder if folder.is_dir() else None), question_precision=settings.question_precision
    )
    return EmbeddingModel(made.model_name, made, made.dimension)


def _any_langchain(_: Settings, name: str) -> EmbeddingModel:
    from langchain.embeddings import init_embeddings

    try:
        made = init_embeddings(name)
    except (ImportError, ValueError) as error:
        raise ConfigurationError(
            f"EMBEDDING_MODEL={name!r} cannot be used: no such provider, or its LangChain package is not installed."
        ) from error
    return EmbeddingModel(name.partition(":")[2], made, None)


MAKERS: dict[str, Callable[[Settings, str], EmbeddingModel]] = {
    "embedded": _embedded,
}
"""Provider -> maker; any other name goes to LangChain's own ``init_embeddings``."""

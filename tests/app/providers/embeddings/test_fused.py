"""Encoders that are searched together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from app.providers.embeddings.fused import SPREADS, weights_of
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.settings import load_settings
from graph.errors import ConfigurationError, EmbeddingUnavailable
from tests.contract.embeddings_kit import QUESTION, TEXTS, EmbeddingsKit
from tests.contract.text_encoder import SIZE, write_text_encoder
from tests.peers import Fault, OllamaPeer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_text_encoder(tmp_path / "own", [*TEXTS, QUESTION])


@pytest.fixture
def fused(folder: Path) -> Iterator[EmbeddingModel]:
    made = make_embeddings(load_settings(embedding_model=f"all-MiniLM-L6-v2+{folder}"))
    yield made
    made.close()


class TestFused(EmbeddingsKit):
    """The kit over two encoders."""

    @pytest.fixture
    def embeddings(self, fused: EmbeddingModel) -> Embeddings:
        return fused.embeddings


async def test_a_dot_product_is_the_mean_of_the_cosines(fused: EmbeddingModel, folder: Path) -> None:
    """Of two encoders, one without a known spread, both cosines count alike; vectors keep length 1."""
    assert (fused.name, fused.dimension) == ("all-MiniLM-L6-v2+own", 384 + SIZE)
    cosines = []
    for name in ("all-MiniLM-L6-v2", str(folder)):
        one = make_embeddings(load_settings(embedding_model=name))
        rows, asked = await one.embeddings.aembed_documents(TEXTS), await one.embeddings.aembed_query(QUESTION)
        cosines.append(np.array(rows) @ asked)
        one.close()
    rows, asked = await fused.embeddings.aembed_documents(TEXTS), await fused.embeddings.aembed_query(QUESTION)
    np.testing.assert_allclose(np.array(rows) @ asked, np.mean(cosines, axis=0), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("other", ["all-mpnet-base-v2", "bge-small-en-v1.5"])
def test_standardised_cosines_count_alike(other: str) -> None:
    """A weight is the inverse of the encoder's spread, so that the narrower cosines do not count for less."""
    first, second = weights_of(["all-MiniLM-L6-v2", other])
    assert first + second == pytest.approx(1)
    assert first * SPREADS["all-MiniLM-L6-v2"] == pytest.approx(second * SPREADS[other])


def test_one_that_is_wrong_is_named() -> None:
    """An unknown name among several stops the start with that name."""
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODEL='nonsense' is not allowed"):
        make_embeddings(load_settings(embedding_model="all-MiniLM-L6-v2+nonsense"))


def test_an_outage_of_one_is_an_outage() -> None:
    """Where a server embeds for one of them, its failure is that of both, when probed too."""
    with OllamaPeer() as peer:
        settings = load_settings(embedding_model="all-MiniLM-L6-v2+nomic-embed-text", ollama_host=peer.url)
        fused = make_embeddings(settings)
        peer.fault = Fault("status", 400)
        assert fused.aprobe
        with pytest.raises(EmbeddingUnavailable):
            asyncio.run(fused.aprobe())
        with pytest.raises(EmbeddingUnavailable):
            fused.embeddings.embed_query(QUESTION)
        fused.close()

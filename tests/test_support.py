"""The support scorer over embedded and over other models."""

from __future__ import annotations

import pytest
from langchain_core.embeddings import Embeddings

from app.providers.minilm import MiniLMEmbeddings
from app.providers.vectors import document_vectors
from app.support import EmbeddingSupport

PAIRS = [
    ("Grass is green.", "The colour of grass is green."),
    ("Grass is green.", "A pump weighs 40 kg."),
    ("The pump is heavy.", "A pump weighs 40 kg."),
]


async def test_the_embedded_model_is_asked_as_for_questions(embeddings: MiniLMEmbeddings) -> None:
    """Questions' vectors, which are remembered, give the cosines that documents' vectors give, to two places."""
    found = await EmbeddingSupport(embeddings).similarities(PAIRS)
    assert found == await EmbeddingSupport(embeddings).similarities(PAIRS)
    for cosine, pair in zip(found, PAIRS, strict=True):
        left, right = document_vectors(embeddings, pair)
        assert cosine == pytest.approx(float(left @ right), abs=0.01)
    assert found[0] > 0.8 > found[2] > found[1]


class Counted(Embeddings):
    """A model whose questions are not its documents."""

    def __init__(self) -> None:
        self.embedded: list[list[str]] = []

    def embed_query(self, text: str) -> list[float]:
        raise AssertionError("a sentence of an answer is no question")

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded.append(texts)
        return [[float(len(text)), 1.0] for text in texts]


async def test_another_model_is_given_documents() -> None:
    """Any other model gets every distinct text once, all in one call, as documents."""
    model = Counted()
    await EmbeddingSupport(model).similarities(PAIRS)
    assert model.embedded == [list(dict.fromkeys(text for pair in PAIRS for text in pair))]

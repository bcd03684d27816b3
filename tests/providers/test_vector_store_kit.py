"""The vector stores' kit over the embedded engine; the servers' runs are beside what is special to each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.providers.edge_store import EdgeVectorStore
from tests.kits.vector_store_kit import EMBEDDING, SIZE, VectorStoreKit


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeVectorStore]:
    made = EdgeVectorStore(EMBEDDING, tmp_path, "garden", SIZE)
    yield made
    await made.aclose()


class TestEmbedded(VectorStoreKit):
    """The kit over the embedded engine."""

"""The vector stores' kit over the embedded store; the servers' runs are beside what is special to each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.providers.stores.embedded import EmbeddedStore
from tests.contract.vector_store_kit import EMBEDDING, SIZE, VectorStoreKit


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EmbeddedStore]:
    made = EmbeddedStore(EMBEDDING, tmp_path, "garden", SIZE)
    yield made
    await made.aclose()


class TestEmbedded(VectorStoreKit):
    """The kit over the embedded store."""

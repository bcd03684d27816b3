"""A service in this process, and a caller of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.bootstrap.compose import AppContainer, build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.support.calling import caller


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of an empty collection."""
    return tmp_path / "data"


@pytest.fixture
async def container(data: Path, embedding: EmbeddingModel) -> AsyncIterator[AppContainer]:
    """A service over the collection in that folder."""
    made = build_container(load_settings(data_dir=data), embedding=embedding)
    yield made
    await made.aclose()


@pytest.fixture
async def client(container: AppContainer) -> AsyncIterator[httpx.AsyncClient]:
    """A caller on this machine."""
    async with caller(container) as made:
        yield made

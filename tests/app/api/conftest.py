"""A service in this process over an empty collection, and a caller on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.bootstrap.compose import AppContainer, build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.app.api.test_page_api import caller


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Where the service keeps its data."""
    return tmp_path / "data"


@pytest.fixture
async def container(data_dir: Path, embedding: EmbeddingModel) -> AsyncIterator[AppContainer]:
    """The service."""
    made = build_container(load_settings(data_dir=data_dir), embedding=embedding)
    yield made
    await made.aclose()


@pytest.fixture
async def client(container: AppContainer) -> AsyncIterator[httpx.AsyncClient]:
    """The caller."""
    async with caller(container) as made:
        yield made

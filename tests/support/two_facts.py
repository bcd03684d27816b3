"""A collection of two facts, for services in this process and in processes of their own."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from app.api.server import create_app, server_config
from app.bootstrap.compose import AppContainer, build_container
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.support.process import Service
from tests.support.samples_service import serve_app
from tests.support.slow_ollama import SlowOllama

if TYPE_CHECKING:
    pass

TEXT = "# Tower\n\nThe Eiffel Tower was finished in 1889. It is made of iron.\n"
QUESTION = "When was the Eiffel Tower finished?"


@pytest.fixture(scope="session")
def two_facts(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Path:
    """A data folder with one short document; not open."""
    folder = tmp_path_factory.mktemp("two-facts")
    (source := folder / "tower.md").write_text(TEXT)

    async def fill() -> None:
        container = build_container(load_settings(data_dir=folder / "data"), embedding=embedding)
        await ingest_into(container.writer, [source])
        await container.aclose()

    asyncio.run(fill())
    return folder / "data"


@pytest.fixture
def data(two_facts: Path, tmp_path: Path) -> Path:
    """A copy of that folder for one test."""
    return Path(shutil.copytree(two_facts, tmp_path / "data"))


@pytest.fixture
def start(data: Path, tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """``start(SETTING="value")``: a service over the two facts; what still runs at the end is killed."""
    running: list[Service] = []

    def run(**settings: str) -> Service:
        running.append(Service(data, tmp_path, **settings))
        return running[-1]

    yield run
    for service in running:
        service.kill()


@pytest.fixture
def model() -> Iterator[SlowOllama]:
    """A chat model that stops in mid-answer until its gate is opened."""
    with SlowOllama() as peer:
        yield peer
        peer.gate.set()


def together(*calls: Callable[[], object]) -> list[threading.Thread]:
    """Each of *calls* in a thread of its own, started."""
    threads = [threading.Thread(target=call, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    return threads


@contextmanager
def serve_here(app: Any) -> Iterator[str]:
    """The address of *app*, served in this process as ``garden serve`` would."""
    with serve_app(app, server_config(app)) as address:
        yield address


@pytest.fixture(scope="module")
def here(
    two_facts: Path, embedding: EmbeddingModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, AppContainer]]:
    """A service in this process over the two facts: its address and its garden."""
    folder = Path(shutil.copytree(two_facts, tmp_path_factory.mktemp("here") / "data"))
    settings = load_settings(data_dir=folder)
    container = build_container(settings, embedding=embedding)
    with serve_here(create_app(container)) as address:
        yield address, container


@pytest.fixture
def facts_client(here: tuple[str, AppContainer]) -> Iterator[httpx.Client]:
    """A client of that service."""
    with httpx.Client(base_url=here[0], timeout=30) as client:
        yield client

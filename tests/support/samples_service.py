"""The sample documents ingested once and one real server for all interface tests: sockets, store and weights."""

from __future__ import annotations

import asyncio
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn
from filelock import FileLock
from playwright.sync_api import Browser, sync_playwright

from app.api.server import create_app
from app.bootstrap.compose import AppContainer, build_container
from app.ingest.find import SAMPLES
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.support.paths import KNOWLEDGE

if TYPE_CHECKING:
    from app.providers.embeddings.minilm import MiniLMEmbeddings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def embedding(embeddings: MiniLMEmbeddings) -> EmbeddingModel:
    """The embedded model under its calibration's name; it outlives every service that borrows it."""
    return EmbeddingModel(embeddings.model_name, Lasting(embeddings), embeddings.dimension)


class Lasting:
    """A model that closing a service does not close."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        if name == "close":
            raise AttributeError(name)
        return getattr(self._model, name)


@pytest.fixture(scope="session")
def sample_data(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel, worker_id: str) -> Path:
    """A data folder whose collection holds the sample documents, ingested once for all workers; not open."""
    own = tmp_path_factory.mktemp("garden") / "data"
    whole_run = tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent
    first = whole_run / "ingested"
    with FileLock(f"{first}.lock"):
        if not first.exists():
            ingest_samples(first.with_suffix(".part"), embedding)
            first.with_suffix(".part").rename(first)
    return Path(shutil.copytree(first, own))


def ingest_samples(folder: Path, embedding: EmbeddingModel) -> None:
    """The sample documents in a collection under *folder*."""

    async def fill() -> None:
        container = build_container(load_settings(data_dir=folder), embedding=embedding)
        paths = sorted(path for path in KNOWLEDGE.iterdir() if path.suffix in SAMPLES)
        manifest = IngestManifest(folder / container.settings.vector_store_collection, paths)
        report = await ingest_into(container.writer, paths, manifest=manifest)
        assert not report.skipped
        await container.aclose()

    asyncio.run(fill())


@contextmanager
def serve(container: AppContainer) -> Iterator[str]:
    """A real server for *container*; yields its address and closes the container at the end."""
    with serve_app(create_app(container)) as address:
        yield address


@contextmanager
def serve_app(app: Any, config: uvicorn.Config | None = None) -> Iterator[str]:
    """A real server for an ASGI application on a free loopback port; yields its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(config or uvicorn.Config(app, log_config=None))
    server.config.timeout_graceful_shutdown = 5
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive())
        assert server.started
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Poll *condition*; fail when it does not come true."""
    ready = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        ready.wait(0.02)
    raise AssertionError("waited in vain")


@pytest.fixture(scope="session")
def address(sample_data: Path, embedding: EmbeddingModel) -> Iterator[str]:
    """The address of a server over the sample garden."""
    with serve(build_container(load_settings(data_dir=sample_data), embedding=embedding)) as served:
        yield served


@pytest.fixture
def http(address: str) -> Iterator[httpx.Client]:
    """A client of that server."""
    with httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def browser(sample_data: Path) -> Iterator[Browser]:
    """Headless Chromium; a machine without one says so. Ingest comes first: no loop runs beside the browser's."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()

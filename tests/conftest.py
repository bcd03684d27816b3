"""What every test may rely on: no setting of the person who runs it, no network but loopback, warnings as errors.

Warnings are made errors in ``pyproject.toml`` (``filterwarnings``), where each exception has its reason.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import certifi
import hypothesis
import pytest

from app.settings import Settings
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from app.providers.embeddings.minilm import MiniLMEmbeddings

pytest_plugins = ["tests.peers", "tests.support.samples_service", "tests.support.synthesis", "tests.support.two_facts"]

OUTSIDE = (
    "CHROMA_",
    "CO_API_",
    "COHERE_",
    "LANGCHAIN_",
    "LANGGRAPH_",
    "LANGSMITH_",
    "OLLAMA_",
    "OPENAI_",
    "OTEL_",
    "QDRANT_",
)
"""Variables that libraries underneath read by themselves begin with one of these."""

# Two noisy cores may take any time for an example; what is slow is the business of bench/.
hypothesis.settings.register_profile("garden", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("garden")


class DotEnv:
    """The name of the settings' file, but for the one in this checkout: that is somebody's own."""

    def __fspath__(self) -> str:
        return os.devnull if Path.cwd() == ROOT else ".env"


def foreign_variables() -> list[str]:
    """The variables of the environment that would change what a test sees."""
    ours = {name.upper() for name in Settings.model_fields}
    return [
        name
        for name in os.environ
        if name.upper() in ours or name.upper().startswith(OUTSIDE) or name.upper().endswith("_PROXY")
    ]


def pytest_collection_finish() -> None:
    """What is imported by now stays to the end: the garbage collector passes over it, and runs less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _clear_environment_of_session() -> Iterator[None]:
    """What session fixtures see is as clean as what tests see."""
    with pytest.MonkeyPatch.context() as patch:
        for name in foreign_variables():
            patch.delenv(name)
        patch.setitem(Settings.model_config, "env_file", DotEnv())  # type: ignore[arg-type]
        yield


@pytest.fixture(autouse=True)
def _clear_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting is left from outside, nor from the test before."""
    for name in foreign_variables():
        monkeypatch.delenv(name)


class NetworkUsed(RuntimeError):
    """A test reached, or tried to reach, past this machine. Not an ``OSError``: the code under test catches those."""


attempts: list[str] = []
"""Where the running test tried to go."""


def watch_sockets(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: refuse to look up or to reach any address that is not loopback."""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        endpoint = arguments[1]
        if arguments[0].family not in (socket.AF_INET, socket.AF_INET6) or endpoint is None:
            return
        host = endpoint[0]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
    else:
        return
    if not is_local(host):
        attempts.append(str(host))
        raise NetworkUsed(f"{event} {host}: tests reach nothing but loopback")


def is_local(host: str | bytes | None) -> bool:
    """Whether that name or address is this machine's own, as loopback or as "any"."""
    name = host.decode() if isinstance(host, bytes) else host or "localhost"
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return name.lower() == "localhost" or name.lower().endswith(".localhost")
    return address.is_loopback or address.is_unspecified


sys.addaudithook(watch_sockets)  # for the whole process: what a test starts in a thread is watched too


@pytest.fixture(autouse=True)
def _closed_sockets() -> Iterator[None]:
    """A test that tried to leave this machine fails, even where the attempt was caught."""
    attempts.clear()
    yield
    assert not attempts, f"this test tried to reach {', '.join(attempts)}"


@pytest.fixture(scope="session")
def embeddings() -> Iterator[MiniLMEmbeddings]:
    """The embedded model, loaded once: the real weights."""
    from app.providers.embeddings.minilm import MiniLMEmbeddings, find_weights

    model = MiniLMEmbeddings(find_weights())
    yield model
    model.close()


def pytest_configure(config: pytest.Config) -> None:
    """Trust one authority instead of all: nothing here speaks TLS, and reading them takes each HTTP client 25 ms."""
    end = "-----END CERTIFICATE-----\n"
    first, _, _ = Path(certifi.where()).read_text(encoding="utf-8").partition(end)
    with tempfile.NamedTemporaryFile("w", suffix=".pem", delete=False, encoding="utf-8") as file:
        file.write(first + end)
    config.add_cleanup(Path(file.name).unlink)
    os.environ["SSL_CERT_FILE"] = file.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--pictures DIR`` keeps the pictures that the tests of the page take (``make pictures``)."""
    parser.addoption("--pictures", type=Path, default=None, help="folder to keep pictures of the page in")

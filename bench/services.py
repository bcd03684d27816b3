"""The services that are compared: how each is built, served, asked, and how its first token is told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import envs
from bench.job import MODEL, TOP_K
from bench.process import environment

HERE = Path(__file__).parent
ROOT = HERE.parent


@dataclass(frozen=True, slots=True)
class Place:
    """Where a service's files are, and what it is told."""

    python: Path
    weights: Path
    model_url: str


@dataclass(frozen=True, slots=True)
class Service:
    """One service. ``body`` and ``stream_body`` make a request of a question.

    ``first`` is in the bytes of a stream as soon as its first token is; empty: any byte of the body.
    """

    name: str
    title: str
    path: str
    body: Callable[[str], dict[str, Any]]
    stream_path: str
    stream_body: Callable[[str], dict[str, Any]]
    first: str = ""
    chat: bool = True
    """Whether it asks the model peer."""

    @property
    def ours(self) -> bool:
        """Whether it is this project."""
        return self.name in ("ours", "extractive")

    def python(self, folder: Path) -> Path:
        """The interpreter of its environment below *folder*."""
        if self.ours:
            return envs.python_of(folder, "ours", ROOT / "requirements" / "run.txt", locked=True)
        return envs.python_of(folder, self.name, HERE / "peers" / self.name / "requirements.txt")

    def builds_from(self) -> str:
        """A digest of the code that its index is made by."""
        if self.ours:
            files = [*(ROOT / "app" / "ingest").glob("*.py"), *(ROOT / "app" / "providers").glob("*.py")]
        else:
            files = [HERE / "peers" / self.name / "app.py", HERE / "peers" / self.name / "requirements.txt"]
        return digest(sorted(files))

    def build_command(self, python: Path, corpus: Path, vectors: Path, folder: Path) -> list[str]:
        """Makes the index in *folder*. Ours makes the vectors, too; a peer is given them."""
        if self.ours:
            return [str(python), "-m", "bench.plant", str(corpus), str(folder), str(vectors)]
        return [
            str(python),
            str(HERE / "peers" / self.name / "app.py"),
            "build",
            str(corpus),
            str(vectors),
            str(folder),
        ]

    def serve_command(self, python: Path, folder: Path, port: int) -> list[str]:
        """Serves the index in *folder*."""
        if self.ours:
            return [str(python), "-m", "app.cli", "serve", "--port", str(port)]
        return [str(python), str(HERE / "peers" / self.name / "app.py"), "serve", str(folder), str(port)]

    def environment(self, place: Place, folder: Path) -> dict[str, str]:
        """What it finds in its environment."""
        if self.ours:
            chat = {"OLLAMA_HOST": place.model_url, "OLLAMA_MODEL": MODEL} if self.chat else {}
            return environment(DATA_DIR=str(folder), LOG_LEVEL="ERROR", PYTHONPATH=str(ROOT), **chat)
        told = {"BENCH_WEIGHTS": str(place.weights), "BENCH_MODEL_URL": place.model_url, "BENCH_TOP_K": str(TOP_K)}
        return environment(OMP_NUM_THREADS="1", **told)

    def requests(self, questions: Iterable[str], *, stream: bool = False) -> list[str]:
        """Bodies of requests."""
        make = self.stream_body if stream else self.body
        return [json.dumps(make(question)) for question in questions]


def _ours(question: str) -> dict[str, Any]:
    return {"query": question, "maxSources": TOP_K}


def _question(question: str) -> dict[str, Any]:
    return {"question": question}


def _input(question: str) -> dict[str, Any]:
    return {"input": question}


def _messages(question: str) -> dict[str, Any]:
    return {"model": "rag", "stream": True, "messages": [{"role": "user", "content": question}]}


def digest(files: Iterable[Path]) -> str:
    """A name for exactly these files' contents."""
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()[:12]


OURS = Service("ours", "Knowledge Garden", "/query", _ours, "/query/stream", _ours, "event: token")
EXTRACTIVE = Service(
    "extractive", "Knowledge Garden, extractive", "/query", _ours, "/query/stream", _ours, "event: token", chat=False
)
PEERS = (
    Service("langchain", "LangChain, LangServe, Qdrant", "/rag/invoke", _input, "/rag/stream", _input, "event: data"),
    Service(
        "haystack", "Haystack, Hayhooks, Qdrant", "/rag/run", _question, "/chat/completions", _messages, '"content"'
    ),
    Service("llamaindex", "LlamaIndex, Faiss, FastAPI", "/query", _question, "/stream", _question),
    Service("txtai", "txtai, LiteLLM, FastAPI", "/query", _question, "/stream", _question),
)
SERVICES = (OURS, EXTRACTIVE, *PEERS)

"""Describe the services: how each is installed, run, asked, and how its first token is recognised."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.providers.embeddings.minilm import find_weights
from bench.process import environment

PEERS = Path(__file__).parent / "peers"
ROOT = PEERS.parent.parent


@dataclass(frozen=True, slots=True)
class Service:
    """One service; the question stands in for ``QUESTION`` in ``body`` and ``stream_body``.

    ``first`` is in the bytes of a stream as soon as its first token is; empty: any byte of the body. ``checkout`` is
    the folder of this project's code, ``workers`` how many processes it has.
    """

    name: str
    path: str
    body: dict[str, Any]
    stream_path: str
    stream_body: dict[str, Any]
    first: str = ""
    checkout: Path = ROOT
    workers: int = 1

    @property
    def is_ours(self) -> bool:
        """Tell whether it is this project, of this checkout or another."""
        return self.name in ("ours", "other")

    def python(self, envs: Path) -> Path:
        """Find its interpreter below *envs*; install it where its requirements have changed."""
        if self.is_ours:
            return _installed(envs / "ours", ROOT / "requirements" / "run.txt", "--no-deps", "--require-hashes")
        return _installed(envs / self.name, PEERS / self.name / "requirements.txt", "--torch-backend", "cpu")

    def built_by(self) -> str:
        """Digest the code that makes its index."""
        folders = [ROOT / "app" / "ingest", ROOT / "app" / "providers"] if self.is_ours else [PEERS / self.name]
        files = sorted(file for folder in folders for file in folder.rglob("*.py"))
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]

    def build_command(self, python: Path, corpus: Path, vectors: Path, folder: Path) -> list[str]:
        """Make the command that builds the index in *folder*; ours embeds, a peer reads the vectors."""
        if self.is_ours:
            return [str(python), "-m", "app.cli", "ingest", str(corpus)]
        return [*map(str, (python, PEERS / self.name / "app.py", "build", corpus, vectors, folder))]

    def serve_command(self, python: Path, folder: Path, port: int) -> list[str]:
        """Make the command that serves the index in *folder*."""
        if self.is_ours:
            return [str(python), "-m", "app.cli", "serve", "--port", str(port)]
        return [*map(str, (python, PEERS / self.name / "app.py", "serve", folder, port))]

    def environment(self, model_url: str, folder: Path) -> dict[str, str]:
        """Make its environment variables; peers have one thread for numerical libraries."""
        if self.is_ours:
            chat = {"OLLAMA_HOST": model_url, "OLLAMA_MODEL": "llama3.2:1b", "LOG_LEVEL": "ERROR"}
            variables = {"PYTHONPATH": str(self.checkout), "DATA_DIR": str(folder), "WORKERS": str(self.workers)}
            return environment(**variables, **chat)
        weights = str(find_weights())
        return environment(BENCH_WEIGHTS=weights, BENCH_MODEL_URL=model_url, BENCH_TOP_K="5", OMP_NUM_THREADS="1")

    def requests(self, questions: Iterable[str], *, stream: bool = False) -> list[str]:
        """Make the bodies of requests."""
        template = json.dumps(self.stream_body if stream else self.body)
        return [template.replace('"QUESTION"', json.dumps(question)) for question in questions]


_OURS = {"query": "QUESTION", "maxSources": 5}
_QUESTION = {"question": "QUESTION"}
_INPUT = {"input": "QUESTION"}
_MESSAGES = {"model": "rag", "stream": True, "messages": [{"role": "user", "content": "QUESTION"}]}
SERVICES = (
    Service("ours", "/query", _OURS, "/query/stream", _OURS, "event: token"),
    Service("langchain", "/rag/invoke", _INPUT, "/rag/stream", _INPUT, "event: data"),
    Service("haystack", "/rag/run", _QUESTION, "/chat/completions", _MESSAGES, '"content"'),
    Service("llamaindex", "/query", _QUESTION, "/stream", _QUESTION),
    Service("txtai", "/query", _QUESTION, "/stream", _QUESTION),
)


def _installed(folder: Path, requirements: Path, *how: str) -> Path:
    """Install an environment unless it was made from these requirements. Raises ``CalledProcessError``."""
    python, mark = folder.absolute() / "bin" / "python", folder / ".made-from"
    checksum = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if not mark.exists() or mark.read_text() != checksum:
        print(f"installing {folder} ...", flush=True)
        uv = str(Path(sys.executable).parent / "uv")
        install = [uv, "pip", "install", "--quiet", "--python", str(python), "--requirement", str(requirements)]
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)], check=True)
        if subprocess.run([*install, *how], check=False).returncode:
            subprocess.run(install, check=True)  # without the index of processor-only wheels: torch with CUDA
        mark.write_text(checksum)
    return python

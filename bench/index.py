"""Build the index of every service over one corpus once, and keep it in a cache folder until its code changes."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.bootstrap.compose import build_container
from app.settings import load_settings
from bench.corpus import Corpus
from bench.services import ROOT, SERVICES, Service


class Indexes:
    """The indexes of one corpus, below *cache*."""

    def __init__(self, cache: Path, corpus: Corpus, envs: Path) -> None:
        self._folder = cache.absolute() / corpus.digest()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._corpus, self._vectors = self._folder / "corpus.jsonl", self._folder / "vectors.npy"
        self._envs, self._rows = envs, corpus.rows
        corpus.write(self._corpus)

    def copy(self, service: Service, into: Path) -> Path:
        """Copy the service's index, built first if it is not there: the original stays as it was built."""
        return shutil.copytree(self._built(service), into / service.name)

    def _built(self, service: Service) -> Path:
        ours = SERVICES[0]
        if not service.is_ours and not self._vectors.exists():
            self._built(ours)
        service = ours if service.is_ours else service
        folder = self._folder / f"{service.name}-{service.built_by()}"
        if not folder.exists() or not self._vectors.exists():
            print(f"building the index of {service.name} ...", flush=True)
            making = folder.with_suffix(".part")
            shutil.rmtree(making, ignore_errors=True)
            command = service.build_command(service.python(self._envs), self._corpus, self._vectors, making)
            env = service.environment("http://127.0.0.1:11434", making) | {"OMP_NUM_THREADS": "2"}
            subprocess.run(command, env=env, cwd=ROOT, check=True)
            shutil.rmtree(folder, ignore_errors=True)
            making.rename(folder)
            if service.is_ours:
                stored = asyncio.run(_vectors_of(folder))
                np.save(self._vectors, np.stack([stored[row["chunk_id"]] for row in self._rows]))
        return folder


async def _vectors_of(folder: Path) -> dict[str, NDArray[np.float32]]:
    container = build_container(load_settings(data_dir=folder))
    vectors = {point.chunk_id: point.dense async for page in container.store.apoints() for point in page}
    await container.aclose()
    return vectors

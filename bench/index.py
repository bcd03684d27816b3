"""The index of every service over one corpus, built once and kept in a cache folder until its code changes."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from bench.corpus import Corpus
from bench.process import environment
from bench.services import OURS, ROOT, Place, Service


class Indexes:
    """What is built, below *cache*; ``place`` says what a service is built with."""

    def __init__(self, cache: Path, corpus: Corpus) -> None:
        self._folder = cache.absolute() / corpus.digest()
        self._folder.mkdir(parents=True, exist_ok=True)
        self.corpus_file = self._folder / "corpus.jsonl"
        corpus.write(self.corpus_file)

    @property
    def vectors(self) -> Path:
        """The chunks' vectors, float32 [rows, 384] in the order of the rows, made with our own index."""
        return self._folder / "vectors.npy"

    def of(self, service: Service, place: Place) -> Path:
        """The service's index, made first if it is not there. Raises ``SystemExit`` when it cannot be made."""
        name = OURS.name if service.ours else service.name
        folder = self._folder / f"{name}-{service.builds_from()}"
        if folder.exists() and self.vectors.exists():
            return folder
        print(f"building the index of {name} ...", flush=True)
        begun = time.perf_counter()
        making = folder.with_suffix(".part")
        shutil.rmtree(making, ignore_errors=True)
        if service.ours:
            making.mkdir()
        command = service.build_command(place.python, self.corpus_file, self.vectors, making)
        env = service.environment(place, making)
        env.pop("OMP_NUM_THREADS", None)
        done = subprocess.run(
            command, env={**environment(), **env}, cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"the index of {name} could not be built:\n{done.stderr[-3000:]}")
        shutil.rmtree(folder, ignore_errors=True)
        making.rename(folder)
        print(f"  {time.perf_counter() - begun:.0f} s", flush=True)
        return folder

    def copy(self, service: Service, place: Place, into: Path) -> Path:
        """A copy to be served: the original stays as it was built."""
        folder = into / service.name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.of(service, place), folder)
        return folder

"""Processes that are measured: start, wait for the first answer, processor time, memory, stop."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import httpx
import psutil

PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")
"""All that a measured process sees of the caller's environment."""


def environment(**added: str) -> dict[str, str]:
    """A clean environment: nothing of the caller's settings, one thread for numerical libraries, no telemetry."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    quiet = {"ANONYMIZED_TELEMETRY": "False", "HAYSTACK_TELEMETRY_ENABLED": "False", "DO_NOT_TRACK": "1"}
    offline = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return {**kept, **quiet, **offline, "TOKENIZERS_PARALLELISM": "false", **added}


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


class Measured:
    """A running process and all it started."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log: Path, cwd: Path) -> None:
        self.begun = time.perf_counter()
        self._log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command, env=dict(env), stdout=out, stderr=out, cwd=cwd, start_new_session=True
            )
        self._tree = psutil.Process(self._process.pid)

    def wait_for(self, url: str, body: dict[str, object], seconds: float = 120.0) -> float:
        """Ask until there is an answer; return the seconds since the start. Raises ``SystemExit`` if none comes."""
        with httpx.Client(timeout=seconds) as client:
            while self._process.poll() is None and time.perf_counter() - self.begun < seconds:
                try:
                    client.post(url, json=body).raise_for_status()
                except httpx.HTTPError:
                    time.sleep(0.02)
                else:
                    return time.perf_counter() - self.begun
        tail = self._log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise SystemExit(f"{url} gave no answer; the end of {self._log}:\n{tail}")

    def ended(self) -> str:
        """How the process ended by itself and the end of its log; empty while it runs."""
        status = self._process.poll()
        if status is None:
            return ""
        return f"exit status {status}\n{self._log.read_text(encoding='utf-8', errors='replace')[-1000:]}"

    def cpu_seconds(self) -> float:
        """Processor time so far, user and system, of the whole tree, ended children included."""
        return sum(map(_cpu, self._all()))

    def memory_mb(self) -> float:
        """Proportional set size of the whole tree, in MB of 2**20 bytes; resident size where it is not known."""
        return sum(map(_memory, self._all())) / 2**20

    def stop(self) -> None:
        """Ask it to end, and make it after ten seconds."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(10)

    def _all(self) -> Iterator[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            yield self._tree
            yield from self._tree.children(recursive=True)


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return sum((times.user, times.system, getattr(times, "children_user", 0.0), getattr(times, "children_system", 0.0)))


def _memory(process: psutil.Process) -> int:
    try:
        info = process.memory_full_info()
        return int(getattr(info, "pss", 0) or info.rss)
    except psutil.Error:
        return 0


def size_mb(*folders: Path) -> float:
    """What the files below take, in MB of 2**20 bytes, without what Python compiles by itself."""
    files = (file for folder in folders for file in folder.rglob("*"))
    kept = (file for file in files if file.is_file() and not file.is_symlink() and "__pycache__" not in file.parts)
    return sum(_taken(file.stat()) for file in kept) / 2**20


def _taken(stat: os.stat_result) -> int:
    """Bytes on disk; a file may be longer than what was written of it."""
    blocks: int | None = getattr(stat, "st_blocks", None)
    return stat.st_size if blocks is None else blocks * 512

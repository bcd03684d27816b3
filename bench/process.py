"""Start, measure and stop processes: first answer, processor time, memory."""

from __future__ import annotations

import math
import os
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx
import psutil


def environment(**added: str) -> dict[str, str]:
    """Make a clean environment: none of the caller's settings, no telemetry, no downloads of models."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    quiet = {"ANONYMIZED_TELEMETRY": "False", "HAYSTACK_TELEMETRY_ENABLED": "False", "DO_NOT_TRACK": "1"}
    offline = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return {**inherited, **quiet, **offline, "TOKENIZERS_PARALLELISM": "false", **added}


def free_port() -> int:
    """Find a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


class Measured:
    """A running process and its children."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log: Path, cwd: Path) -> None:
        self._begun = time.perf_counter()
        self._log = log
        with log.open("ab") as out:
            self._process = psutil.Popen(command, env=env, stdout=out, stderr=out, cwd=cwd, start_new_session=True)

    def wait_for(self, url: str, body: str, seconds: float = 120.0) -> float:
        """Ask until there is an answer; return the seconds since the start. Raises ``SystemExit`` without one."""
        with httpx.Client(timeout=seconds) as client:
            while self._process.poll() is None and time.perf_counter() - self._begun < seconds:
                try:
                    client.post(url, content=body, headers={"content-type": "application/json"}).raise_for_status()
                except httpx.HTTPError:
                    time.sleep(0.02)
                else:
                    return time.perf_counter() - self._begun
        log = self._log.read_text(errors="replace")[-2000:]
        raise SystemExit(f"no answer from {url}; the end of its log:\n{log}")

    def cpu_seconds(self) -> float:
        """Sum the processor time so far, user and system, of the tree, ended children included."""
        return sum(sum(process.cpu_times()[:4]) for process in self._tree())

    def memory_mb(self) -> float:
        """Sum the proportional set size of the tree, in MB of 2**20 bytes; NaN when it has ended."""
        usages = [process.memory_full_info() for process in self._tree()]
        return sum(getattr(usage, "pss", usage.rss) for usage in usages) / 2**20 or math.nan

    def stop(self) -> None:
        """End the process; kill it after ten seconds."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except psutil.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(10)

    def _tree(self) -> list[psutil.Process]:
        return [self._process, *self._process.children(recursive=True)] if self._process.poll() is None else []


def size_mb(*folders: Path) -> float:
    """Sum the disk blocks of the files, without ``__pycache__``, in MB of 2**20 bytes."""
    files = (file for folder in folders for file in folder.rglob("*"))
    regular = (file for file in files if file.is_file() and not file.is_symlink() and "__pycache__" not in file.parts)
    return sum(file.stat().st_blocks * 512 for file in regular) / 2**20

"""``garden serve`` in a process of its own, as an operator sees it: signals, exit status, log."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.support.paths import ROOT


class Service:
    """Started and ready when made; ``address`` is where it serves."""

    def __init__(self, data: Path, folder: Path, **settings: str) -> None:
        environment = {**os.environ, "DATA_DIR": str(data), "PYTHONPATH": str(ROOT), **settings}
        self._log = folder / f"{data.name}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app.cli", "serve", "--port", "0"],
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                cwd=folder,
                text=True,
            )
        self.address = self._greeting()
        until(lambda: self._answers("/health/ready"))

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        """The exit status, once it has ended."""
        return self.process.wait(60)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

    def log(self) -> list[dict[str, Any]]:
        """The lines written so far."""
        return [json.loads(line) for line in self._log.read_text().splitlines() if line.startswith("{")]

    def reported(self, event: str) -> dict[str, Any] | None:
        """The first line of that event, None while there is none."""
        return next((line for line in self.log() if line["event"] == event), None)

    def _greeting(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"ready at (\S+)", line):
                return found[1]
        raise AssertionError(f"it did not start: {self._log.read_text()}")

    def _answers(self, path: str) -> bool:
        try:
            return httpx.get(f"{self.address}{path}", timeout=30).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


def until(holds: Callable[[], Any], seconds: float = 60.0) -> None:
    """Poll until *holds*; fail when it does not come true."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)

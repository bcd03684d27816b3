"""``WORKERS=2``: two processes on one port over the same collection, as an operator sees them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import httpx
import psutil
import pytest

from tests.support.paths import ROOT
from tests.support.process import Service, until
from tests.support.two_facts import QUESTION

Start = Callable[..., Service]


def workers(service: Service) -> set[int]:
    """The process ids of those who serve."""
    serving = set()
    for child in psutil.Process(service.process.pid).children():
        with suppress(psutil.Error):  # one that was killed may not be reaped yet
            if "spawn_main" in " ".join(child.cmdline()):
                serving.add(child.pid)
    return serving


def runs(pid: int) -> bool:
    """Whether that process has not ended; one that was not reaped has."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def answered(service: Service) -> bool:
    """Whether a question over a new connection is answered."""
    try:
        asked = httpx.post(f"{service.address}/query", json={"query": QUESTION}, timeout=60)
    except httpx.HTTPError:
        return False
    return bool(asked.json()["metadata"]["answerSynthesized"])


@pytest.mark.timeout(600)
def test_two_workers_answer_and_a_dead_one_is_replaced(start: Start) -> None:
    """Both answer; one that is killed is replaced, and the other answers meanwhile; SIGTERM ends all with status 0."""
    service = start(WORKERS="2")
    before = workers(service)
    assert len(before) == 2
    assert all(answered(service) for _ in range(8))
    os.kill(min(before), signal.SIGKILL)
    until(lambda: len(workers(service) - {min(before)}) == 2)
    until(lambda: answered(service))
    assert max(before) in workers(service)
    ended: object = service.reported("worker_ended")
    assert ended
    service.signal(signal.SIGTERM)
    assert service.wait() == 0
    assert not [pid for pid in before if runs(pid)]


@pytest.mark.timeout(600)
def test_workers_end_with_their_parent(start: Start) -> None:
    """After a parent is killed, no process holds the port."""
    service = start(WORKERS="2")
    serving = workers(service)
    service.kill()
    until(lambda: not any(runs(pid) for pid in serving))


def test_a_wrong_setting_is_reported_once() -> None:
    """What only a worker finds wrong ends the start with status 2 and one line."""
    environment = {**os.environ, "WORKERS": "2", "EMBEDDING_MODEL": "no-such-model", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "EMBEDDING_MODEL" in done.stderr

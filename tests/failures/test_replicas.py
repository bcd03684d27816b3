"""Replicas are stateless: over one store, one may die without a failed request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.peers.chroma_server import ChromaServer

PLACES = ["quay", "pier", "lock", "weir", "mole", "dock"]
ROUNDS = 5


class Replica:
    """``garden serve`` in a process of its own."""

    def __init__(self, folder: Path, **store: str) -> None:
        settings = {**store, "DATA_DIR": str(folder), "LOG_LEVEL": "ERROR"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--json"],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
        )
        self.url = ""

    def wait(self) -> None:
        """Until it listens, on the port that it says."""
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["address"]
        for _ in range(600):
            assert self.process.poll() is None, "garden serve ended by itself"
            try:
                httpx.get(f"{self.url}/health/live", timeout=2).raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("garden serve did not answer")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


@pytest.fixture(params=["embedded", "chroma"])
def replicas(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[list[Replica]]:
    """Two replicas over one embedded collection, or over one Chroma server."""
    with ExitStack() as held:
        if request.param == "embedded":
            started = [Replica(tmp_path / "data") for _ in range(2)]
        else:
            server = held.enter_context(ChromaServer(tmp_path / "chroma"))
            store = {"VECTOR_STORE": "chroma", "VECTOR_STORE_URL": server.url}
            started = [Replica(tmp_path / f"replica-{n}", **store) for n in range(2)]
        try:
            for replica in started:
                replica.wait()
            yield started
        finally:
            for replica in started:
                replica.kill()


class Balancer:
    """A client that takes the replicas in turn, and the next one where one does not answer."""

    def __init__(self, replicas: list[Replica]) -> None:
        self._urls = [replica.url for replica in replicas]
        self._turns = cycle(range(len(replicas)))
        self.failed_over = 0

    def ask(self, question: str) -> Any:
        first = next(self._turns)
        for url in self._urls[first:] + self._urls[:first]:
            try:
                answer = httpx.post(f"{url}/query", json={"query": question, "includeEvidence": True}, timeout=30)
            except httpx.TransportError:
                self.failed_over += 1
                continue
            assert answer.status_code == httpx.codes.OK, answer.text
            return answer.json()
        raise AssertionError("no replica answered")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_replica_may_die(replicas: list[Replica]) -> None:
    """What one ingests the other answers from; one is killed amid questions and every one is answered rightly."""
    rows = [
        {"document_id": place, "title": f"The {place}", "text": f"The {place} of Larkfield was built in {1800 + n}."}
        for n, place in enumerate(PLACES)
    ]
    stored = httpx.post(
        f"{replicas[0].url}/api/v1/documents",
        params={"name": "places.jsonl"},
        content="\n".join(map(json.dumps, rows)),
        headers={"Content-Type": "application/octet-stream"},
        timeout=60,
    )
    assert stored.json()["added"] == len(PLACES)
    balancer = Balancer(replicas)
    asked = [(f"When was the {place} of Larkfield built?", str(1800 + n)) for n, place in enumerate(PLACES)] * ROUNDS
    through_other = httpx.post(f"{replicas[1].url}/query", json={"query": asked[0][0]}, timeout=30).json()
    assert asked[0][1] in through_other["answer"]
    with ThreadPoolExecutor(4) as pool:
        reported = [pool.submit(balancer.ask, question) for question, _ in asked]
        reported[len(reported) // 3].result()
        replicas[0].kill()
        answers = [report.result() for report in reported]
    assert balancer.failed_over > 0
    for (_, year), answer in zip(asked, answers, strict=True):
        assert answer["metadata"]["outcome"] == "answered"
        assert year in answer["answer"]
    assert httpx.get(f"{replicas[1].url}/health/ready", timeout=10).status_code == httpx.codes.OK

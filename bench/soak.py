"""Mixed load on a real service while its model and its store fail in turn: is anything left behind?

``python -m bench.soak [--minutes N] [--report FILE]``, or ``make soak ARGS='--minutes 30'``. The service is a process
of its own; the model and the store are the peers of ``tests/peers``, over sockets. Measured from outside: memory,
threads, sockets and files, tasks on the event loop, requests in flight. Samples go to ``bench/out``; the exit status is
1 when something grew that should not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import psutil

from bench.corpus import ROOT
from bench.process import environment, free_port
from bench.soak_report import findings, write
from tests.peers import Fault, OllamaPeer
from tests.peers.qdrant_peer import QdrantPeer

GARDEN = (sys.executable, "-m", "app.cli")
CLIENTS = 12
PERIOD = 20.0
"""Seconds from one fault to the next; each lasts a third of that."""

FAULTS: list[tuple[str, Any]] = [
    ("model", Fault("hangup", path="/api/chat")),
    ("store", "refuse"),
    ("model", Fault("drip", path="/api/chat")),
    ("store", Fault("status", 503)),
    ("model", "refuse"),
    ("store", Fault("hangup")),
    ("model", Fault("silence", path="/api/chat")),
    ("store", Fault("silence")),
    ("model", Fault("drop", path="/api/chat")),
    ("store", Fault("garbage")),
]
QUESTIONS = [
    "What are the safety protocols for handling chemicals?",
    "What is Knowledge Garden?",
    "How do nodes communicate in ROS 2?",
    "Who won the chess championship of 1921?",
]


def main() -> None:
    """Run, report, and exit with 1 if something was left behind."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=5.0)
    options.add_argument("--report", type=Path, help="write the table here, as Markdown")
    chosen = options.parse_args()
    found = soak(chosen.minutes * 60)
    (ROOT / "bench" / "out").mkdir(exist_ok=True)
    (ROOT / "bench" / "out" / "soak.json").write_text(json.dumps(found, indent=1))
    command = f"make soak ARGS='--minutes {chosen.minutes:g} --report bench/SOAK.md'"
    sys.exit(write(found, command, chosen.report))


def soak(seconds: float) -> dict[str, Any]:
    """Samples, answers by kind and status, and what was found wrong."""
    with tempfile.TemporaryDirectory(prefix="garden-soak-") as folder, OllamaPeer() as model, QdrantPeer() as store:
        settings = {
            **environment(DATA_DIR=folder, LOG_LEVEL="ERROR"),
            "VECTOR_STORE": "qdrant",
            "QDRANT_URL": store.url,
            "OLLAMA_HOST": model.url,
            "OLLAMA_MODEL": "llama3.2:1b",
            "OLLAMA_TIMEOUT_SECONDS": "2",
            "VECTOR_STORE_TIMEOUT_SECONDS": "1",
        }
        documents = sorted(str(path) for path in (ROOT / "knowledge").glob("*.md"))
        subprocess.run([*GARDEN, "ingest", *documents], env=settings, cwd=ROOT, check=True, capture_output=True)
        port = free_port()
        command = [*GARDEN, "serve", "--port", str(port)]
        process = subprocess.Popen(
            command, env=settings, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            return asyncio.run(_under_load(process, f"http://127.0.0.1:{port}", model, store, seconds))
        finally:
            process.terminate()
            process.wait(60)


async def _under_load(
    process: subprocess.Popen[bytes], base: str, model: OllamaPeer, store: QdrantPeer, seconds: float
) -> dict[str, Any]:
    seen: Counter[str] = Counter()
    samples: list[dict[str, float]] = []
    service = psutil.Process(process.pid)
    async with httpx.AsyncClient(base_url=base, timeout=60) as client:
        await _ready(client)
        until = time.monotonic() + seconds
        begun = time.monotonic()
        faults = asyncio.create_task(_fail_in_turn(model, store, until))
        clients = [asyncio.create_task(_ask(client, base, number, seen, until)) for number in range(CLIENTS)]
        while time.monotonic() < until:
            samples.append({"second": round(time.monotonic() - begun, 1), **_outside(service)})
            await asyncio.sleep(1)
        await asyncio.gather(faults, *clients)
        await asyncio.to_thread(_mend, model, store)
    # Everybody has left; what is kept alive between requests is given up within seconds.
    await asyncio.sleep(12)
    async with httpx.AsyncClient(base_url=base, timeout=60) as client:
        await _ready(client)
        await client.post("/query", json={"query": QUESTIONS[0]})
        await client.post("/api/v1/chat", json={"message": QUESTIONS[0]})
        rest = {"outside": _outside(service), "inside": await _inside(client)}
    found = {"seconds": seconds, "samples": samples, "seen": dict(sorted(seen.items())), "rest": rest}
    return {**found, "wrong": findings(found)}


async def _ask(client: httpx.AsyncClient, base: str, number: int, seen: Counter[str], until: float) -> None:
    """One client, who asks through every door in a random order, and now and then leaves in the middle."""
    chance = random.Random(number)
    while time.monotonic() < until:
        question = chance.choice(QUESTIONS)
        kind = chance.choice(list(KINDS))
        method, path, given = KINDS[kind](question)
        try:
            if chance.random() < 0.1:
                async with httpx.AsyncClient(base_url=base, timeout=chance.uniform(0.01, 0.3)) as hasty:
                    await hasty.request(method, path, **given)
                continue
            answer = await client.request(method, path, **given)
            seen[f"{kind} {answer.status_code}"] += 1
            if answer.status_code >= 400 and kind != "health" and set(answer.json()) != {"error", "message", "details"}:
                seen["a refusal of another shape"] += 1
        except httpx.TimeoutException:
            seen["left"] += 1
        except httpx.HTTPError:
            seen["connection lost"] += 1


KINDS: dict[str, Any] = {
    "query": lambda q: ("POST", "/query", {"json": {"query": q}}),
    "stream": lambda q: ("POST", "/query/stream", {"json": {"query": q}}),
    "invoke": lambda q: ("POST", "/rag/invoke", {"json": {"input": {"query": q}}}),
    "batch": lambda q: ("POST", "/rag/batch", {"json": {"inputs": [{"query": q}] * 3}}),
    "chat": lambda q: ("POST", "/api/v1/chat", {"json": {"message": q}}),
    "search": lambda q: ("GET", "/api/v1/search", {"params": {"q": q}}),
    "invalid": lambda _: ("POST", "/query", {"json": {"query": " "}}),
    "health": lambda _: ("GET", "/health", {}),
    "metrics": lambda _: ("GET", "/metrics", {}),
}


async def _fail_in_turn(model: OllamaPeer, store: QdrantPeer, until: float) -> None:
    place = 0
    while time.monotonic() + PERIOD < until:
        await asyncio.sleep(PERIOD * 2 / 3)
        who, fault = FAULTS[place % len(FAULTS)]
        peer = model if who == "model" else store
        if fault == "refuse":
            await asyncio.to_thread(peer.refuse)
        else:
            peer.fault = fault
        await asyncio.sleep(PERIOD / 3)
        await asyncio.to_thread(_mend, model, store)
        place += 1


def _mend(model: OllamaPeer, store: QdrantPeer) -> None:
    for peer in (model, store):
        peer.fault = None
        peer.requests.clear()
        if peer._server is None:
            peer.listen()


async def _ready(client: httpx.AsyncClient) -> None:
    for _ in range(600):
        try:
            if (await client.get("/health/ready")).status_code == httpx.codes.OK:
                return
        except httpx.HTTPError:
            pass
        await asyncio.sleep(0.1)
    raise SystemExit("the service is not ready")


def _outside(service: psutil.Process) -> dict[str, float]:
    with service.oneshot():
        connections = [c for c in service.net_connections() if c.status == psutil.CONN_ESTABLISHED]
        return {
            "memory_mb": round(service.memory_info().rss / 2**20, 1),
            "threads": service.num_threads(),
            "files": service.num_fds(),
            "connections": len(connections),
            "closing": sum(c.status == psutil.CONN_CLOSE_WAIT for c in service.net_connections()),
        }


async def _inside(client: httpx.AsyncClient) -> dict[str, float]:
    names = ("garden_tasks", "garden_http_requests_in_flight", "garden_questions_in_flight")
    text = (await client.get("/metrics")).text
    return {name: float(line.split()[1]) for line in text.splitlines() for name in names if line.startswith(f"{name} ")}


if __name__ == "__main__":
    main()

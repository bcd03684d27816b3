"""The benchmark's own arithmetic: the client, processor time, the figures and how they are reported."""

from __future__ import annotations

import asyncio
import json
import math
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from bench.compare import figures_of, pooled
from bench.corpus import make_corpus
from bench.load import Outcome, Round, percentile, run_round
from bench.model_peer import Model, answer_from
from bench.process import Measured, environment
from bench.report import tables, write
from bench.services import SERVICES

STATUS = {"busy": "503 Service Unavailable", "broken": "500 Internal Server Error"}


class Server:
    """Answers by what it is asked, and remembers how many it had in hand."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.in_flight = self.most = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                asked = json.loads(await reader.readexactly(length))
                self.asked.append(asked)
                self.in_flight += 1
                self.most = max(self.most, self.in_flight)
                await asyncio.sleep(0.001)
                self.in_flight -= 1
                if asked == "hang up":
                    break
                if asked == "stream":
                    await self._stream(writer)
                    continue
                body = b'"It is so [1]."'
                status = STATUS.get(asked, "200 OK")
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in (b"event: found\n\n", b"event: tok", b"en\n\n", b"[1]"):
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
            await asyncio.sleep(0.002)
        writer.write(b"0\r\n\r\n")


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Server, int]]:
    server = Server()
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    async with listening:
        yield server, listening.sockets[0].getsockname()[1]


def load(port: int, asked: list[str], concurrency: int = 4, *, requests: int, **more: str) -> Round:
    return Round(port, "/", [json.dumps(body) for body in asked], concurrency, 30.0, requests=requests, **more)


def test_percentiles_are_values_that_were_measured() -> None:
    """A percentile is the smallest value that so many percent do not exceed; of nothing there is none."""
    values = [float(value) for value in range(100, 0, -1)]
    assert [percentile(values, percent) for percent in (50, 95, 99, 100)] == [50.0, 95.0, 99.0, 100.0]
    assert percentile([7.0], 99) == 7.0
    assert percentile([1.0, 2.0, 3.0], 50) == 2.0
    assert math.isnan(percentile([], 50))


async def test_the_loop_is_closed() -> None:
    """Never more in flight than asked for, every question once, and every answer counted."""
    async with served() as (server, port):
        found = await run_round(load(port, [f"question {n}" for n in range(40)], requests=40, answered="[1]"))
    assert sorted(server.asked) == sorted(f"question {n}" for n in range(40))
    assert server.most == 4
    assert (len(found.times), found.answered, found.turned_away, found.errors) == (40, 40, 0, 0)


async def test_failures_are_counted_separately_and_stop_no_client() -> None:
    """A refusal, an error and a dropped connection are no answers, and the questions after them are asked."""
    asked = ["busy", "fine", "broken", "hang up", "fine", "fine"]
    async with served() as (_, port):
        found = await run_round(load(port, asked, concurrency=1, requests=6))
    assert (len(found.times), found.turned_away, found.errors, found.asked) == (3, 1, 2, 6)


async def test_the_first_token_is_distinguished_from_what_comes_before_it() -> None:
    """The mark counts even when it comes in two pieces; a stream without it has no first token."""
    async with served() as (_, port):
        marked = await run_round(load(port, ["stream"], requests=1, first="event: token"))
        without = await run_round(load(port, ["stream"], requests=1, first="event: other"))
    assert 0 < marked.firsts[0] < marked.times[0]
    assert without.firsts == []
    assert len(without.times) == 1


def test_processor_time_is_that_of_the_whole_tree(tmp_path: Path) -> None:
    """What is booked is what the process itself says it and its ended child have used."""
    done = tmp_path / "done"
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    program = (
        "import os, pathlib, signal, subprocess, sys\n"
        f"subprocess.run([sys.executable, '-S', '-c', {burn!r}])\n"
        f"pathlib.Path({str(done)!r} + '.part').write_text(str(sum(os.times()[:4])))\n"
        f"os.rename({str(done)!r} + '.part', {str(done)!r})\n"
        "signal.pause()\n"
    )
    process = Measured([sys.executable, "-S", "-c", program], environment(), tmp_path / "log", tmp_path)
    try:
        while not done.exists():
            time.sleep(0.01)
        reported = float(done.read_text())
        assert reported >= 0.15  # four clocks of 10 ms each, every one rounded down
        assert process.cpu_seconds() == pytest.approx(reported, abs=0.1)
        assert process.memory_mb() > 1
    finally:
        process.stop()


def test_figures_are_shared_out_over_all_that_was_asked() -> None:
    """Rates count answers; processor time and model calls count refused questions too; rounds pool their answers."""
    outcome = Outcome(times=[10.0] * 8, answered=6, turned_away=1, errors=1, seconds=2.0)
    one = figures_of(outcome, cpu_seconds=0.5, model_calls=5)
    assert one["answers a second"] == 4.0
    assert one["CPU ms a question"] == 50.0
    assert one["model calls a question"] == 0.5
    assert one["answered"] == 0.75
    slow = figures_of(Outcome(times=[30.0] * 2, seconds=2.0), cpu_seconds=0.4, model_calls=2)
    both = pooled([one, slow])
    assert (both["answers"], both["p50"], both["p95"]) == (10, 10.0, 30.0)
    assert (both["turned away"], both["errors"]) == (1, 1)
    nothing = pooled([figures_of(Outcome(errors=3, seconds=1.0), 0.1, 0)])
    assert math.isnan(nothing["p50"])


def a_result() -> dict[str, object]:
    """Ours, two peers, one load; one peer answered nothing."""

    def service(ms: float, rate: float) -> dict[str, object]:
        times = [] if math.isnan(ms) else [ms]
        one = pooled([figures_of(Outcome(times=times, seconds=1 / rate), cpu_seconds=ms / 1000, model_calls=1)])
        return {"installed, MB": ms, "rounds": [{"model latency, ms": 0, "concurrency": 8, **one}]}

    return {
        "corpus": {"chunks": 12000, "questions": 240},
        "services": {
            "ours": service(10.0, 80.0),
            "quick": service(20.0, 40.0),
            "slow": service(40.0, 160.0),
            "silent": service(math.nan, 1.0),
        },
    }


def test_a_ratio_is_over_the_best_peer() -> None:
    """The best is the least, but for throughput the most; a peer without answers is no best."""
    made = dict(tables(a_result()))
    rows = {row[0]: row[-1] for row in made["model 0 ms, 8 at once"]}
    assert rows["p50"] == "0.50"
    assert rows["answers a second"] == "0.50"


def test_the_report_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON that any reader takes, and Markdown with every table, which is printed too."""
    result = a_result()
    write(result, tables(result), tmp_path, "compare")
    stored = json.loads((tmp_path / "compare.json").read_text(), parse_constant=pytest.fail)
    assert stored["services"]["silent"]["rounds"][0]["p50"] is None
    text = (tmp_path / "compare.md").read_text()
    assert text.strip() == capsys.readouterr().out.strip()
    assert text.count("| ours / best peer |") == 2


def test_each_question_is_in_the_body_of_a_request() -> None:
    """A question stands in the body as JSON, whatever it holds, for every service and its stream."""
    for service in SERVICES:
        for stream in (False, True):
            (body,) = service.requests(['What is "it"?'], stream=stream)
            assert 'What is "it"?' in str(json.loads(body))


def test_the_made_corpus_is_the_same_every_time() -> None:
    """Ids are unique, a second making gives the same, and an invented question's name is in one document only."""
    corpus = make_corpus(600, 80)
    assert corpus == make_corpus(600, 80)
    assert (len(corpus.rows), len(corpus.questions)) == (600, 80)
    assert len({row["chunk_id"] for row in corpus.rows}) == 600
    names = {row["document_id"].removesuffix(".md") for row in corpus.rows[-300:]}
    for question in corpus.questions:
        for name in names.intersection(question.rstrip("?").split()):
            assert {row["document_id"] for row in corpus.rows if name in row["text"].split()} == {f"{name}.md"}


@pytest.mark.parametrize(
    "prompt",
    [
        "Rules: be brief, and use only what is there.\nChunk 1: Home\n<chunk>\nThe door opens at nine. It is red.\n",
        "Answer from the context, nothing else.\nContext: The door opens at nine. It is red.\nQuestion: When?",
    ],
)
def test_the_model_answers_from_the_first_passage(prompt: str) -> None:
    """Its answer is a sentence of the passage with the marker that says so."""
    assert answer_from(prompt) == "The door opens at nine [1]."


async def test_the_model_speaks_ollamas_wire() -> None:
    """In pieces and whole it says the same; what was asked is counted, and the latency is set."""
    model = Model()
    server = await asyncio.start_server(model.handle, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    body = {"model": "m", "messages": [{"role": "user", "content": "Context: The door opens at nine. It is red."}]}
    async with server, httpx.AsyncClient(base_url=base) as client:
        whole = (await client.post("/api/chat", json={**body, "stream": False})).json()
        lines = (await client.post("/api/chat", json=body)).text.splitlines()
        counted = (await client.post("/control", json={"latency_ms": 5})).json()
        assert "version" in (await client.get("/api/version")).json()
    answer = "The door opens at nine [1]."
    assert whole["message"]["content"] == answer
    assert "".join(json.loads(line)["message"]["content"] for line in lines) == answer
    assert json.loads(lines[-1])["done"] is True
    assert counted == {"calls": 2}
    assert model.latency == 0.005

"""The encoder's queue: few threads, questions first and together, and nobody pays for another's failure."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest

from app.providers.embeddings.encoder_queue import QUESTION_RUNS, EncoderQueue, Limit, Role


class Recorder:
    """Stands for the encoder: notes every pass, and holds each one until ``gate`` opens."""

    def __init__(self) -> None:
        self.passes: list[tuple[Role, list[str]]] = []
        self.started, self.gate = threading.Event(), threading.Event()
        self.running = self.most_running = 0
        self.lock = threading.Lock()

    def __call__(self, texts: Sequence[str], role: Role) -> Any:
        with self.lock:
            self.passes.append((role, list(texts)))
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        self.started.set()
        self.gate.wait()
        with self.lock:
            self.running -= 1
        if "bad" in texts:
            raise ValueError("bad")
        return np.array([[float(len(text))] for text in texts], np.float32)


@pytest.fixture
def encoder() -> Recorder:
    return Recorder()


@pytest.fixture
def queue(encoder: Recorder) -> Iterator[EncoderQueue]:
    made = EncoderQueue(encoder, workers=1, limit=Limit(texts=4, characters=100))
    yield made
    encoder.gate.set()
    made.close()


def hold(queue: EncoderQueue, encoder: Recorder) -> None:
    """Occupy the only worker, so that what follows has to wait."""
    queue.submit(["first"], "document")
    encoder.started.wait()


def test_questions_that_wait_share_a_pass_and_go_before_documents(queue: EncoderQueue, encoder: Recorder) -> None:
    """While a pass runs, questions gather up to the limit and overtake the documents that came before them."""
    hold(queue, encoder)
    document = queue.submit(["a document"], "document")
    questions = [queue.submit(["q" * length], "question") for length in range(1, 6)]
    encoder.gate.set()
    assert [result.result()[0, 0] for result in questions] == [1, 2, 3, 4, 5]
    document.result()
    assert encoder.passes[1:] == [
        ("question", ["q", "qq", "qqq", "qqqq"]),
        ("question", ["qqqqq"]),
        ("document", ["a document"]),
    ]


def test_documents_get_their_turn_under_a_steady_load_of_questions(queue: EncoderQueue, encoder: Recorder) -> None:
    """After a set number of question passes in a row one batch of documents goes in between."""
    hold(queue, encoder)
    document = queue.submit(["a document"], "document")
    questions = [queue.submit(["q" * 90], "question") for _ in range(QUESTION_RUNS + 2)]
    encoder.gate.set()
    for result in [document, *questions]:
        result.result()
    roles = [role for role, _ in encoder.passes[1:]]
    assert roles == ["question"] * QUESTION_RUNS + ["document"] + ["question"] * 2


def test_only_the_question_at_fault_fails(queue: EncoderQueue, encoder: Recorder) -> None:
    """A pass that fails is made again for each of its questions alone."""
    hold(queue, encoder)
    good, bad = queue.submit(["good"], "question"), queue.submit(["bad"], "question")
    encoder.gate.set()
    assert good.result()[0, 0] == 4
    with pytest.raises(ValueError, match="bad"):
        bad.result()


def test_a_cancelled_question_is_not_embedded(queue: EncoderQueue, encoder: Recorder) -> None:
    """What was cancelled while it waited costs no pass."""
    hold(queue, encoder)
    given_up, kept = queue.submit(["given up"], "question"), queue.submit(["kept"], "question")
    given_up.cancel()
    encoder.gate.set()
    kept.result()
    assert encoder.passes[1:] == [("question", ["kept"])]


def test_close_cancels_what_waits_and_finishes_what_runs(encoder: Recorder) -> None:
    """At close nobody is left waiting for ever: the running pass ends, the waiting ones are cancelled."""
    queue = EncoderQueue(encoder, workers=1, limit=Limit())
    running = queue.submit(["running"], "question")
    encoder.started.wait()
    waiting = queue.submit(["waiting"], "question")
    closing = threading.Thread(target=queue.close)
    closing.start()
    with pytest.raises(CancelledError):
        waiting.result()
    with pytest.raises(RuntimeError):
        queue.submit(["later than that"], "question")
    encoder.gate.set()
    closing.join()
    assert running.result()[0, 0] == 7
    with pytest.raises(RuntimeError):
        queue.submit(["late"], "question")


async def test_the_loop_itself_may_be_what_a_pass_waits_for(queue: EncoderQueue, encoder: Recorder) -> None:
    """Waiting for a pass leaves the loop free: here only the loop can let the pass end."""
    waiting = asyncio.wrap_future(queue.submit(["question"], "question"))
    await asyncio.sleep(0)
    encoder.gate.set()
    assert (await waiting)[0, 0] == 8


def test_no_more_passes_at_once_than_workers(encoder: Recorder) -> None:
    """Forty callers on two workers: never more than two passes run at the same time."""
    queue = EncoderQueue(encoder, workers=2, limit=Limit(texts=1))
    results = [queue.submit(["question"], "question") for _ in range(40)]
    encoder.gate.set()
    assert all(result.result()[0, 0] == 8 for result in results)
    assert len(encoder.passes) == 40
    assert encoder.most_running <= 2
    queue.close()


def test_batches_hold_texts_of_like_length_within_the_limit() -> None:
    """Every text is in one batch; a batch keeps to both limits, but for a text that is too long by itself."""
    texts = ["x" * length for length in (500, 3, 60, 1, 60, 2, 4, 5)]
    batches = Limit(texts=4, characters=100).batches(texts)
    assert sorted(at for batch in batches for at in batch) == list(range(len(texts)))
    assert [[len(texts[at]) for at in batch] for batch in batches] == [[1, 2, 3, 4], [5, 60], [60], [500]]

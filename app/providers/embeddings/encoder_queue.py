"""Work for the encoder: a few threads, questions first, and questions that wait together run together.

Embedding keeps processors busy, so more threads than processors gain nothing. A caller only leaves its texts and gets a
future; a free worker takes what waits: questions first, as many as one pass may hold, else one batch of documents. So a
long ingest holds a question back by no more than the pass that is already running.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Role = Literal["question", "document"]
Vectors: TypeAlias = "NDArray[np.float32]"

QUESTION_RUNS = 8
"""Passes of questions in a row, at most, while documents wait: so that a busy service still finishes an ingest."""


@dataclass(frozen=True)
class Limit:
    """What one pass through the model may hold: that many texts, that many characters (one text may have more).

    The defaults were chosen by measurement on one processor: eight short texts share a pass at a gain, while more than
    about 2,000 characters (some 450 word pieces) in one pass cost more per text and hold up whoever waits.
    """

    texts: int = 8
    characters: int = 2000

    def batches(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut the texts, ordered by length so that little is padded, into batches; return their positions."""
        batches: list[list[int]] = []
        for at in sorted(range(len(texts)), key=lambda at: len(texts[at])):
            if batches and self.holds([texts[before] for before in batches[-1]], [texts[at]]):
                batches[-1].append(at)
            else:
                batches.append([at])
        return batches

    def holds(self, texts: Sequence[str], more: Sequence[str]) -> bool:
        """Whether ``more`` can join ``texts``."""
        both = [*texts, *more]
        return len(both) <= self.texts and sum(map(len, both)) <= self.characters


@dataclass(frozen=True)
class _Job:
    texts: Sequence[str]
    result: Future[Vectors] = field(default_factory=Future)


class EncoderQueue:
    """Calls ``encode(texts, role)`` on at most ``workers`` threads; the result has one row for each text."""

    def __init__(self, encode: Callable[[Sequence[str], Role], Vectors], workers: int, limit: Limit) -> None:
        self._encode = encode
        self._limit = limit
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="embed")
        self._lock = Lock()
        self._waiting: dict[Role, deque[_Job]] = {"question": deque(), "document": deque()}
        self._question_runs = 0
        self._closed = False

    def submit(self, texts: Sequence[str], role: Role) -> Future[Vectors]:
        """Queue one batch, not larger than the limit. Raises ``RuntimeError`` after ``close``."""
        job = _Job(texts)
        with self._lock:
            if self._closed:
                raise RuntimeError("The encoder has been closed.")
            self._pool.submit(self._serve)
            self._waiting[role].append(job)
        return job.result

    def close(self) -> None:
        """Cancel what waits, let the running passes finish, end the threads. A second call does nothing."""
        with self._lock:
            self._closed = True
            waiting = [job for jobs in self._waiting.values() for job in jobs]
        for job in waiting:
            job.result.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _serve(self) -> None:
        """One turn of a worker. Each job asks for a turn; a job that went along with another leaves its turn empty."""
        role, taken = self._take()
        jobs = [job for job in taken if job.result.set_running_or_notify_cancel()]
        try:
            vectors = self._encode([text for job in jobs for text in job.texts], role) if jobs else None
        except Exception as error:  # noqa: BLE001 - the caller gets it through the future
            if len(jobs) == 1:
                jobs[0].result.set_exception(error)
                return
            vectors = None
        row = 0
        for job in jobs:
            if vectors is None:  # the pass failed: each job alone, so that only the one at fault fails
                self._alone(job, role)
            else:
                job.result.set_result(vectors[row : row + len(job.texts)])
                row += len(job.texts)

    def _alone(self, job: _Job, role: Role) -> None:
        try:
            job.result.set_result(self._encode(job.texts, role))
        except Exception as error:  # noqa: BLE001 - the caller gets it through the future
            job.result.set_exception(error)

    def _take(self) -> tuple[Role, list[_Job]]:
        with self._lock:
            questions, documents = self._waiting["question"], self._waiting["document"]
            if documents and (not questions or self._question_runs >= QUESTION_RUNS):
                self._question_runs = 0
                return "document", [documents.popleft()]
            self._question_runs += 1
            jobs: list[_Job] = []
            texts: list[str] = []
            while questions and (not jobs or self._limit.holds(texts, questions[0].texts)):
                jobs.append(questions.popleft())
                texts += jobs[-1].texts
            return "question", jobs

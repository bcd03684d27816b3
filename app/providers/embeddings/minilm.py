"""The embedded embedding model: all-MiniLM-L6-v2 (or another BERT encoder with mean pooling) on ONNX Runtime.

Texts become unit vectors, so a dot product is their cosine. A text's vector does not depend on the texts it is
embedded with, and what goes past the model's 256 word pieces is not read.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from langchain_core.embeddings import Embeddings

from app.providers.embeddings.minilm_encoder import MiniLMEncoder
from app.providers.embeddings.vectors import length_batches
from app.providers.embeddings.weights import model_name


class MiniLMEmbeddings(Embeddings):
    """Embeds on threads of its own, those of questions apart: an ingest does not hold a question back.

    ``question_precision`` is that of the weights for questions; documents are always embedded with the fp32 weights.
    With ``loaded`` False the weights are read by ``load`` or by the first use.

    Raises ``ConfigurationError`` when ``folder`` holds no model that can be run here.
    """

    def __init__(
        self, folder: Path, *, question_precision: Literal["fp32", "int8"] = "int8", loaded: bool = True
    ) -> None:
        self._encoder = MiniLMEncoder(folder, threads=1)
        self._question_precision = question_precision
        if loaded:
            self.load()
        self._questions = ThreadPoolExecutor(processors(), thread_name_prefix="embed-question")
        self._documents = ThreadPoolExecutor(processors(), thread_name_prefix="embed-document")
        self.dimension = self._encoder.dimension
        self.model_name = model_name(folder)

    def load(self) -> None:
        """Read the weights for questions now. Raises ``ConfigurationError`` when they cannot be run here."""
        self._encoder.load(self._question_precision)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text, in order."""
        batches = length_batches(texts)
        return _in_order(batches, list(self._documents.map(self._batch, _picked(texts, batches))))

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self._questions.submit(self._question, text).result()

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """``embed_documents`` while the event loop goes on. Cancelling it drops the batches that still wait."""
        batches, loop = length_batches(texts), asyncio.get_running_loop()
        work = [loop.run_in_executor(self._documents, self._batch, batch) for batch in _picked(texts, batches)]
        return _in_order(batches, await asyncio.gather(*work))

    async def aembed_query(self, text: str) -> list[float]:
        """``embed_query`` while the event loop goes on."""
        return await asyncio.get_running_loop().run_in_executor(self._questions, self._question, text)

    def close(self) -> None:
        """Finish the running batches, cancel the waiting ones, end the threads, release the weights."""
        for pool in (self._questions, self._documents):
            pool.shutdown(cancel_futures=True)
        self._encoder.close()

    def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        rows: list[list[float]] = self._encoder.encode(texts, "fp32").tolist()
        return rows

    def _question(self, text: str) -> list[float]:
        row: list[float] = self._encoder.encode([text], self._question_precision)[0].tolist()
        return row


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # systems without processor affinity


def _picked(texts: Sequence[str], batches: Sequence[Sequence[int]]) -> list[list[str]]:
    return [[texts[position] for position in batch] for batch in batches]


def _in_order(batches: Sequence[Sequence[int]], rows: Sequence[list[list[float]]]) -> list[list[float]]:
    """Put the rows of all batches back in the order of the texts."""
    found = {at: row for batch, some in zip(batches, rows, strict=True) for at, row in zip(batch, some, strict=True)}
    return [found[position] for position in range(len(found))]

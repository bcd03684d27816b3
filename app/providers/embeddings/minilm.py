"""The embedded embedding model: all-MiniLM-L6-v2 (or another BERT encoder with mean pooling) on ONNX Runtime.

Texts become unit vectors, so a dot product is their cosine. A text's vector does not depend on the texts it is
embedded with, and what goes past the model's 256 word pieces is not read. All work happens on the threads of one
``EncoderQueue``; the methods for an event loop only wait for it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Hashable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Literal

from langchain_core.embeddings import Embeddings

from app.providers.embeddings.encoder_queue import EncoderQueue, Limit, Role, Vectors
from app.providers.embeddings.memory_cache import MemoryCache
from app.providers.embeddings.minilm_encoder import MiniLMEncoder
from app.providers.embeddings.weights import model_name

REMEMBERED_BYTES = 8 << 20
"""For the vectors of questions asked lately: about 4,000 of 384 dimensions. A vector depends on its text alone."""


class MiniLMEmbeddings(Embeddings):
    """LangChain's ``Embeddings``, and the same as arrays: float32 [texts, ``dimension``], each row of length 1.

    ``threads`` is what one pass through the model uses, at most the processors there are. ``max_concurrency`` is how
    many passes may go on at once; by default as many as give every processor one thread. ``question_precision`` is
    that of the weights for questions; documents are always embedded with the fp32 weights as they are. With ``loaded``
    False the weights are read by ``load`` or by the first use.

    Raises ``ConfigurationError`` when ``folder`` holds no model that can be run here.
    """

    def __init__(
        self,
        folder: Path,
        *,
        threads: int = 1,
        question_precision: Literal["fp32", "int8"] = "int8",
        max_concurrency: int | None = None,
        loaded: bool = True,
    ) -> None:
        threads = min(threads, processors())
        self._encoder = MiniLMEncoder(folder, threads)
        self._question_precision = question_precision
        if loaded:
            self.load()
        helpers = (threads - 1) * (1 if question_precision == "fp32" else 2)  # each session has its own
        self._asked: MemoryCache[Vectors] = MemoryCache(REMEMBERED_BYTES, lambda vector: vector.nbytes + 512)
        self._limit = Limit()
        self._queue = EncoderQueue(self._encode, max_concurrency or max(1, processors() - helpers), self._limit)
        self.dimension = self._encoder.dimension
        self.model_name = model_name(folder)

    def load(self) -> None:
        """Read the weights for questions now. Raises ``ConfigurationError`` when they cannot be run here."""
        self._encoder.load(self._question_precision)

    def embed_array(self, texts: Sequence[str]) -> Vectors:
        """Embed documents; waits for the result."""
        batches, futures = self._submit(texts, "document")
        return self._join(batches, [future.result() for future in futures])

    def question_array(self, texts: Sequence[str]) -> Vectors:
        """Embed questions; waits for the result. Those asked lately are remembered."""
        known, new = self._recall(texts)
        batches, futures = self._submit(new, "question")
        return self._remember(texts, known, new, self._join(batches, [future.result() for future in futures]))

    async def aembed_array(self, texts: Sequence[str]) -> Vectors:
        """Embed documents while the event loop goes on. Cancelling it drops the batches that still wait."""
        batches, futures = self._submit(texts, "document")
        return self._join(batches, await asyncio.gather(*map(asyncio.wrap_future, futures)))

    async def aquestion_array(self, texts: Sequence[str]) -> Vectors:
        """Embed questions while the event loop goes on. Those that wait together share a pass."""
        known, new = self._recall(texts)
        if not new and texts:
            return self._together(texts, known)
        batches, futures = self._submit(new, "question")
        rows = await asyncio.gather(*map(asyncio.wrap_future, futures))
        return self._remember(texts, known, new, self._join(batches, rows))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """``embed_array`` as lists."""
        return _rows(self.embed_array(texts))

    def embed_query(self, text: str) -> list[float]:
        """``question_array`` of one question, as a list."""
        return _rows(self.question_array([text]))[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """``aembed_array`` as lists."""
        return _rows(await self.aembed_array(texts))

    async def aembed_query(self, text: str) -> list[float]:
        """``aquestion_array`` of one question, as a list."""
        return _rows(await self.aquestion_array([text]))[0]

    def close(self) -> None:
        """Finish the running passes, cancel the waiting ones, end the threads, let go of the weights."""
        self._queue.close()
        self._encoder.close()

    def _submit(self, texts: Sequence[str], role: Role) -> tuple[list[list[int]], list[Future[Vectors]]]:
        """Queue the texts in batches; return which texts are in each, and each one's future."""
        batches = self._limit.batches(texts)
        return batches, [self._queue.submit([texts[at] for at in batch], role) for batch in batches]

    def _recall(self, texts: Sequence[str]) -> tuple[dict[Hashable, Vectors], list[str]]:
        """The vectors at hand, and the questions that are new, each once."""
        known = self._asked.find(texts)
        return known, [text for text in dict.fromkeys(texts) if text not in known]

    def _remember(
        self, texts: Sequence[str], known: dict[Hashable, Vectors], new: Sequence[str], rows: Vectors
    ) -> Vectors:
        """The vectors of all *texts*, in their order; the new ones are kept for the next time."""
        made: dict[Hashable, Vectors] = {text: row.copy() for text, row in zip(new, rows, strict=True)}
        self._asked.keep(made)
        return self._together(texts, known | made)

    def _together(self, texts: Sequence[str], vectors: dict[Hashable, Vectors]) -> Vectors:
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.concatenate([vectors[text] for text in texts]).reshape(len(texts), -1)  # np.stack is slow for one

    def _encode(self, texts: Sequence[str], role: Role) -> Vectors:
        return self._encoder.encode(texts, self._question_precision if role == "question" else "fp32")

    def _join(self, batches: list[list[int]], vectors: Sequence[Vectors]) -> Vectors:
        """Put the rows of all batches back in the order of the texts."""
        import numpy as np

        joined = np.empty((sum(map(len, batches)), self.dimension), np.float32)
        for batch, rows in zip(batches, vectors, strict=True):
            joined[batch] = rows
        return joined


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # systems without processor affinity


def _rows(vectors: Vectors) -> list[list[float]]:
    rows: list[list[float]] = vectors.tolist()
    return rows

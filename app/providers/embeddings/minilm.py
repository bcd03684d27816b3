"""The embedded embedding model: all-MiniLM-L6-v2 on ONNX Runtime.

Texts become unit vectors, so a dot product is their cosine. A text's vector does not depend on the texts it is
embedded with, and what goes past the model's 256 word pieces is not read.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from langchain_core.embeddings import Embeddings

from app.providers.embeddings.minilm_encoder import MiniLMEncoder
from app.providers.embeddings.minilm_graph import SIZE, Precision
from app.providers.embeddings.vectors import length_batches
from app.providers.embeddings.weights import MODEL_NAME
from app.providers.http.guarded_calls import run_blocking


class MiniLMEmbeddings(Embeddings):
    """Embeds on threads of its own, those of questions apart: an ingest does not hold a question back.

    ``question_precision`` is that of the weights for questions; documents are always embedded with the fp32 weights.
    The weights are read by ``load``, or by the first use.
    """

    model_name = MODEL_NAME
    dimension = SIZE

    def __init__(self, folder: Path, *, question_precision: Precision = "int8") -> None:
        """*folder* is that of ``find_weights``. Raises ``ConfigurationError`` when its tokenizer cannot be read."""
        self._encoder = MiniLMEncoder(folder, threads=1)
        self._question_precision = question_precision
        self._questions = ThreadPoolExecutor(processors(), thread_name_prefix="embed-question")
        self._documents = ThreadPoolExecutor(processors(), thread_name_prefix="embed-document")

    def load(self) -> None:
        """Read the weights for questions now."""
        self._encoder.load(self._question_precision)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text, in order. Cancelling it drops the batches that still wait."""
        loop, batches = asyncio.get_running_loop(), length_batches(texts)
        work = [
            loop.run_in_executor(self._documents, self._encoder.encode, [texts[position] for position in batch], "fp32")
            for batch in batches
        ]
        vectors: list[list[float]] = [[] for _ in texts]
        for batch, rows in zip(batches, await asyncio.gather(*work), strict=True):
            for position, row in zip(batch, rows.tolist(), strict=True):
                vectors[position] = row
        return vectors

    async def aembed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        loop, encode = asyncio.get_running_loop(), self._encoder.encode
        rows = await loop.run_in_executor(self._questions, encode, [text], self._question_precision)
        vector: list[float] = rows[0].tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """``aembed_documents`` for code that blocks."""
        return run_blocking(self.aembed_documents(texts))

    def embed_query(self, text: str) -> list[float]:
        """``aembed_query`` for code that blocks."""
        return run_blocking(self.aembed_query(text))

    def close(self) -> None:
        """Finish the running batches, cancel the waiting ones, end the threads, release the weights."""
        for pool in (self._questions, self._documents):
            pool.shutdown(cancel_futures=True)
        self._encoder.close()


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # systems without processor affinity

"""Run the shipped reader: the sentences of a passage as answers, and the passage as support of a statement.

One pass reads a question, or a statement, and one passage. Questions are read with ``reader.onnx``, statements with
``support.onnx``, whose last training was on statements alone (model card: ``docs/reader.md``; training:
``training/``); tokenizer and word embeddings are those of all-MiniLM-L6-v2.
"""

import asyncio
import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from answering.types import Passage, ReadPassage
from app.providers.embeddings.minilm import find_weights
from app.providers.embeddings.onnx_encoder import open_session, read_tokenizer
from app.providers.embeddings.vectors import valid_unicode
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

WEIGHTS, SUPPORT_WEIGHTS = (Path(__file__).with_name(f"{name}.onnx") for name in ("reader", "support"))
SHA256 = {
    WEIGHTS.name: "9ccb0e1bd34383ce6fcf203b383e06e367fc78a8d0a27f56ed5f27fecfd02531",
    SUPPORT_WEIGHTS.name: "823d4d3fae7bd96aa34afa6a20eec2b7a4d33c0cdb272483a9d56cbf349f942d",
}
"""sha256 of the shipped weights; other bytes under these names stop the start."""
QUESTION_TOKENS, PASSAGE_TOKENS = 96, 224
"""Word pieces of a question, or of a claim with its question (the last), and of a passage: ``training/examples.py``."""
SCALE, BIAS = 0.8, 0.75
"""Platt scaling of the logit of a statement: ``docs/evidence.md``."""
UNREAD = 20.0
"""How far below "no sentence answers" the score is of a sentence that was not read."""


class Logit(IntEnum):
    """The logits of one token: its own score, its sentence's; of the first token those of the whole passage."""

    TOKEN = 0
    SENTENCE = 1
    NULL = 2
    ANSWERABLE = 3
    SUPPORTED = 4


class OnnxReader:
    """Reads passages on ONNX Runtime, one thread each, one per processor at a time.

    Raises ``ConfigurationError`` when the weights of all-MiniLM-L6-v2 are missing or the reader's own are damaged.
    """

    def __init__(self, weights: Path = WEIGHTS, support: Path = SUPPORT_WEIGHTS) -> None:
        """Load the *weights* that read questions, and those that read statements."""
        folder = find_weights()
        self._tokenizer = read_tokenizer(folder)
        self._cls, self._sep = self._tokenizer.encode("").ids
        self._questions, self._statements = (
            _session(path, folder, path.stat().st_mtime_ns) for path in (weights, support)
        )
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="read")

    async def read(self, question: str, passage: Passage) -> ReadPassage:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, question, passage)

    async def support(self, claim: str, passage: Passage) -> float:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._support, claim, passage)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _read(self, question: str, passage: Passage) -> ReadPassage:
        """Score the sentences of *passage*; those past ``PASSAGE_TOKENS`` get the lowest score."""
        ids, ranges = self._encoded(question, passage)
        logits = _logits(self._questions, ids, range(len(ids)))
        null, answerable = float(logits[0, Logit.NULL]), float(logits[0, Logit.ANSWERABLE])
        tokens, sentence = logits[:, Logit.TOKEN], logits[:, Logit.SENTENCE]
        scores = [
            float(sentence[start:end].mean() + tokens[start:end].max()) if end > start else null - UNREAD
            for start, end in ranges
        ]
        return ReadPassage(tuple(scores), null, answerable)

    def _support(self, claim: str, passage: Passage) -> float:
        ids, _ = self._encoded(claim, passage)
        return SCALE * float(_logits(self._statements, ids, [0])[0, Logit.SUPPORTED]) + BIAS

    def _encoded(self, question: str, passage: Passage) -> tuple[list[int], list[tuple[int, int]]]:
        """Encode ``[CLS] question [SEP] title: sentence … [SEP]``; return ids and token ranges of sentences."""
        texts = [question, f"{passage.title}:" if passage.title else "", *passage.sentences]
        encoded = self._tokenizer.encode_batch([*map(valid_unicode, texts)], add_special_tokens=False)
        question_ids, title, *sentences = [encoding.ids for encoding in encoded]
        ids = [self._cls, *question_ids[-QUESTION_TOKENS:], self._sep]
        last = len(ids) + PASSAGE_TOKENS
        ids += title[: PASSAGE_TOKENS // 4]
        ranges = []
        for sentence in sentences:
            start = len(ids)
            ids += sentence[: last - start]
            ranges.append((start, len(ids)))
        return [*ids, self._sep], ranges


@cache
def _session(path: Path, folder: Path, _changed: int) -> "InferenceSession":
    """Open the model at *path*, whose embedding tables are in *folder*: one for all readers, until the file changes."""
    model = path.read_bytes()
    if path.name in SHA256 and hashlib.sha256(model).hexdigest() != SHA256[path.name]:
        raise ConfigurationError(f"{path} is damaged: install knowledge-garden again.")
    return open_session(model, folder)


def _logits(session: "InferenceSession", ids: Sequence[int], kept: Sequence[int]) -> NDArray[np.float32]:
    """Return float32 [kept, 5] for the tokens at *kept*: the columns of ``Logit``."""
    (logits,) = session.run(None, {"input_ids": np.array([ids], np.int32), "kept": np.array(kept, np.int32)})
    read: NDArray[np.float32] = logits[0]
    return read

"""Run the shipped reader: the sentences of a passage as answers, and the passage as support of a statement.

One pass reads a question, or a statement, and one passage. Questions are read with ``reader_weights.npz``, statements
with ``support_weights.npz``, whose last training was on statements alone (model card: ``docs/reader.md``; training:
``training/``); tokenizer and word embeddings are those of all-MiniLM-L6-v2.
"""

import asyncio
import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from answering.types import Passage, ReadPassage
from app.providers.embeddings.minilm import find_weights, open_session, read_tokenizer
from app.providers.embeddings.minilm_graph import MS, EncoderGraph
from app.providers.embeddings.vectors import valid_unicode
from graph.errors import ConfigurationError

WEIGHTS, SUPPORT_WEIGHTS = (Path(__file__).with_name(f"{name}_weights.npz") for name in ("reader", "support"))
SHA256 = {
    WEIGHTS.name: "b5df414b6265cd65511aaf7d1e24525f385cfffadfc62a294b72a3222c080ceb",
    SUPPORT_WEIGHTS.name: "f9224f17924d921d1f4311e2dc4379ee47a61fbedd085d12c58ecad4e7cc2e1a",
}
"""sha256 of the shipped weights; other bytes under these names stop the start."""
QUESTION_TOKENS, PASSAGE_TOKENS = 96, 224
"""Word pieces of a question, or of a claim with its question (the last), and of a passage: ``training/data.py``."""
UNREAD = 20.0
"""How far below "no sentence answers" the score is of a sentence that was not read."""


class OnnxReader:
    """Reads passages on ONNX Runtime, one thread each, one per processor at a time.

    Raises ``ConfigurationError`` when the weights of all-MiniLM-L6-v2 are missing or the reader's own are damaged.
    """

    def __init__(self, weights: Path = WEIGHTS, support: Path = SUPPORT_WEIGHTS) -> None:
        """Load the *weights* that read questions, and those that read statements."""
        folder = find_weights()
        self._tokenizer = read_tokenizer(folder)
        self._cls, self._sep = self._tokenizer.encode("").ids
        self._questions, self._statements = (_Encoder(path, folder) for path in (weights, support))
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="read")

    async def read(self, question: str, passage: Passage) -> ReadPassage:
        """Return the logits of *passage*."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, question, passage)

    async def support(self, claim: str, passage: Passage) -> float:
        """Return the logit that *passage* supports *claim*."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._support, claim, passage)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _read(self, question: str, passage: Passage) -> ReadPassage:
        """Score the sentences of *passage*; those past ``PASSAGE_TOKENS`` get the lowest score."""
        ids, ranges = self._encoded(question, passage)
        token, sentence, whole = self._questions.logits(ids, range(len(ids)))
        null, answerable, _ = whole[0].tolist()
        scores = [
            float(sentence[start:end, 0].mean() + token[start:end, 0].max()) if end > start else null - UNREAD
            for start, end in ranges
        ]
        return ReadPassage(tuple(scores), null, answerable)

    def _support(self, claim: str, passage: Passage) -> float:
        *_, whole = self._statements.logits(self._encoded(claim, passage)[0], [0])
        return float(whole[0, 2])

    def _encoded(self, question: str, passage: Passage) -> tuple[list[int], list[tuple[int, int]]]:
        """Encode ``[CLS] question [SEP] title: sentence … [SEP]``; return ids and token ranges of sentences."""
        texts = [question, f"{passage.title}:" if passage.title else "", *passage.sentences]
        encoded = self._tokenizer.encode_batch([*map(valid_unicode, texts)], add_special_tokens=False)
        question_ids, title, *sentences = [one.ids for one in encoded]
        ids = [self._cls, *question_ids[-QUESTION_TOKENS:], self._sep]
        last = len(ids) + PASSAGE_TOKENS
        ids += title[: PASSAGE_TOKENS // 4]
        ranges = []
        for sentence in sentences:
            start = len(ids)
            ids += sentence[: last - start]
            ranges.append((start, len(ids)))
        return [*ids, self._sep], ranges


class _Encoder:
    """A session with the weights of *path*, and its heads."""

    def __init__(self, path: Path, folder: Path) -> None:
        if path.name in SHA256 and hashlib.sha256(path.read_bytes()).hexdigest() != SHA256[path.name]:
            raise ConfigurationError(f"{path} is damaged: install knowledge-garden again.")
        with np.load(path) as arrays:
            layers: dict[str, NDArray[Any]] = dict(arrays)
        heads = [layers.pop(f"head.{name}") for name in ("token", "sentence", "whole")]
        self._heads = [(head[:, :-1].astype(np.float32), head[:, -1].astype(np.float32)) for head in heads]
        self._session = open_session(ReaderGraph(folder, layers).write(), folder)

    def logits(self, ids: Sequence[int], kept: Sequence[int]) -> list[NDArray[np.float32]]:
        """Return the logits of each head, float32 [kept, logits], for the tokens at *kept*."""
        feed = {"input_ids": np.array([ids], np.int32), "kept": np.array(kept, np.int32)}
        (hidden,) = self._session.run(None, feed)
        return [hidden[0] @ weight.T + bias for weight, bias in self._heads]


class ReaderGraph(EncoderGraph):
    """The model ``input_ids`` int32 [1, tokens] to float32 [1, kept, size], of the tokens at ``kept``, int32 [kept].

    *folder* holds all-MiniLM-L6-v2, whose embedding tables are mapped; *layers* are the shipped arrays by name, 8-bit
    with one scale for each output (``training/export.py``). What is multiplied with them is rounded to 8 bits as well,
    with one scale for the passage, so that a processor's 8-bit instructions do the work.
    """

    inputs: ClassVar[dict[str, list[str]]] = {"input_ids": ["b", "t"], "kept": ["k"]}

    def __init__(self, folder: Path, layers: dict[str, NDArray[np.generic]]) -> None:
        super().__init__(folder, "int8")
        self.layers = layers

    def last(self, hidden: str, at: str) -> str:
        """Write the last block, for the tokens that the heads read."""
        return self.layer(hidden, at, self.node("Gather", [hidden, "kept"], axis=1))

    def linear(self, hidden: str, at: str) -> str:
        """Multiply ``hidden``, rounded to 8 bits, with the 8-bit weight."""
        names = [self.weight(f"{at}.weight.{part}") for part in ("levels", "scales")]
        return self.node(f"{MS}.DynamicQuantizeMatMul", [hidden, *names])

    def weight(self, name: str) -> str:
        """Write one of the reader's arrays into the graph; half precision becomes float32."""
        if name.startswith("embeddings."):
            return super().weight(name)
        array = self.layers[name]
        return self.constant(name, array if array.dtype == np.int8 else array.astype(np.float32))

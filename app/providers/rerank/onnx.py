"""Run a cross-encoder exported to ONNX by Hugging Face: one logit per pair of texts."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import PrivateAttr

from app.providers.embeddings.folder import INPUTS, MAX_TOKENS, onnx_file, read_json
from app.providers.embeddings.onnx_encoder import open_session, read_tokenizer
from app.providers.embeddings.vectors import in_batches
from app.providers.rerank.scores import ScoringReranker, sigmoid
from graph.errors import ConfigurationError


class CrossEncoder:
    """One model folder, loaded. ``logits`` may be called from many threads; each call uses one.

    Raises ``ConfigurationError`` when *folder* holds no cross-encoder with one score that can be run here.
    """

    def __init__(self, folder: Path) -> None:
        file = onnx_file(folder)
        config = read_json(folder / "config.json") | read_json(folder / "tokenizer_config.json")
        limits = [config.get("max_position_embeddings"), config.get("model_max_length"), MAX_TOKENS]
        self._tokenizer = read_tokenizer(folder)
        self._tokenizer.enable_truncation(min(int(limit) for limit in limits if limit))
        self._tokenizer.enable_padding(pad_id=int(config.get("pad_token_id") or 0))
        try:
            self._session = open_session(file)
            self._inputs = [given.name for given in self._session.get_inputs()]
            self._output = next(output.name for output in self._session.get_outputs())
            self.logits("a question", ["a text", "a longer text"])
        except Exception as error:  # ONNX Runtime's own classes share no root
            raise ConfigurationError(
                f"{file} is no cross-encoder that can be run here: it takes a pair of texts and returns one score."
            ) from error

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one logit per text, from one padded pass; at least one text."""
        pairs = self._tokenizer.encode_batch([(question, text) for text in texts])
        fed = {name: np.array([getattr(pair, INPUTS[name]) for pair in pairs], np.int64) for name in self._inputs}
        (scores,) = self._session.run([self._output], fed)
        logits: list[float] = np.asarray(scores, np.float32).reshape(len(texts)).tolist()
        return logits


class OnnxReranker(ScoringReranker):
    """Scores pairs in batches of similar length, one per processor at a time."""

    model: CrossEncoder

    _pool: ThreadPoolExecutor = PrivateAttr(
        default_factory=lambda: ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="rerank")
    )

    async def ascores(self, query: str, texts: Sequence[str]) -> Iterable[tuple[int, float]]:
        """Return the model's scores; cancelling drops the batches that wait."""
        return enumerate(map(sigmoid, await in_batches(self._pool, partial(self.model.logits, query), texts)))

    async def aclose(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

"""Run a cross-encoder exported to ONNX by Hugging Face: it reads two texts together."""

import os
from collections.abc import Container, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr

from app.providers.embeddings.folder import INPUTS, MAX_TOKENS, onnx_file, read_json
from app.providers.embeddings.onnx_encoder import open_session, read_tokenizer
from app.providers.embeddings.vectors import in_batches
from app.providers.rerank.scores import ScoringReranker, sigmoid
from graph.errors import ConfigurationError


class CrossEncoder:
    """One model folder, loaded; its methods may be called from many threads, each call uses one.

    Raises ``ConfigurationError`` when *folder* holds no cross-encoder that can be run here and has one of *classes*
    as the number of its scores.
    """

    def __init__(self, folder: Path, classes: Container[int] = (1,)) -> None:
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
            self.classes = self.scores([("a question", "a text"), ("a question", "a longer text")]).shape[1]
            if self.classes not in classes:
                raise ValueError(f"{self.classes} scores")
        except Exception as error:  # ONNX Runtime's own classes share no root
            raise ConfigurationError(
                f"{file} is no cross-encoder that can be run here: it takes a pair of texts and returns "
                f"{'one score' if classes == (1,) else 'one score, or two or three classes'}."
            ) from error

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return float32 [pairs, classes], from one padded pass; at least one pair."""
        encoded = self._tokenizer.encode_batch([*pairs])
        fed = {name: np.array([getattr(pair, INPUTS[name]) for pair in encoded], np.int64) for name in self._inputs}
        (scores,) = self._session.run([self._output], fed)
        return np.asarray(scores, np.float32).reshape(len(pairs), -1)

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the first score of *question* with each text; at least one text."""
        logits: list[float] = self.scores([(question, text) for text in texts])[:, 0].tolist()
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

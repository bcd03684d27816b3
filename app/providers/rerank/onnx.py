"""Run a cross-encoder exported to ONNX by Hugging Face, which reads two texts together: as reranker or as verifier."""

import asyncio
import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr

from answering.relevance.graders import logistic
from answering.types import Passage
from app.providers.embeddings.folder import OnnxFolder, read_json
from app.providers.embeddings.vectors import in_batches
from app.providers.rerank.scores import ScoringReranker
from graph.errors import ConfigurationError

_ENTAILS = re.compile(r"entail(?:s|ed|ment)?|support(?:s|ed)?|consistent|faithful|yes|true", re.IGNORECASE)
_UNNAMED = re.compile(r"LABEL_\d+")


class CrossEncoder:
    """One model folder, loaded; its methods may be called from many threads, each call uses one.

    Raises ``ConfigurationError`` when *folder* holds no cross-encoder that can be run here and has one of *classes*
    as the number of its scores.
    """

    def __init__(self, folder: Path, classes: Container[int] = (1,)) -> None:
        self._model = OnnxFolder(folder)
        config = read_json(folder / "config.json") | read_json(folder / "tokenizer_config.json")
        self._model.tokenizer.enable_padding(pad_id=int(config.get("pad_token_id") or 0))
        try:
            self._model.open()
            self.classes = self.scores([("a question", "a text"), ("a question", "a longer text")]).shape[1]
            if self.classes not in classes:
                raise ValueError(f"{self.classes} scores")
        except Exception as error:  # ONNX Runtime's own classes share no root
            raise ConfigurationError(
                f"{self._model.file} is no cross-encoder that can be run here: it takes a pair of texts and returns "
                f"{'one score' if classes == (1,) else 'one score, or two or three classes'}."
            ) from error

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return float32 [pairs, classes], from one padded pass; at least one pair."""
        return self._model.run(self._model.tokenizer.encode_batch([*pairs])).reshape(len(pairs), -1)

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
        return enumerate(map(logistic, await in_batches(self._pool, partial(self.model.logits, query), texts)))

    async def aclose(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


class EntailmentReader:
    """Reads a passage (the premise) and a claim (the hypothesis) with MiniCheck, HHEM, DeBERTa-NLI and the like.

    The model in *folder* returns one score, the logit of support, or two or three classes, whose names are ``id2label``
    of config.json. Raises ``ConfigurationError`` when the folder holds no such model.
    """

    def __init__(self, folder: Path) -> None:
        self._model = CrossEncoder(folder, classes=(1, 2, 3))
        names: Mapping[str, str] = read_json(folder / "config.json").get("id2label") or {}
        self._entails = entailing(names, self._model.classes)
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="entail")

    async def support(self, claim: str, passage: Passage) -> float:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._support, claim, passage)

    async def aclose(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _support(self, claim: str, passage: Passage) -> float:
        premise = f"{passage.title}: {' '.join(passage.sentences)}" if passage.title else " ".join(passage.sentences)
        (scores,) = self._model.scores([(premise, claim)])
        others = np.delete(scores, self._entails)
        return float(scores[self._entails] - (np.logaddexp.reduce(others) if others.size else 0.0))


def entailing(names: Mapping[str, str], classes: int) -> int:
    """Return which of *classes* means support, by their *names* (``id2label``: "0", "1", …).

    Of two without names it is the second, as in MiniCheck. Raises ``ConfigurationError`` where the names do not tell.
    """
    if classes == 1:
        return 0
    found = [number for number in range(classes) if _ENTAILS.fullmatch(names.get(str(number), ""))]
    if classes == 2 and not found and all(map(_UNNAMED.fullmatch, names.values())):
        return 1
    if len(found) != 1:
        raise ConfigurationError(f"VERIFIER: id2label of config.json names no class for entailment: {dict(names)}")
    return found[0]

"""Read claims with a cross-encoder for entailment: MiniCheck, HHEM, DeBERTa-NLI and the like, exported to ONNX."""

import asyncio
import os
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from answering.types import Passage
from app.providers.embeddings.folder import read_json
from app.providers.rerank.onnx import CrossEncoder
from graph.errors import ConfigurationError

_ENTAILS = re.compile(r"entail(?:s|ed|ment)?|support(?:s|ed)?|consistent|faithful|yes|true", re.IGNORECASE)
_UNNAMED = re.compile(r"LABEL_\d+")


class EntailmentReader:
    """Reads a passage (the premise) and a claim (the hypothesis) with the model in *folder*.

    It returns one score, the logit of support, or two or three classes, whose names are ``id2label`` of config.json.
    Raises ``ConfigurationError`` when the folder holds no such model.
    """

    def __init__(self, folder: Path) -> None:
        self._model = CrossEncoder(folder, classes=(1, 2, 3))
        names: Mapping[str, str] = read_json(folder / "config.json").get("id2label") or {}
        self._entails = entailing(names, self._model.classes)
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="entail")

    async def support(self, claim: str, passage: Passage) -> float:
        """Return the log-odds that *passage* supports *claim*."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._support, claim, passage)

    def close(self) -> None:
        """End the threads."""
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

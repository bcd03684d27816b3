"""Unit vectors from any LangChain ``Embeddings``, and batches for a model that pads.

Rows are scaled to length 1, so that a dot product is a cosine whatever the model does.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from concurrent.futures import Executor
from itertools import chain
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import ArrayLike, NDArray

S = TypeVar("S", bound=Sized)
T = TypeVar("T")
Vectors = NDArray[np.float32]

BATCH_TEXTS = 8
BATCH_CHARACTERS = 2000
BATCH_TOKENS = 250
"""Of one batch, at most; one text may have more. Larger batches cost more per text (``bench/NOTES.md``)."""
CACHE_SIZE = 2_000
"""Groups of texts whose vectors are remembered; for the sentences of a chunk some 10 KB each."""


async def adocument_vectors(embeddings: Embeddings, texts: Sequence[str]) -> Vectors:
    """Embed texts to be stored, float32 [texts, d], without holding the event loop."""
    return unit(await embeddings.aembed_documents(list(texts))) if texts else np.zeros((0, 0), np.float32)


async def agrouped_vectors(embeddings: Embeddings, groups: Sequence[Sequence[str]]) -> list[Vectors]:
    """Embed groups of texts together; return float32 [texts, d] for each group."""
    rows = await adocument_vectors(embeddings, [text for group in groups for text in group])
    return np.split(rows, np.cumsum([len(group) for group in groups], dtype=int))[:-1]


async def aquestion_vectors(embeddings: Embeddings, texts: Sequence[str]) -> Vectors:
    """Embed questions, float32 [texts, d], without holding the event loop."""
    return unit(await asyncio.gather(*map(embeddings.aembed_query, texts)))


def unit(vectors: ArrayLike | Any) -> Vectors:
    """Scale rows to length 1, float32; a row of zeros stays as it is."""
    rows = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    scaled: Vectors = rows / lengths
    return scaled


async def in_batches(
    threads: Executor, call: Callable[[list[S]], Iterable[T]], texts: Sequence[S], most: int = BATCH_CHARACTERS
) -> list[T]:
    """Return *call*'s result for each text, in order, computed in batches of ``length_batches`` on *threads*.

    Cancelling it drops the batches that still wait.
    """
    loop, batches = asyncio.get_running_loop(), length_batches(texts, most)
    work = [loop.run_in_executor(threads, call, [texts[position] for position in batch]) for batch in batches]
    results = dict(zip(chain(*batches), chain(*await asyncio.gather(*work)), strict=True))
    return [results[position] for position in range(len(texts))]


def length_batches(texts: Sequence[Sized], most: int = BATCH_CHARACTERS) -> list[list[int]]:
    """Cut texts, ordered by length so that little is padded, into batches; return their positions.

    A text is a string or its tokens; *most* is the length of a batch, in characters or in tokens.
    """
    batches: list[list[int]] = []
    length = 0
    for position in sorted(range(len(texts)), key=lambda position: len(texts[position])):
        length += len(texts[position])
        if not batches or len(batches[-1]) == BATCH_TEXTS or length > most:
            batches.append([])
            length = len(texts[position])
        batches[-1].append(position)
    return batches


def valid_unicode(text: str) -> str:
    """Replace unpaired surrogates, which cannot be sent or tokenized, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


class VectorCache:
    """Embeds groups of texts, and remembers the vectors of the latest ``CACHE_SIZE``; safe for threads."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._cache: dict[str, Vectors] = {}
        self._lock = Lock()

    async def find(self, groups: Mapping[str, Sequence[str]], most: int | None = None) -> dict[str, Vectors]:
        """Return float32 [texts, d] by group name; embed at most *most* uncached texts."""
        with self._lock:
            cached = {name: self._cache[name] for name in groups if name in self._cache}
        new: dict[str, Sequence[str]] = {}
        for name, texts in groups.items():
            if name not in cached and (most is None or sum(map(len, new.values())) + len(texts) <= most):
                new[name] = texts
        embedded = dict(zip(new, await agrouped_vectors(self._embeddings, list(new.values())), strict=True))
        with self._lock:
            self._cache |= embedded
            for oldest in list(self._cache)[:-CACHE_SIZE]:
                del self._cache[oldest]
        return cached | embedded

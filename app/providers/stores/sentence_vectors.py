"""The sentence vectors of chunks: from the store, or, for chunks stored without them, embedded when first needed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.embeddings.vectors import Vectors, agrouped_vectors
from app.providers.stores.hybrid import Candidate, HybridStore
from app.providers.stores.layout import sentence_texts
from graph.sentences import Span, sentence_spans

MOST_SENTENCES = 256
"""Most sentences embedded for one question; chunks past that get none, to bound the delay."""
MOST_KNOWN = 2_000
"""Chunks whose vectors are remembered, some 10 KB each."""


class VectorCache:
    """Embeds groups of texts, and remembers the vectors of the latest ``MOST_KNOWN``; safe for threads."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._known: dict[str, Vectors] = {}
        self._lock = Lock()

    async def find(self, groups: Mapping[str, Sequence[str]], most: int | None = None) -> dict[str, Vectors]:
        """Return float32 [texts, d] by the groups' names; of those not known only the first *most* texts."""
        with self._lock:
            found = {name: self._known[name] for name in groups if name in self._known}
        new: dict[str, Sequence[str]] = {}
        for name, texts in groups.items():
            if name not in found and (most is None or sum(map(len, new.values())) + len(texts) <= most):
                new[name] = texts
        made = dict(zip(new, await agrouped_vectors(self._embeddings, list(new.values())), strict=True))
        with self._lock:
            self._known |= made
            for oldest in list(self._known)[:-MOST_KNOWN]:
                del self._known[oldest]
        return found | made


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a chunk: (start, end) in code points, and their unit vectors, float32 [n, d], or None."""

    spans: tuple[Span, ...]
    vectors: NDArray[np.float32] | None


class SentenceVectors:
    """Finds the sentences of candidates of one store."""

    def __init__(self, store: HybridStore, embeddings: Embeddings) -> None:
        self._store = store
        self._embedded = VectorCache(embeddings)

    async def find(self, candidates: Sequence[Candidate]) -> dict[Hashable, Sentences]:
        """Per ``key`` the sentences of each candidate; past ``MOST_SENTENCES`` without vectors."""
        stored = await self._store.asentences(candidates)
        spans = {one.key: one.chunk.spans or sentence_spans(one.chunk.text) for one in candidates}
        rows = {key: found for key, found in stored.items() if len(found) == len(spans[key])}
        missing = [one for one in candidates if one.key not in rows and spans[one.key]]
        texts = {one.chunk.text: sentence_texts(one.chunk.text, spans[one.key]) for one in missing}
        embedded = await self._embedded.find(texts, MOST_SENTENCES) if texts else {}
        return {
            one.key: Sentences(spans[one.key], rows.get(one.key, embedded.get(one.chunk.text))) for one in candidates
        }

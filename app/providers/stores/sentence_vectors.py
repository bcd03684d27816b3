"""The sentence vectors of chunks: from the store, or, for chunks stored without them, embedded when first needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.embeddings.vectors import Vectors, adocument_vectors
from app.providers.stores.hybrid import Candidate, HybridStore
from app.providers.stores.layout import sentence_texts
from graph.sentences import Span, sentence_spans

MOST_SENTENCES = 256
"""Most sentences embedded for one question; chunks past that get none, to bound the delay."""
CACHE_BYTES = 16 << 20


class VectorCache:
    """Keeps the most recently used vectors, at most ``budget`` bytes of them; safe for threads."""

    def __init__(self, budget: int) -> None:
        self._left = budget
        self._known: OrderedDict[Hashable, Vectors] = OrderedDict()
        self._guard = Lock()

    def find(self, keys: Iterable[Hashable]) -> dict[Hashable, Vectors]:
        """Return those of the keys that are known."""
        with self._guard:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
        return found

    def keep(self, values: Mapping[Hashable, Vectors]) -> None:
        """Keep these; forget the least recently used when the budget is spent."""
        with self._guard:
            for key, value in values.items():
                if key not in self._known:
                    self._known[key] = value
                    self._left -= value.nbytes
            while self._left < 0:
                _, old = self._known.popitem(last=False)
                self._left += old.nbytes


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a chunk: (start, end) in code points, and their unit vectors, float32 [n, d], or None."""

    spans: tuple[Span, ...]
    vectors: NDArray[np.float32] | None


class SentenceVectors:
    """Finds the sentences of candidates of one store."""

    def __init__(self, store: HybridStore, embeddings: Embeddings) -> None:
        self._store = store
        self._embeddings = embeddings
        self._embedded = VectorCache(CACHE_BYTES)

    async def find(self, candidates: Sequence[Candidate]) -> dict[Hashable, Sentences]:
        """Per ``key`` the sentences of each candidate; past ``MOST_SENTENCES`` without vectors."""
        stored = await self._store.asentences(candidates)
        spans = {one.key: one.chunk.spans or sentence_spans(one.chunk.text) for one in candidates}
        rows = {key: found for key, found in stored.items() if len(found) == len(spans[key])}
        missing = {one.chunk.text: spans[one.key] for one in candidates if one.key not in rows and spans[one.key]}
        embedded = await self._embed(missing) if missing else {}
        return {
            one.key: Sentences(spans[one.key], rows.get(one.key, embedded.get(one.chunk.text))) for one in candidates
        }

    async def _embed(self, wanted: dict[str, tuple[Span, ...]]) -> dict[Hashable, Vectors]:
        """Sentence vectors by the chunk's text, for as many chunks as the bound allows."""
        known = self._embedded.find(wanted)
        new: dict[str, list[str]] = {}
        left = MOST_SENTENCES
        for text, spans in wanted.items():
            if text not in known and len(spans) <= left:
                new[text] = sentence_texts(text, spans)
                left -= len(spans)
        rows = await adocument_vectors(self._embeddings, [one for sentences in new.values() for one in sentences])
        ends = np.cumsum([len(sentences) for sentences in new.values()], dtype=int).tolist()
        made: dict[Hashable, Vectors] = {
            text: rows[end - len(sentences) : end] for (text, sentences), end in zip(new.items(), ends, strict=True)
        }
        self._embedded.keep(made)
        return known | made

"""The sentence vectors of chunks: from the store, or, of chunks stored without them, embedded when first needed.

A collection that another pipeline filled has none. Ten chunks of it cost about half a second the first time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.embeddings.memory_cache import MemoryCache
from app.providers.embeddings.vectors import Vectors, adocument_vectors
from app.providers.stores.hybrid import Candidate, HybridStore
from app.providers.stores.layout import sentence_texts
from graph.sentences import Span, sentence_spans

MOST_SENTENCES = 256
"""Sentences embedded for one question; chunks past them go without, rather than keep the question waiting."""
REMEMBERED_BYTES = 16 << 20


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
        self._embedded: MemoryCache[Vectors] = MemoryCache(REMEMBERED_BYTES, lambda vectors: vectors.nbytes)

    async def find(self, candidates: Sequence[Candidate]) -> dict[Hashable, Sentences]:
        """Per ``key`` the sentences of each candidate; past ``MOST_SENTENCES`` without vectors."""
        stored = await self._store.asentences(candidates)
        found: dict[Hashable, Sentences] = {}
        for candidate in candidates:
            spans = candidate.chunk.spans or sentence_spans(candidate.chunk.text)
            vectors = stored.get(candidate.key)
            fits = vectors is not None and len(vectors) == len(spans)
            found[candidate.key] = Sentences(spans, vectors if fits else None)
        missing = {
            candidate.chunk.text: found[candidate.key].spans
            for candidate in candidates
            if found[candidate.key].vectors is None and found[candidate.key].spans
        }
        if missing:
            embedded = await self._embed(missing)
            for candidate in candidates:
                if candidate.chunk.text in missing:
                    spans = missing[candidate.chunk.text]
                    found[candidate.key] = Sentences(spans, embedded.get(candidate.chunk.text))
        return found

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

"""A corpus held in memory behind the interface of a hybrid store: the retriever searches it as it would any other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.embeddings.vectors import document_vectors
from app.providers.stores.bm25 import document_weights
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery
from app.providers.stores.layout import indexed_text_of, sentence_texts
from graph.sentences import sentence_spans
from graph.state import Chunk


@dataclass(frozen=True, slots=True)
class MemoryStore:
    """Chunks with their vectors: ``dense`` float32 [chunks, d], ``sentences`` float32 [n_spans, d] per chunk."""

    chunks: tuple[Chunk, ...]
    dense: NDArray[np.float32]
    sparse: tuple[dict[int, float], ...]
    sentences: tuple[NDArray[np.float32], ...]
    frequencies: Counter[int]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], embeddings: Embeddings) -> MemoryStore:
        """Embed *rows* of ``chunk_id, document_id, title, text``, perhaps with ``spans``, ``chapter`` and ``section``.

        Raises `KeyError` when one lacks a field.
        """
        chunks = tuple(map(_chunk, rows))
        indexed = [indexed_text_of(row, row["text"]) for row in rows]
        sparse = tuple(document_weights(text) for text in indexed)
        quoted = [sentence for chunk in chunks for sentence in sentence_texts(chunk.text, chunk.spans)]
        vectors = document_vectors(embeddings, quoted)
        ends = np.cumsum([len(chunk.spans) for chunk in chunks])
        return cls(
            chunks=chunks,
            dense=document_vectors(embeddings, indexed),
            sparse=sparse,
            sentences=tuple(np.split(vectors, ends[:-1])) if len(chunks) else (),
            frequencies=Counter(term for weights in sparse for term in weights),
        )

    async def ahybrid(
        self, queries: Sequence[HybridQuery], limit: int, where: Mapping[str, Any] | None = None
    ) -> HybridHits:
        """See ``HybridStore``; *where* is not supported."""
        terms = {term for query in queries for term in query.terms}
        n = len(self.chunks)
        idf = {t: math.log(1 + (n - self.frequencies[t] + 0.5) / (self.frequencies[t] + 0.5)) for t in terms}
        return HybridHits([self._union(query, limit, idf) for query in queries], idf)

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """See ``HybridStore``."""
        return {one.key: self.sentences[one.key] for one in candidates if isinstance(one.key, int)}

    def _union(self, query: HybridQuery, limit: int, idf: Mapping[int, float]) -> list[Candidate]:
        """The best of both channels."""
        bm25 = np.array([sum(w.get(term, 0.0) * idf[term] for term in query.terms) for w in self.sparse])
        found = [np.argsort(-scores, kind="stable")[:limit] for scores in (self.dense @ query.dense, bm25)]
        return [
            Candidate(at, self.chunks[at], self.dense[at], self.sparse[at])
            for at in sorted({int(i) for channel in found for i in channel})
        ]


def _chunk(row: Mapping[str, Any]) -> Chunk:
    spans = row.get("spans")
    return Chunk(
        row["chunk_id"],
        row["document_id"],
        row["title"],
        row["text"],
        chapter=row.get("chapter"),
        section=row.get("section"),
        spans=sentence_spans(row["text"]) if spans is None else tuple((start, end) for start, end in spans),
    )

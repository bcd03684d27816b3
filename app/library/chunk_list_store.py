"""A list of chunks as a store, searched and measured as stored chunks are.

What is read and embedded is bounded, whatever the size of the texts, since the caller waits for it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from answering.text.sentences import sentence_spans
from answering.types import Chunk
from app.providers.embeddings.vectors import VectorCache, Vectors
from app.providers.stores.filters import Where
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery, document_weights
from app.providers.stores.layout import indexed_text
from app.providers.stores.payloads import chunk_from_payload

READ_CHARS, READ_SENTENCES = 400_000, 4_000
"""Read of all chunks together; each gets an equal share."""
LONGEST_SENTENCE = 2_000
"""Characters after which text without a sentence end is cut."""
CHUNK_CHARS, SENTENCE_CHARS = 10_000, 25_000
"""Embedded of all chunks together, and of the sentences of the nearest: a second or two for one processor."""
MAX_NEAR = 5
"""Chunks nearest to each query whose sentences are embedded."""


class ChunkListStore:
    """``HybridStore`` over the chunks of one ``validate_retrieval`` call."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], embeddings: Embeddings) -> None:
        """*rows* hold ``chunk_id``, ``text`` and perhaps ``metadata``."""
        chars, sentences = READ_CHARS // len(rows), READ_SENTENCES // len(rows)
        self.chunks = [_chunk(row, chars, sentences) for row in rows]
        self._texts = [
            indexed_text(row.get("metadata") or {}, chunk.text[:chars])[: chars + LONGEST_SENTENCE]
            for row, chunk in zip(rows, self.chunks, strict=True)
        ]
        self._cache = VectorCache(embeddings)

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """Return every chunk for every query; ``idf`` is that of these chunks.

        The nearest chunks' sentences are embedded within the limit; others get their chunk's vector.
        """
        most = CHUNK_CHARS // len(self._texts)
        vectors = await self._embedded([text[:most] for text in self._texts])
        sentences = [np.tile(vector, (len(chunk.spans), 1)) for chunk, vector in zip(self.chunks, vectors, strict=True)]
        near = {int(row) for query in queries for row in np.argsort(vectors @ query.dense)[-MAX_NEAR:]}
        for row in near:
            texts = self.chunks[row].sentences
            count = sum(total <= SENTENCE_CHARS // len(near) for total in accumulate(map(len, texts)))
            if count:
                sentences[row][:count] = await self._embedded(texts[:count])
        weights = [document_weights(text) for text in self._texts]
        held = Counter(term for row in weights for term in row)
        terms = {term for query in queries for term in query.terms}
        idf = {term: math.log(1.0 + (len(weights) - held[term] + 0.5) / (held[term] + 0.5)) for term in terms}
        measured = zip(self.chunks, vectors, weights, sentences, strict=True)
        candidates = [Candidate(key, *parts) for key, parts in enumerate(measured)]
        return HybridHits([candidates for _ in queries], idf)

    async def arequire(self, where: Where, *, found: bool) -> None:
        """Do nothing: there is no filter."""

    async def _embedded(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [texts, d]; a second search of the same question embeds nothing again."""
        found = await self._cache.find({text: [text] for text in texts})
        return np.concatenate([found[text] for text in texts])


def _chunk(row: Mapping[str, Any], chars: int, sentences: int) -> Chunk:
    """Make a chunk with its complete text, and sentences up to *chars* and *sentences*."""
    text = row["text"]
    parsed = chunk_from_payload(row["chunk_id"], {"metadata": row.get("metadata") or {}})
    valid = text[:chars].encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair becomes one "?"
    spans = [
        (position, min(end, position + LONGEST_SENTENCE))
        for start, end in sentence_spans(valid)
        for position in range(start, end, LONGEST_SENTENCE)
    ]
    return Chunk(
        chunk_id=row["chunk_id"],
        document_id=parsed.document_id,
        title=parsed.title[:LONGEST_SENTENCE],
        text=text,
        spans=tuple(spans[:sentences]),
    )

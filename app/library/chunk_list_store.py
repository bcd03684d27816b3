"""A list of chunks as a store, so that they are searched and measured as stored ones are.

What is read and embedded is bounded, whatever the size of the texts, since the caller waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from app.providers.embeddings.vectors import Vectors, adocument_vectors
from app.providers.stores.bm25 import dimension, document_weights
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery
from app.providers.stores.layout import indexed_text_of
from app.providers.stores.payloads import chunk_from_payload
from graph.relevance.english import english_idf
from graph.sentences import sentence_spans
from graph.state import Chunk
from graph.terms import document_idf, question_stems, vocabulary, wanted

READ_CHARS, READ_SENTENCES = 400_000, 4_000
"""Read of all chunks together; each gets an equal share."""
LONGEST_SENTENCE = 2_000
"""Characters after which text without a sentence end is cut."""
CHUNK_CHARS, SENTENCE_CHARS = 6_000, 4_000
"""Embedded of all chunks and of all sentences together: about a second for one processor."""
LONGEST_EMBEDDED = 1_500
"""Longest text to embed, in characters; the embedded model reads no more."""


class ChunkListStore:
    """``HybridStore`` over the chunks of one ``validate_retrieval`` call."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], questions: Sequence[str], embeddings: Embeddings) -> None:
        """*rows* hold ``chunk_id``, ``text`` and perhaps ``metadata``; *questions* decide what is embedded."""
        chars, sentences = READ_CHARS // len(rows), READ_SENTENCES // len(rows)
        self.chunks = [_chunk(row, chars, sentences) for row in rows]
        self._texts = [
            indexed_text_of(row.get("metadata") or {}, chunk.text[:chars])[: chars + LONGEST_SENTENCE]
            for row, chunk in zip(rows, self.chunks, strict=True)
        ]
        self._weights = [document_weights(text) for text in self._texts]
        frequencies = Counter(term for weights in self._weights for term in weights)
        stems = {stem for question in questions for stem in question_stems(question)}
        idf = document_idf(len(rows), Counter({stem: frequencies[dimension(stem)] for stem in stems}))
        self._idf = {dimension(stem): idf(stem) for stem in stems}
        self._wanted = [wanted(question, english_idf) for question in questions]
        self._embeddings = embeddings

    async def ahybrid(
        self, queries: Sequence[HybridQuery], limit: int, where: Mapping[str, Any] | None = None
    ) -> HybridHits:
        """Return every chunk for every query; ``idf`` is that of these chunks."""
        lengths = _fair_lengths([min(len(text), LONGEST_EMBEDDED) for text in self._texts], CHUNK_CHARS)
        vectors = await self._embed([text[:length] for text, length in zip(self._texts, lengths, strict=True)])
        found = [Candidate(key, chunk, vectors[key], self._weights[key]) for key, chunk in enumerate(self.chunks)]
        return HybridHits([found for _ in queries], self._idf)

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, Vectors]:
        """Return the vectors of the most promising sentences; the others get that of their chunk."""
        chosen = self._promising(candidates)
        vectors = await self._embed([text for _, _, text in chosen])
        rows: dict[Hashable, Vectors] = {}
        for candidate in candidates:
            assert candidate.dense is not None
            rows[candidate.key] = np.tile(candidate.dense, (len(candidate.chunk.spans), 1))
        for (key, index, _), vector in zip(chosen, vectors, strict=True):
            rows[key][index] = vector
        return rows

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as float32 [texts, d]; equal texts are embedded once."""
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        vectors = await adocument_vectors(self._embeddings, list(distinct))
        return vectors[[distinct[text] for text in texts]]

    def _promising(self, candidates: Sequence[Candidate]) -> list[tuple[Hashable, int, str]]:
        """Choose the sentences that cover most of a sub-question, as many as may be embedded: chunk, index, text."""
        sentences = []
        for candidate in candidates:
            chunk, key = candidate.chunk, candidate.key
            assert isinstance(key, int)
            if len(chunk.spans) == 1 and self._texts[key] == chunk.text:
                continue  # the chunk is one sentence, whose vector is the chunk's
            title = vocabulary(chunk.title)
            for index, (start, end) in enumerate(chunk.spans):
                words = vocabulary(chunk.text[start:end]) | title
                coverage = max(terms.coverage(words) for terms in self._wanted)
                sentences.append((-coverage, index, key, chunk.text[start:end][:LONGEST_EMBEDDED]))
        sentences.sort(key=lambda row: row[:2])
        totals = accumulate(len(text) for *_, text in sentences)
        kept = (row for row, total in zip(sentences, totals, strict=True) if total <= SENTENCE_CHARS)
        return [(key, index, text) for _, index, key, text in kept]


def _chunk(row: Mapping[str, Any], chars: int, sentences: int) -> Chunk:
    """Make a chunk; its text stays complete, its sentences end after so many characters or sentences."""
    text = row["text"]
    known = chunk_from_payload(row["chunk_id"], {"metadata": row.get("metadata") or {}})
    valid = text[:chars].encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair becomes one "?"
    spans = [
        (position, min(end, position + LONGEST_SENTENCE))
        for start, end in sentence_spans(valid)
        for position in range(start, end, LONGEST_SENTENCE)
    ]
    return Chunk(
        chunk_id=row["chunk_id"],
        document_id=known.document_id,
        title=known.title[:LONGEST_SENTENCE],
        text=text,
        spans=tuple(spans[:sentences]),
    )


def _fair_lengths(lengths: Sequence[int], budget: int) -> list[int]:
    """Cut the longest of *lengths* alike, so that their sum is at most *budget*."""
    fair = list(lengths)
    for number, row in enumerate(sorted(range(len(lengths)), key=lambda row: lengths[row])):
        fair[row] = min(lengths[row], budget // (len(lengths) - number))
        budget -= fair[row]
    return fair

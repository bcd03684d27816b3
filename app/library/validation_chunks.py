"""Chunks that a caller hands over, as a store: so that they are searched and measured as stored ones are.

Nothing is kept. What is read and embedded is bounded, whatever the size of the texts, for the caller waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
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
from graph.sentences import Span, sentence_spans
from graph.state import Chunk
from graph.terms import document_idf, question_stems, vocabulary, wanted

READ_CHARS, READ_SENTENCES = 400_000, 4_000
"""What is read of all chunks together; each has an equal share."""
LONGEST_SENTENCE = 2_000
"""Characters after which a run without an end is cut."""
CHUNK_CHARS, SENTENCE_CHARS = 6_000, 4_000
"""What is embedded of all chunks and of all sentences together: about a second for one processor."""
LONGEST_EMBEDDED = 1_500
"""Characters of one text to embed; the embedded model reads no more of it anyway."""


class GivenChunks:
    """``HybridStore`` over chunks as door V gets them: ``chunk_id``, ``text`` and perhaps ``metadata``."""

    def __init__(self, given: Sequence[Mapping[str, Any]], parts: Sequence[str], embeddings: Embeddings) -> None:
        """*parts* are the questions that will be asked: they decide which sentences are worth embedding."""
        chars, sentences = READ_CHARS // len(given), READ_SENTENCES // len(given)
        self.chunks = [_chunk(one, chars, sentences) for one in given]
        self._read = [
            indexed_text_of(_own_names(one), chunk.text[:chars]) for one, chunk in zip(given, self.chunks, strict=True)
        ]
        self._weights = [document_weights(text) for text in self._read]
        held = Counter(term for weights in self._weights for term in weights)
        stems = {stem for part in parts for stem in question_stems(part)}
        idf = document_idf(len(given), Counter({stem: held[dimension(stem)] for stem in stems}))
        self._terms = {dimension(stem): idf(stem) for stem in stems}
        self._wanted = [wanted(part, english_idf) for part in parts]
        self._embeddings = embeddings

    async def ahybrid(
        self, queries: Sequence[HybridQuery], limit: int, where: Mapping[str, Any] | None = None
    ) -> HybridHits:
        """Every chunk, for every query; ``idf`` is that of the chunks at hand."""
        shares = _shares([min(len(text), LONGEST_EMBEDDED) for text in self._read], CHUNK_CHARS)
        beginnings = [text[:share] for text, share in zip(self._read, shares, strict=True)]
        vectors = await self._embed(beginnings)
        found = [Candidate(key, chunk, vectors[key], self._weights[key]) for key, chunk in enumerate(self.chunks)]
        return HybridHits([found for _ in queries], self._terms)

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, Vectors]:
        """Vectors of the most promising sentences; of the others, that of their chunk stands in."""
        chosen = self._promising(candidates)
        vectors = await self._embed([one.text for one in chosen])
        rows: dict[Hashable, Vectors] = {}
        for candidate in candidates:
            assert candidate.dense is not None
            rows[candidate.key] = np.tile(candidate.dense, (len(candidate.chunk.spans), 1))
        for one, vector in zip(chosen, vectors, strict=True):
            rows[one.key][one.place] = vector
        return rows

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        """float32 [texts, d]; a text that comes twice is embedded once."""
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        vectors = await adocument_vectors(self._embeddings, list(distinct))
        return vectors[[distinct[text] for text in texts]]

    def _promising(self, candidates: Sequence[Candidate]) -> list[_Sentence]:
        """The sentences that cover most of the question, as many as may be embedded."""
        sentences = []
        for candidate in candidates:
            chunk, key = candidate.chunk, candidate.key
            assert isinstance(key, int)
            title = vocabulary(chunk.title)
            if len(chunk.spans) == 1 and self._read[key] == chunk.text:
                continue  # the chunk is that sentence, and its vector the sentence's
            for place, (start, end) in enumerate(chunk.spans):
                near = vocabulary(chunk.text[start:end]) | title
                worth = max(one.coverage(near) for one in self._wanted)
                sentences.append(_Sentence(worth, key, place, chunk.text[start:end][:LONGEST_EMBEDDED]))
        sentences.sort(key=lambda one: (-one.worth, one.place))
        spent = accumulate(len(one.text) for one in sentences)
        return [one for one, total in zip(sentences, spent, strict=True) if total <= SENTENCE_CHARS]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that may be embedded, the ``place``-th of the chunk ``key``."""

    worth: float
    key: Hashable
    place: int
    text: str


def _chunk(given: Mapping[str, Any], chars: int, sentences: int) -> Chunk:
    """One chunk, read up to so many characters and sentences; its text stays whole, as offsets are in it."""
    text = given["text"]
    read = chunk_from_payload(given["chunk_id"], {"metadata": given.get("metadata") or {}})
    # The segmenter takes no half of a surrogate pair; a question mark of the same length keeps the offsets.
    whole = text[:chars].encode("utf-8", "replace").decode("utf-8")
    spans = [part for span in sentence_spans(whole) for part in _cut(span)]
    return Chunk(
        chunk_id=given["chunk_id"],
        document_id=read.document_id,
        title=read.title[:LONGEST_SENTENCE],
        text=text,
        spans=tuple(spans[:sentences]),
    )


def _own_names(given: Mapping[str, Any]) -> dict[str, str]:
    """The metadata that is embedded with a text; unlike the title that is read, nothing else stands in for it."""
    metadata = given.get("metadata") or {}
    names = {name: metadata.get(name) for name in ("title", "chapter", "section")}
    return {name: value[:LONGEST_SENTENCE] for name, value in names.items() if isinstance(value, str)}


def _cut(span: Span) -> list[Span]:
    start, end = span
    return [(at, min(end, at + LONGEST_SENTENCE)) for at in range(start, end, LONGEST_SENTENCE)]


def _shares(lengths: Sequence[int], budget: int) -> list[int]:
    """How much of each of *lengths* fits the budget: the short ones whole, the long ones cut alike."""
    shares = list(lengths)
    left = budget
    for number, place in enumerate(sorted(range(len(lengths)), key=lambda place: lengths[place])):
        shares[place] = min(lengths[place], left // (len(lengths) - number))
        left -= shares[place]
    return shares

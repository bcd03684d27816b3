"""Sentence vectors for chunks that were stored without them: embedded when first needed, then remembered.

A collection that another pipeline filled has none. Ten chunks cost about half a second the first time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from langchain_core.embeddings import Embeddings

from app.providers.candidate_cache import CandidateCache
from app.providers.hybrid import Candidate
from app.providers.layout import sentence_texts
from app.providers.vectors import adocument_vectors
from graph.sentences import sentence_spans

MOST_SENTENCES = 256
"""Sentences embedded for one question; chunks past them go without, rather than keep the question waiting."""


class SentenceVectors:
    """Completes candidates with the spans and vectors of their sentences."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._cache = CandidateCache()

    async def complete(self, candidates: Iterable[Candidate]) -> dict[str, Candidate]:
        """The candidates by chunk id, each with ``spans`` and one row of ``sentences`` per span.

        Those that have both are returned as they are; past ``MOST_SENTENCES``, ``sentences`` is None.
        """
        complete: dict[str, Candidate] = {}
        missing: list[Candidate] = []
        for candidate in candidates:
            chunk = candidate.chunk
            if not chunk.spans:
                candidate = replace(candidate, chunk=replace(chunk, spans=sentence_spans(chunk.text)))
            rows = 0 if candidate.sentences is None else len(candidate.sentences)
            complete[chunk.chunk_id] = candidate
            if rows != len(candidate.chunk.spans):
                missing.append(candidate)
        complete.update(await self._embedded(missing))
        return complete

    async def _embedded(self, candidates: list[Candidate]) -> dict[str, Candidate]:
        known = self._cache.find(candidate.chunk.text for candidate in candidates)
        done: dict[str, Candidate] = {}
        texts: list[str] = []
        new: list[Candidate] = []
        for candidate in candidates:
            chunk = candidate.chunk
            sentences = sentence_texts(chunk.text, chunk.spans)
            done[chunk.chunk_id] = replace(candidate, sentences=None)
            if cached := known.get(chunk.text):
                done[chunk.chunk_id] = replace(candidate, sentences=cached.sentences)
            elif len(texts) + len(sentences) <= MOST_SENTENCES:
                texts.extend(sentences)
                new.append(candidate)
        vectors = await adocument_vectors(self._embeddings, texts)
        at = 0
        for candidate in new:
            rows = vectors[at : at + len(candidate.chunk.spans)]
            at += len(rows)
            done[candidate.chunk.chunk_id] = replace(candidate, sentences=rows)
        self._cache.keep({one.chunk.text: done[one.chunk.chunk_id] for one in new})
        return done

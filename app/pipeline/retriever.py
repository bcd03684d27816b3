"""Hybrid retrieval: the port ``Retriever`` over any store that can be searched in both channels.

The dense and the BM25 channel are searched at once; the union is measured in both and ordered by their weighted sum,
BM25 being divided by the most the question could reach, ``(k1 + 1) * sum(idf)``. That is an absolute score in [0, 1],
and orders better than a fusion of ranks does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.pipeline.admission import Admission
from app.providers.embeddings.vectors import Vectors, aquestion_vectors
from app.providers.stores.bm25 import dimension, highest
from app.providers.stores.hybrid import SIMILARITY_SHARE, Candidate, HybridQuery, HybridStore
from app.providers.stores.sentence_vectors import Sentences, SentenceVectors
from graph.errors import EmbeddingUnavailable, StoreUnavailable
from graph.ports import Retrieved
from graph.state import Chunk, Question, SubqueryResults
from graph.terms import question_stems

POOL = 10
"""Candidates of a reading; more when more sources are asked for."""
CHANNEL_POOL = 50
"""Candidates that each channel brings, of which the best ``POOL`` are kept."""
TWINS = 0.9
"""Cosine of two chunks above which they say the same."""


class _Measured(NamedTuple):
    """A candidate, its cosine and its BM25 over the highest the question could reach."""

    candidate: Candidate
    similarity: float
    keyword: float


class HybridRetriever:
    """Finds and measures the candidates for each part of a question."""

    def __init__(self, store: HybridStore, embeddings: Embeddings, pool: int = POOL) -> None:
        self._store = store
        self._embeddings = embeddings
        self._pool = pool
        self._sentences = SentenceVectors(store, embeddings)
        self._turns = Admission()

    async def retrieve(self, question: Question) -> Retrieved:
        """See ``graph.ports.Retriever``. What does not come before the deadline counts as unavailable."""
        pool = max(self._pool, question.max_sources)
        where = {"source": question.source} if question.source else None
        vectors: Vectors | None = None
        try:
            async with asyncio.timeout(question.deadline - time.monotonic()):
                vectors = await aquestion_vectors(self._embeddings, question.sub_questions)
                await self._turns.turn()
                queries = [
                    HybridQuery(vector, tuple([dimension(stem) for stem in question_stems(part)]), pool)
                    for vector, part in zip(vectors, question.sub_questions, strict=True)
                ]
                hits = await self._store.ahybrid(queries, max(pool, CHANNEL_POOL), where)
                best = [_best(*one, hits.idf)[:pool] for one in zip(queries, hits.candidates, strict=True)]
                found = {one.candidate.key: one.candidate for row in best for one in row}
                sentences = await self._sentences.find(list(found.values()))
        except TimeoutError as error:
            if vectors is None:
                raise EmbeddingUnavailable("The question could not be embedded in time.") from error
            raise StoreUnavailable("The search for chunks did not end in time.") from error
        subquery_results = [
            SubqueryResults(part, _chunks(query, row, sentences))
            for part, query, row in zip(question.sub_questions, queries, best, strict=True)
        ]
        return Retrieved(tuple(subquery_results))


def _best(query: HybridQuery, candidates: Sequence[Candidate], idf: Mapping[int, float]) -> list[_Measured]:
    """The candidates measured against the query, best first."""
    most = highest(query.terms, idf)
    cosines = _cosines(query, candidates)
    measured = [
        _Measured(one, cosine, _bm25(one, query.terms, idf) / most if most else 0.0)
        for one, cosine in zip(candidates, cosines, strict=True)
    ]
    return sorted(measured, key=lambda one: (-_fused(one), one.candidate.chunk.chunk_id))


def _fused(one: _Measured) -> float:
    return SIMILARITY_SHARE * one.similarity + (1 - SIMILARITY_SHARE) * one.keyword


def _cosines(query: HybridQuery, candidates: Sequence[Candidate]) -> list[float]:
    """Of each candidate's vector, or what the store said where it gave none."""
    rows = [one.dense for one in candidates]
    if rows and not any(row is None for row in rows):
        cosines = np.minimum(_stacked(rows) @ query.dense, 1.0)  # type: ignore[arg-type]  # none is None
        found: list[float] = cosines.tolist()  # not above 1 by what a stored vector is too long
        return found
    return [one.chunk.similarity if one.dense is None else float(one.dense @ query.dense) for one in candidates]


def _stacked(rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """As ``np.stack``, without its checks, which take longer than the copying of a few rows."""
    return np.concatenate(rows).reshape(len(rows), -1)


def _bm25(candidate: Candidate, terms: Sequence[int], idf: Mapping[int, float]) -> float:
    """BM25 of the candidate's stored weights; 0 without them."""
    weights = candidate.sparse or {}
    return sum([weights[term] * idf[term] for term in terms if term in weights])


def _chunks(
    query: HybridQuery, best: Sequence[_Measured], sentences: Mapping[Hashable, Sentences]
) -> tuple[Chunk, ...]:
    """The chunks of one reading, in that order, with everything measured set."""
    near_duplicates = _twins([one.candidate for one in best])
    chunks = []
    for one in best:
        chunk, found = one.candidate.chunk, sentences[one.candidate.key]
        if found.vectors is None:  # the chunk's own cosine stands in for those of its sentences
            cosines = [one.similarity] * len(found.spans)
        else:
            cosines = np.minimum(found.vectors @ query.dense, 1.0).tolist()
        measured = replace(
            chunk,
            similarity=one.similarity,
            keyword=one.keyword,
            spans=found.spans,
            span_similarities=tuple(cosines),
            near_duplicates=near_duplicates.get(chunk.chunk_id, ()),
        )
        chunks.append(measured)
    return tuple(chunks)


def _twins(candidates: Sequence[Candidate]) -> dict[str, tuple[str, ...]]:
    """Per chunk id the other chunks whose vectors are nearly its own."""
    known = [(one.chunk.chunk_id, one.dense) for one in candidates if one.dense is not None]
    if len(known) < 2:
        return {}
    rows = _stacked([vector for _, vector in known])
    near = rows @ rows.T > TWINS
    alike: dict[str, tuple[str, ...]] = {}
    if np.count_nonzero(near) <= np.count_nonzero(near.diagonal()):  # mostly: each is near itself alone
        return alike
    for at, other in np.argwhere(near).tolist():
        if at != other:
            alike[known[at][0]] = (*alike.get(known[at][0], ()), known[other][0])
    return alike

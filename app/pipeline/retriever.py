"""Hybrid retrieval: the port ``Retriever`` over any store that can be searched in both channels.

The dense and the BM25 channel are searched at once; the union is ordered by the weighted sum of both, BM25 divided by
its upper bound ``(k1 + 1) * sum(idf)``: an absolute score in [0, 1], which orders better than a fusion of ranks. The
best are measured by their sentences too.
"""

import asyncio
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from langchain_core.embeddings import Embeddings

from answering.questions.acronyms import ACRONYM, in_full
from answering.questions.sections import ASKS_SECTION, asked_section, document_with, sentences_of_section
from answering.questions.spelling import corrected
from answering.relevance.alternatives import compared
from answering.relevance.counted_rows import ASKS_COUNT
from answering.relevance.features import promise
from answering.relevance.later import with_later
from answering.relevance.listed_rows import ROWS_ASKED
from answering.text.sentences import Span, sentence_spans
from answering.text.terms import question_stems, rare_words
from answering.types import Chunk, FoundSentences, Question, SubqueryResults
from app.providers.embeddings.vectors import VectorCache, Vectors, aquestion_vectors
from app.providers.stores.filters import Where
from app.providers.stores.hybrid import SIMILARITY_SHARE, Candidate, HybridQuery, HybridStore, dimension, highest
from graph.errors import EmbeddingUnavailable, StoreUnavailable

POOL = 10  # candidates of a sub-question; more when more sources are asked for
CHANNEL_POOL = 50  # candidates that each channel brings
WIDER = 2
"""How many times ``POOL`` of them, the best by both channels, are measured by their sentences; the most promising are
kept. So the right chunk is among ten for 12 of 609 questions more (``docs/relevance.md``)."""
NEAR_DUPLICATE = 0.9
"""Cosine of two chunks above which they say the same."""
MAX_ALIKE = 3
"""Candidates of a sub-question that may say the same: a log of each day would else fill the list."""
MAX_WHOLE = 100  # chunks of the longest document that is seen whole: its rows are counted, or a section is looked up
MAX_SENTENCES = 256
"""Most sentences embedded for one question; chunks past that get none, to bound the delay."""
Searched = tuple[str, HybridQuery, list[Candidate]]
"""A question, its query, and its best candidates."""
Sentences = tuple[tuple[Span, ...], Vectors | None]
"""The sentences of a chunk: (start, end) in code points, and their unit vectors, float32 [n, d], or None."""


class HybridRetriever:
    """Finds and measures the candidates for each part of a question."""

    def __init__(self, store: HybridStore, embeddings: Embeddings, pool: int = POOL) -> None:
        self._store = store
        self._embeddings = embeddings
        self._pool = pool
        self._embedded = VectorCache(embeddings)

    async def retrieve(self, question: Question) -> tuple[SubqueryResults, ...]:
        """See ``graph.ports.Retriever``. What does not come before the deadline counts as unavailable."""
        pool = max(self._pool, question.max_sources)
        texts = (*question.sub_questions, question.text) if question.background else question.sub_questions
        vectors: Vectors | None = None
        try:
            async with asyncio.timeout(question.deadline - time.monotonic()):
                vectors = await aquestion_vectors(self._embeddings, texts)
                searched = await self._search(question, texts, vectors, pool)
                asked = tuple(_as_spelled(text, found) for text, _, found in searched)
                if asked != texts:
                    vectors = await aquestion_vectors(self._embeddings, asked)
                    searched = await self._search(question, asked, vectors, pool)
                if question.background:
                    searched = _nearer(searched)
                unique = {hit.key: hit for _, _, row in searched for hit in row}
                sentences = await self._sentences(list(unique.values()))
                by_place = [await self._by_place(question, *found) for found in searched]
        except TimeoutError as error:
            if vectors is None:
                raise EmbeddingUnavailable("The question could not be embedded in time.") from error
            raise StoreUnavailable("The search for chunks did not end in time.") from error
        return tuple(
            SubqueryResults(part, compared(part, _chunks(query, row, sentences, pool)), *found)
            for (part, query, row), found in zip(searched, by_place, strict=True)
        )

    async def _search(self, question: Question, texts: Sequence[str], vectors: Vectors, pool: int) -> list[Searched]:
        """Return each of *texts* with the best of both channels: ``WIDER`` times *pool*, fewer where many are alike."""
        most = WIDER * pool
        queries = [
            HybridQuery(vector, tuple(dimension(stem) for stem in question_stems(text)), MAX_ALIKE * pool)
            for vector, text in zip(vectors, texts, strict=True)
        ]
        hits = await self._store.ahybrid(queries, max(most, CHANNEL_POOL), question.where)
        if question.where:
            await self._store.arequire(question.where, found=any(hits.candidates))
        best = [_distinct(_best(*row, hits.idf), most) for row in zip(queries, hits.candidates, strict=True)]
        return list(zip(texts, queries, best, strict=True))

    async def _by_place(
        self, question: Question, part: str, query: HybridQuery, found: Sequence[Candidate]
    ) -> tuple[tuple[FoundSentences, ...], tuple[FoundSentences, ...]]:
        """Return the rows that *part* of *question* counts; and those, or the section, that it asks for.

        Rows are of the one document that was found with some: none where several have such rows, or where they are of
        more chunks than an answer may cite.
        """
        for asks, has_some, find in ROWS_ASKED:
            if not asks.search(part):
                continue
            tables = {hit.chunk.document_id for hit in found if has_some(part, _with_spans(hit.chunk))}
            where = {**(question.where or {}), "document_id": min(tables, default="")}
            chunks = await self._nearest(query, MAX_WHOLE + 1, where) if len(tables) == 1 else []
            rows = find(part, chunks) if len(chunks) <= MAX_WHOLE else ()
            if 0 < len(rows) <= question.max_sources:
                return (rows, ()) if asks is ASKS_COUNT else ((), rows)
        return (), await self._section(question, part, query)

    async def _section(self, question: Question, part: str, query: HybridQuery) -> tuple[FoundSentences, ...]:
        """Return the section that *part* of *question* asks for by its number, if just one document has it."""
        asked = asked_section(part) if ASKS_SECTION.search(part) else None
        if not asked:
            return ()
        document = document_with(asked, await self._nearest(query, CHANNEL_POOL, question.where))
        if not document:
            return ()
        where = {**(question.where or {}), "document_id": document}
        chunks = await self._nearest(query, MAX_WHOLE, where)
        return sentences_of_section(asked, chunks)[: question.max_sources]

    async def _nearest(self, query: HybridQuery, most: int, where: Where) -> list[Chunk]:
        """Return the chunks that are nearest to *query*, of each channel *most*."""
        hits = await self._store.ahybrid([replace(query, keep=None)], most, where)
        return [_with_spans(hit.chunk) for hit in hits.candidates[0]]

    async def _sentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, Sentences]:
        """Return the sentences by ``key``, embedding those stored without vectors."""
        stored = {hit.key: hit.sentences for hit in candidates if hit.sentences is not None}
        spans = {hit.key: hit.chunk.spans or sentence_spans(hit.chunk.text) for hit in candidates}
        rows = {key: vectors for key, vectors in stored.items() if len(vectors) == len(spans[key])}
        missing = [hit for hit in candidates if hit.key not in rows and spans[hit.key]]
        texts = {hit.chunk.text: [hit.chunk.text[start:end] for start, end in spans[hit.key]] for hit in missing}
        embedded = await self._embedded.find(texts, MAX_SENTENCES) if texts else {}
        return {hit.key: (spans[hit.key], rows.get(hit.key, embedded.get(hit.chunk.text))) for hit in candidates}


def _as_spelled(text: str, found: Sequence[Candidate]) -> str:
    """Return *text* with misspelled words as *found* spell them, and with acronyms in full."""
    texts = [f"{hit.chunk.headings}\n{hit.chunk.text}" for hit in found]
    text = in_full(text, texts) if ACRONYM.search(text) else text
    return corrected(text, texts) if rare_words(text) else text


def _best(query: HybridQuery, candidates: Sequence[Candidate], idf: Mapping[int, float]) -> list[Candidate]:
    """Return the query's best candidates, measured; without a stored vector the store's own cosine counts."""
    most = highest(query.terms, idf)
    measured = []
    for hit in candidates:
        # not above 1 by what a stored vector is too long
        cosine = hit.chunk.similarity if hit.dense is None else min(float(hit.dense @ query.dense), 1.0)
        weights = hit.sparse or {}
        bm25 = sum(weights[term] * idf[term] for term in query.terms if term in weights)
        keyword = bm25 / most if most else 0.0
        measured.append(hit._replace(chunk=replace(hit.chunk, similarity=cosine, keyword=keyword)))
    return sorted(measured, key=lambda hit: (-_fused(hit.chunk), hit.chunk.chunk_id))[: query.keep]


def _fused(chunk: Chunk) -> float:
    return SIMILARITY_SHARE * chunk.similarity + (1 - SIMILARITY_SHARE) * chunk.keyword


def _distinct(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Keep the best *most* of *candidates*, of those alike no more than ``MAX_ALIKE``."""
    kept: list[Candidate] = []
    for hit in candidates:
        alike = [other for other in kept if _are_alike(hit, other)]
        if len(alike) < MAX_ALIKE:
            kept.append(hit)
        if len(kept) == most:
            break
    return kept


def _are_alike(hit: Candidate, other: Candidate) -> bool:
    return hit.dense is not None and other.dense is not None and float(hit.dense @ other.dense) > NEAR_DUPLICATE


def _nearer(searched: list[Searched]) -> list[Searched]:
    """Keep the sub-questions, or the full text (the last) where its best chunk is nearer.

    A greeting is far from every chunk; context ("My laptop was stolen. What now?") leads to the right ones.
    """
    *alone, full_text = searched
    nearness = [_fused(row[0].chunk) if row else 0.0 for _, _, row in searched]
    return [full_text] if nearness[-1] > max(nearness[:-1]) else alone


def _chunks(
    query: HybridQuery, best: Sequence[Candidate], sentences: Mapping[Hashable, Sentences], most: int
) -> tuple[Chunk, ...]:
    """Return the *most* promising chunks of one sub-question, best first, with everything measured set."""
    chunks = []
    for hit in best:
        spans, vectors = sentences[hit.key]
        if vectors is None:  # the chunk's own cosine stands in for those of its sentences
            cosines = [hit.chunk.similarity] * len(spans)
        else:
            cosines = np.minimum(vectors @ query.dense, 1.0).tolist()
        chunks.append(replace(hit.chunk, spans=spans, span_similarities=tuple(cosines)))
    ranked = sorted(zip(best, chunks, strict=True), key=lambda pair: -promise(pair[1]))
    dated = any(chunk.dated for _, chunk in ranked)
    kept = [ranked[n] for n in with_later([chunk for _, chunk in ranked], most)] if dated else ranked[:most]

    def alike(hit: Candidate) -> tuple[str, ...]:
        return tuple(other.chunk.chunk_id for other, _ in kept if other is not hit and _are_alike(hit, other))

    return tuple(replace(chunk, near_duplicates=alike(hit)) for hit, chunk in kept)


def _with_spans(chunk: Chunk) -> Chunk:
    return chunk if chunk.spans else replace(chunk, spans=sentence_spans(chunk.text))

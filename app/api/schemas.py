"""The public wire objects, which several doors share: the answer, its evidence, a chunk in sight."""

from __future__ import annotations

from typing import Any

from graph.result import Result
from graph.state import Chunk


def answer_body(result: Result, *, evidence: bool = False) -> dict[str, Any]:
    """The success body: exactly three members, and ``evidence`` with more metadata where it was asked for."""
    metadata: dict[str, Any] = {
        "processingTimeMs": result.processing_ms,
        "answerSynthesized": result.answered,
        "chunksRetrieved": len(result.chunks),
    }
    content = {"answer": result.answer, "citedDocuments": result.documents, "metadata": metadata}
    if evidence:
        metadata |= {
            "outcome": result.outcome,
            "requestId": result.request_id,
            "stageTimingsMs": result.timings,
            "confidence": result.confidence,
            "unsupported": result.unsupported,
            "chunksDropped": result.dropped_chunks,
        }
        content["evidence"] = evidence_of(result)
        if not result.answered:
            content["closest"] = closest_of(result)
    return content


def evidence_of(result: Result) -> list[dict[str, Any]]:
    """The verified citations: a sentence of the answer, and the quote of a stored chunk that carries it."""
    return [
        {
            "marker": citation.marker,
            "documentId": citation.document_id,
            "chunkId": citation.chunk_id,
            "sentence": citation.sentence,
            "quote": citation.quote,
            "start": citation.start,
            "end": citation.end,
            "support": citation.support,
        }
        for citation in result.citations
    ]


MOST_CLOSEST = 3


def closest_of(result: Result) -> list[dict[str, Any]]:
    """Where there is no answer: the passages that come closest, to look at and no citations."""
    best = sorted(result.chunks, key=lambda chunk: -(chunk.relevance or 0.0))[:MOST_CLOSEST]
    return [
        {
            "chunkId": chunk.chunk_id,
            "documentId": chunk.document_id,
            "title": chunk.title,
            "text": chunk.text,
            "relevance": chunk.relevance,
        }
        for chunk in best
    ]


def chunk_summary(chunk: Chunk) -> dict[str, Any]:
    """One chunk of the ``retrieval`` event."""
    return {
        "chunkId": chunk.chunk_id,
        "documentId": chunk.document_id,
        "title": chunk.title,
        "similarity": chunk.similarity,
        "relevance": chunk.relevance,
    }

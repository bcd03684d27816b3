"""What doors answer, written out for the OpenAPI document: bodies as they are over the sample garden."""

from __future__ import annotations

from typing import Any

ASKED = "What is Knowledge Garden?"
SENTENCE = (
    "Knowledge Garden is a query service that answers questions from a team's own documents and shows, for every "
    "sentence it returns, the passage that supports it"
)
ANSWER: dict[str, Any] = {
    "answer": f"{SENTENCE} [1].",
    "citedDocuments": [
        {
            "id": "what-is-knowledge-garden.md",
            "title": "What Knowledge Garden Is",
            "snippet": f"{SENTENCE}. A question goes in as plain language…",
            "url": None,
        }
    ],
    "metadata": {"processingTimeMs": 28, "answerSynthesized": True, "chunksRetrieved": 10},
}
EVIDENCE = {
    "marker": 1,
    "documentId": "what-is-knowledge-garden.md",
    "chunkId": "what-is-knowledge-garden.md#0",
    "sentence": f"{SENTENCE}.",
    "quote": f"{SENTENCE}.",
    "start": 0,
    "end": 158,
    "support": 1.0,
}
TOLD: dict[str, Any] = {
    "outcome": "answered",
    "requestId": "req_8c1d2f",
    "stageTimingsMs": {"validate": 0.1, "retrieve": 21.4, "grade": 2.7, "synthesize": 1.9, "cite": 0.4},
    "confidence": 1.0,
    "unsupported": [],
    "chunksDropped": 0,
}
WITH_EVIDENCE = {**ANSWER, "metadata": {**ANSWER["metadata"], **TOLD}, "evidence": [EVIDENCE]}
DECLINED = {
    "answer": "The documents do not contain an answer to this question.",
    "citedDocuments": [],
    "metadata": {"processingTimeMs": 24, "answerSynthesized": False, "chunksRetrieved": 10},
}
BLANK = {
    "error": "VALIDATION_ERROR",
    "message": "Query must be non-blank and at most 2000 characters.",
    "details": {"field": "query"},
}
STORED = {
    "chunkId": "what-is-knowledge-garden.md#0",
    "documentId": "what-is-knowledge-garden.md",
    "title": "What Knowledge Garden Is",
    "text": f"{SENTENCE}. A question goes in as plain language…",
    "url": None,
    "chapter": None,
    "section": None,
    "page": None,
}
GONE = {"error": "NOT_FOUND", "message": "No chunk has this id.", "details": {}}
NOT_READ = {
    "error": "VALIDATION_ERROR",
    "message": "Files of this kind are not read.",
    "details": {"field": "name"},
}
PLANTED = {
    "added": 1,
    "changed": 0,
    "unchanged": 0,
    "removed": 0,
    "chunks": 1,
    "skipped": [],
    "seconds": 0.1,
    "note": "",
}
CHUNK = {
    "chunkId": "what-is-knowledge-garden.md#0",
    "documentId": "what-is-knowledge-garden.md",
    "title": "What Knowledge Garden Is",
    "similarity": 0.765,
    "relevance": 1.0,
}
HIT = {
    "source_url": "ros2-primer.md",
    "chapter": "Chapter 2: Nodes",
    "section": "2.1 One node, one job",
    "chunk_index": 5,
    "title": "ROS 2 Primer: Core Concepts",
    "score": 0.429,
    "text": "A node is the basic unit of computation in ROS 2.",
    "chunk_id": "ros2-primer.md#5",
    "document_id": "ros2-primer.md",
    "page": None,
}
TASK = {
    "task_id": "auth-101",
    "document": "Fix the login form\nIt forgets the password.",
    "distance": 0.31,
    "similarity": 0.69,
    "status": "pending",
    "priority": "critical",
    "has_attachments": False,
    "snippet": "Fix the login form\nIt forgets the password.",
}
NOTE = "The lighthouse of Larkfield stands on the northern pier."


def events(*said: tuple[str, str]) -> str:
    """Server-sent events as text; an event without a name is data alone."""
    return "".join(f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n" for name, data in said)


GRAPH = ("RETRIEVAL_FAILED", "SYNTHESIS_FAILED", "OVERLOADED")
SEARCH = ("RETRIEVAL_FAILED", "OVERLOADED")
QUESTION = {"query": ASKED}
INPUT = {"input": QUESTION}
SHOWN = '{"answer": "…", "citedDocuments": [], "metadata": {}}'
HEALTH = {
    "status": "healthy",
    "ollama": "unreachable",
    "vector_store": "connected",
    "embedding_model": "loaded",
    "timestamp": "2026-01-21T14:32:15.123Z",
}
RUN = {"run_id": "772f4c46-c153-4225-9259-4210d3a7c921", "feedback_tokens": []}
RUNS = {"run_ids": [RUN["run_id"]], "responses": [RUN]}
REFUSED_TASKS = {
    "error": "VALIDATION_ERROR",
    "message": "n: Input should be less than or equal to 20.",
    "details": {"field": "n"},
}
REFUSED_CHAT = {"error": "VALIDATION_ERROR", "message": "message: Field required.", "details": {"field": "message"}}
STREAMED = events(
    ("retrieval", f'{{"chunks": [{CHUNK}]}}'.replace("'", '"')), ("token", '{"text": "Knowledge"}'), ("answer", SHOWN)
)

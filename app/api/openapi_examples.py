"""What the OpenAPI document says of each door beyond its types: a summary, and examples that run on the sample garden.

``tests/app/api/test_openapi.py`` sends every example to a running service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.api.openapi_samples import (
    ANSWER,
    ASKED,
    BLANK,
    DECLINED,
    GONE,
    GRAPH,
    HEALTH,
    HIT,
    INPUT,
    NOT_READ,
    PLANTED,
    QUESTION,
    REFUSED_CHAT,
    REFUSED_TASKS,
    RUN,
    RUNS,
    SEARCH,
    SHOWN,
    STORED,
    STREAMED,
    TASK,
    WITH_EVIDENCE,
    events,
)


@dataclass(frozen=True, slots=True)
class Example:
    """One request, by ``body`` or ``params``, the status it gets, and what an answer to it looks like.

    A ``body`` that is text is sent as it is, any other as JSON.
    """

    status: int
    answer: Any
    body: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Door:
    """One operation: its ``summary``, its ``examples`` by name, and the ``codes`` no example brings about."""

    summary: str
    examples: Mapping[str, Example]
    codes: tuple[str, ...] = ()
    open: bool = False
    """Whether it needs no API key."""


DOORS: dict[tuple[str, str], Door] = {
    ("post", "/query"): Door(
        "Answer a question",
        {
            "question": Example(200, ANSWER, QUESTION),
            "evidence": Example(200, WITH_EVIDENCE, {**QUESTION, "maxSources": 5, "includeEvidence": True}),
            "unanswerable": Example(200, DECLINED, {"query": "Which composer wrote the opera Tosca?"}),
            "blank": Example(400, BLANK, {"query": "   "}),
        },
        GRAPH,
    ),
    ("post", "/query/stream"): Door(
        "Answer a question, streamed",
        {"question": Example(200, STREAMED, QUESTION), "blank": Example(400, BLANK, {"query": "   "})},
        GRAPH,
    ),
    ("get", "/api/v1/search"): Door(
        "Search the documents' chunks",
        {
            "nodes": Example(
                200, {"query": "nodes", "k": 3, "results": [HIT], "context": "…"}, params={"q": "nodes", "k": 3}
            ),
            "blank": Example(400, BLANK, params={"q": " "}),
        },
        SEARCH,
    ),
    ("get", "/api/v1/search/semantic"): Door(
        "Search the tasks",
        {
            "login": Example(
                200,
                {
                    "results": [TASK],
                    "total": 1,
                    "query": "login issues",
                    "filters": {"status": "pending", "priority": None},
                },
                params={"q": "login issues", "status": "pending", "n": 3, "min_similarity": 0.2},
            ),
            "too many": Example(400, REFUSED_TASKS, params={"q": "login issues", "n": 21}),
        },
        SEARCH,
    ),
    ("post", "/api/v1/chat"): Door(
        "Chat about the tasks",
        {
            "tasks": Example(
                200,
                events(("", "This task fits best:"), ("", "[DONE]")),
                {"message": "What authentication tasks do I have?", "use_rag": True},
            ),
            "nothing said": Example(400, REFUSED_CHAT, {"use_rag": True}),
        },
        ("OVERLOADED",),
    ),
    ("post", "/api/v1/documents"): Door(
        "Plant one document",
        {
            "markdown": Example(200, PLANTED, "# Beans\n\nBeans are sown in May.\n", {"name": "beans.md"}),
            "not read": Example(400, NOT_READ, "MZ", {"name": "setup.exe"}),
        },
        ("FORBIDDEN", "RETRIEVAL_FAILED"),
    ),
    ("get", "/api/v1/chunks/{chunkId}"): Door(
        "Show one stored chunk",
        {
            "cited": Example(200, STORED, params={"chunkId": "what-is-knowledge-garden.md#0"}),
            "gone": Example(404, GONE, params={"chunkId": "nothing.md#0"}),
        },
        ("RETRIEVAL_FAILED",),
    ),
    ("get", "/api/v1/page"): Door(
        "Say what the page may offer",
        {
            "now": Example(
                200,
                {"examples": [ASKED], "mayUpload": True, "maxUploadBytes": 33_554_432, "suffixes": [".md", ".pdf"]},
            )
        },
    ),
    ("get", "/health"): Door("Probe every part", {"now": Example(200, HEALTH)}, open=True),
    ("get", "/health/live"): Door("Say that the process runs", {"now": Example(200, {"status": "alive"})}, open=True),
    ("get", "/health/ready"): Door(
        "Say whether to send work here",
        {"now": Example(200, {"status": "ready", "notes": []})},
        ("OVERLOADED",),
        open=True,
    ),
    ("post", "/rag/invoke"): Door(
        "LangServe: answer a question",
        {
            "question": Example(200, {"output": ANSWER, "metadata": RUN}, INPUT),
            "blank": Example(400, BLANK, {"input": {"query": " "}}),
        },
        GRAPH,
    ),
    ("post", "/rag/batch"): Door(
        "LangServe: answer up to 32 questions",
        {
            "two": Example(
                200, {"output": [ANSWER], "metadata": RUNS}, {"inputs": [QUESTION, {"query": "What is RAG?"}]}
            )
        },
        GRAPH,
    ),
    ("post", "/rag/stream"): Door(
        "LangServe: answer a question, streamed",
        {"question": Example(200, events(("data", '{"token": "Knowledge"}'), ("data", SHOWN), ("end", "")), INPUT)},
    ),
    ("post", "/rag/stream_events"): Door(
        "LangServe: the events of one answer",
        {"question": Example(200, events(("data", '{"event": "on_chain_start", "name": "/rag"}'), ("end", "")), INPUT)},
    ),
    ("post", "/rag/stream_log"): Door(
        "LangServe: the log of one answer, as the playground reads it",
        {"question": Example(200, events(("data", '{"ops": []}'), ("end", "")), INPUT)},
    ),
    ("get", "/rag/input_schema"): Door(
        "LangServe: JSON Schema of the question",
        {"schema": Example(200, {"title": "Question", "type": "object", "properties": {"query": {"type": "string"}}})},
    ),
    ("get", "/rag/output_schema"): Door(
        "LangServe: JSON Schema of the answer",
        {
            "schema": Example(
                200, {"title": "QueryResponse", "type": "object", "properties": {"answer": {"type": "string"}}}
            )
        },
    ),
    ("get", "/rag/config_schema"): Door(
        "LangServe: JSON Schema of what a client may set, which is nothing",
        {"schema": Example(200, {"title": "knowledge_garden_config", "type": "object", "properties": {}})},
    ),
}
"""Every operation by method and path. One that is missing here has no example, which the test does not let pass."""

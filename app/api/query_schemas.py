"""The wire shapes of door Q, as OpenAPI shows them. Checking is the ``validate`` node's work, not these models'."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from graph.errors import Outcome
from graph.policy import MAX_SOURCES, MAX_TOKENS


class QueryRequest(BaseModel):
    """One question. Unknown members are ignored, ``null`` is as absent, integers and booleans are strict."""

    query: str = Field(description="1 to 2000 characters after trimming", examples=["What is Knowledge Garden?"])
    maxSources: int | None = Field(None, ge=1, le=MAX_SOURCES, description="most chunks to answer from; default 10")
    maxTokens: int | None = Field(None, ge=1, le=MAX_TOKENS, description="longest answer of a chat model")
    includeEvidence: bool | None = Field(None, description="add the verified quotes and more metadata")


class CitedDocument(BaseModel):
    """One source document; the k-th of the list is what ``[k]`` in the answer means."""

    id: str
    title: str
    snippet: str
    url: str | None


class Evidence(BaseModel):
    """One verified citation: ``quote`` stands at ``start:end`` of the stored chunk, in code points."""

    marker: int
    documentId: str
    chunkId: str
    sentence: str
    quote: str
    start: int
    end: int
    support: float


class Closest(BaseModel):
    """A passage to look at where there is no answer; no citation."""

    chunkId: str
    documentId: str
    title: str
    text: str
    relevance: float | None


class OmitNone(BaseModel):
    """A model whose optional members are left out, rather than null, when they are not there."""

    @model_serializer(mode="wrap")
    def _lean(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        given = serialise(self)
        return {k: v for k, v in given.items() if v is not None or type(self).model_fields[k].is_required()}


class Metadata(OmitNone):
    """How it went. The members after the first three come with ``includeEvidence``."""

    processingTimeMs: int
    answerSynthesized: bool
    chunksRetrieved: int
    outcome: Outcome | None = None
    requestId: str | None = None
    stageTimingsMs: dict[str, float] | None = None
    confidence: float | None = None
    unsupported: list[str] | None = None
    chunksDropped: int | None = None


class QueryResponse(OmitNone):
    """An answer, or a plain sentence that there is none (``answerSynthesized: false``, nothing cited)."""

    answer: str
    citedDocuments: list[CitedDocument]
    metadata: Metadata
    evidence: list[Evidence] | None = None
    closest: list[Closest] | None = None


ErrorCode = Literal[
    "VALIDATION_ERROR",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "PAYLOAD_TOO_LARGE",
    "INTERNAL_ERROR",
    "RETRIEVAL_FAILED",
    "SYNTHESIS_FAILED",
    "OVERLOADED",
]


class ErrorBody(BaseModel):
    """The one error body."""

    error: ErrorCode
    message: str
    details: dict[str, Any]


STREAM_DOC: dict[str, Any] = {
    "description": "Server-sent events: `retrieval`, any number of `token`, then one `answer` or one `error`.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


def query_input() -> dict[str, Any]:
    """OpenAPI's description of the body and of the address, which the routes read by themselves."""
    content = {"application/json": {"schema": QueryRequest.model_json_schema()}}
    told = "answer from this document alone"
    text = {"anyOf": [{"type": "string"}, {"type": "null"}], "description": told, "title": "Source"}
    source = {"name": "source", "in": "query", "required": False, "schema": text, "description": told}
    return {"requestBody": {"required": True, "content": content}, "parameters": [source]}

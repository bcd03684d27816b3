"""Wire objects of the Query API, and the mapping of results and events to them."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, WithJsonSchema
from pydantic.alias_generators import to_camel

from app.api.errors import failure_body
from graph.errors import Outcome
from graph.policy import MAX_SOURCES, MAX_TOKENS
from graph.state import Event, Result

MAX_CLOSEST = 3


class WireModel(BaseModel):
    """An object with camelCase members, made from keywords or attributes in snake_case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


def _open(kinds: str | list[str], description: str, example: Any, **bounds: int) -> Any:
    """Describe a field whose value the ``validate`` node checks."""
    schema: dict[str, Any] = {"type": kinds, **bounds}
    return Field(None, description=description, examples=[example], json_schema_extra=schema)


class QueryRequest(BaseModel):
    """One question. Unknown members are ignored, ``null`` means absent, integers and booleans are strict."""

    query: Any = _open("string", "1 to 2000 characters after trimming", "What is Knowledge Garden?")
    maxSources: Any = _open(
        ["integer", "null"], "most chunks to answer from; default 10", 5, minimum=1, maximum=MAX_SOURCES
    )
    maxTokens: Any = _open(["integer", "null"], "longest answer", 500, minimum=1, maximum=MAX_TOKENS)
    source: Any = _open(
        ["string", "array", "null"],
        "search these documents alone: an id or a name, or a list of them; `*` at the end stands for any ending",
        "what-is-*",
    )
    filters: Any = _open(
        ["object", "null"],
        "search only what has these metadata: a value or a list of values per field, or a range of days: "
        '`{"date": {"gte": "2024-01-01"}}`',
        {"type": "md"},
    )
    collection: Any = _open(
        ["string", "null"], "search this collection; default: the service's own", "corporate_documents"
    )
    includeEvidence: Annotated[StrictBool | None, WithJsonSchema({"type": ["boolean", "null"]})] = Field(
        None, description="add the verified quotes and more metadata", examples=[True]
    )  # the playground draws no field for an ``anyOf``


class CitedDocument(WireModel):
    """One source document; the k-th of the list is what ``[k]`` in the answer means."""

    id: str = Field(examples=["what-is-knowledge-garden.md"])
    title: str = Field(examples=["What Knowledge Garden Is"])
    snippet: str = Field(examples=["Knowledge Garden is a query service that answers questions from documents…"])
    url: str | None = Field(examples=[None])


class VerifiedCitation(WireModel):
    """One verified citation: ``quote`` stands at ``start:end`` of the stored chunk, in code points.

    ``recognised`` is there, and true, where the chunk is a program's reading of a scanned page.
    """

    marker: int
    document_id: str
    chunk_id: str
    sentence: str
    quote: str
    start: int
    end: int
    support: float
    recognised: bool = Field(False, exclude_if=lambda value: not value)


class Evidence(VerifiedCitation):
    """A verified citation of an answer."""

    markers: list[tuple[int, int]] = Field(description="where its markers stand in `answer`: (start, end), code points")


class NamedChunk(WireModel):
    """A chunk and its document."""

    chunk_id: str = Field(examples=["safety_manual.pdf#3"])
    document_id: str = Field(examples=["safety_manual.pdf"])
    title: str = Field(examples=["Safety Manual"])


RELEVANCE = "a score in [0, 1] of how surely the chunk is about the question; `RELEVANCE_THRESHOLD` is its bar"
CONFIDENCE = "the probability that the answer is right, estimated; `MIN_CONFIDENCE_THRESHOLD` is its bar"


class ClosestChunk(NamedChunk):
    """A passage to look at where there is no answer; not a citation."""

    text: str
    relevance: float | None = Field(description=RELEVANCE)


class ChunkSummary(NamedChunk):
    """One chunk of the ``retrieval`` event."""

    similarity: float
    relevance: float | None = Field(description=RELEVANCE)


OPTIONAL: Any = Field(None, exclude_if=lambda value: value is None)
"""A member that is absent, not null, where it was not asked for."""


class Metadata(WireModel):
    """How the question ended. The members after the first three come with ``includeEvidence``."""

    processing_time_ms: int = Field(examples=[28])
    answer_synthesized: bool = Field(examples=[True])
    chunks_retrieved: int = Field(examples=[10])
    outcome: Outcome | None = OPTIONAL
    request_id: str | None = OPTIONAL
    stage_timings_ms: dict[str, float] | None = OPTIONAL
    confidence: float | None = Field(None, exclude_if=lambda value: value is None, description=CONFIDENCE)
    unsupported: list[str] | None = OPTIONAL
    chunks_dropped: int | None = OPTIONAL
    answered_by: Literal["model", "passages"] | None = OPTIONAL


class QueryResponse(WireModel):
    """An answer, or a plain sentence that there is none (``answerSynthesized: false``, nothing cited)."""

    answer: str = Field(examples=["Knowledge Garden is a query service that answers questions from documents [1]."])
    cited_documents: list[CitedDocument]
    metadata: Metadata
    evidence: list[Evidence] | None = OPTIONAL
    closest: list[ClosestChunk] | None = OPTIONAL


class ErrorBody(BaseModel):
    """The one error body."""

    error: str = Field(examples=["VALIDATION_ERROR"])
    message: str
    details: dict[str, Any]


def answer_body(result: Result, *, evidence: bool = False) -> dict[str, Any]:
    """Return the success body: three members, and with *evidence* the citations and more metadata."""
    metadata = Metadata(
        processing_time_ms=result.processing_ms, answer_synthesized=result.answered, chunks_retrieved=len(result.chunks)
    )
    documents = [CitedDocument.model_validate(document) for document in result.documents]
    body = QueryResponse(answer=result.answer or "", cited_documents=documents, metadata=metadata)
    if evidence:
        metadata.outcome = result.outcome
        metadata.request_id = result.request_id
        metadata.stage_timings_ms = result.timings
        metadata.confidence = result.confidence
        metadata.unsupported = result.unsupported
        metadata.chunks_dropped = result.dropped_chunks
        metadata.answered_by = result.answered_by if result.answered else None
        body.evidence = [
            Evidence(**asdict(citation), markers=result.markers.get(index, []))
            for index, citation in enumerate(result.citations)
        ]
        if not result.answered:
            nearest = sorted(result.chunks, key=lambda chunk: -(chunk.relevance or 0.0))[:MAX_CLOSEST]
            body.closest = [ClosestChunk.model_validate(chunk) for chunk in nearest]
    return body.model_dump(by_alias=True)


def result_body(result: Result, *, evidence: bool = False) -> dict[str, Any]:
    """Return the answer's body, or that of a failure."""
    return failure_body(result.failure) if result.failure else answer_body(result, evidence=evidence)


def wire_event(event: Event, *, evidence: bool = False) -> tuple[str, dict[str, Any]]:
    """Return name and data of an event.

    They are ``rewritten``, ``retrieval``, ``token``, ``verified``, then one ``answer`` or ``error``.
    """
    if event.result:
        return "error" if event.result.failure else "answer", result_body(event.result, evidence=evidence)
    if event.kind == "retrieval":
        chunks = [ChunkSummary.model_validate(chunk).model_dump(by_alias=True) for chunk in event.chunks]
        return event.kind, {"chunks": chunks}
    if event.kind == "verified":
        cited = [VerifiedCitation.model_validate(citation).model_dump(by_alias=True) for citation in event.citations]
        return event.kind, {"sentence": event.text, "citations": cited}
    return event.kind, {"query" if event.kind == "rewritten" else "text": event.text}

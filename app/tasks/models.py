"""Door S's wire shapes: a found task, the search response, and the requests for context and chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, computed_field, field_validator

if TYPE_CHECKING:
    from langchain_core.documents import Document

SNIPPET_CHARS = 100


class SearchResult(BaseModel):
    """One task. ``similarity`` is the cosine of query and ``document`` cut off below 0; ``distance`` is 1 less that."""

    model_config = ConfigDict(from_attributes=True)

    task_id: str
    document: str
    distance: float
    similarity: float
    status: str
    priority: str
    has_attachments: bool

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way to serialise a property
    @property
    def snippet(self) -> str:
        """The first 100 characters of the document, then "..." where there are more."""
        return self.document if len(self.document) <= SNIPPET_CHARS else f"{self.document[:SNIPPET_CHARS]}..."


def found_task(document: Document, cosine: float) -> SearchResult:
    """The task that a stored document is, with its *cosine* as similarity."""
    similarity = min(1.0, max(0.0, float(cosine)))
    known = document.metadata
    return SearchResult(
        task_id=str(known.get("document_id") or document.id),
        document=document.page_content,
        distance=1.0 - similarity,
        similarity=similarity,
        status=known.get("status", "pending"),
        priority=known.get("priority", "medium"),
        has_attachments=bool(known.get("has_attachments", False)),
    )


class SemanticSearchResponse(BaseModel):
    """The tasks nearest in meaning, highest similarity first; ``total`` is how many they are."""

    results: list[SearchResult]
    total: int
    query: str
    filters: dict[str, str | None]


class RAGContextRequest(BaseModel):
    """What a context is built from, and how long it may be (in tokens of about four characters)."""

    query: str
    n_results: int = Field(default=3, ge=1, le=10)
    include_metadata: bool = True
    max_tokens: int | None = Field(default=1500, ge=100, le=5000)


class ChatRequest(BaseModel):
    """One message to the assistant; with ``use_rag`` the tasks that fit it best are put before the model."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"message": "What authentication tasks do I have?", "use_rag": True}]}
    )

    message: StrictStr = Field(min_length=1, max_length=4000, description="1 to 4000 characters, not all blank")
    use_rag: StrictBool | None = Field(default=True, description="null is as absent")

    @field_validator("message")
    @classmethod
    def _not_blank(cls, message: str) -> str:
        if not message.strip():
            raise ValueError("must not be blank")
        return message

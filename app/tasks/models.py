"""Requests and results of the Tasks API, and checks of arguments that raise ``InvalidInput``."""

from collections.abc import Mapping
from typing import Any, get_args

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, computed_field, field_validator

from app.ingest.tasks import Task
from graph.errors import InvalidInput

SNIPPET_CHARS = 100


class SearchResult(BaseModel):
    """One task. ``similarity`` is the cosine of query and ``document``, at least 0; ``distance`` is 1 less that."""

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


class SemanticSearchResponse(BaseModel):
    """The tasks nearest in meaning, highest similarity first; ``total`` is how many they are."""

    results: list[SearchResult]
    total: int
    query: str
    filters: dict[str, str | None]


class RAGContextRequest(BaseModel):
    """What to build a context from, and its longest length in tokens of about four characters."""

    query: str
    n_results: int = Field(default=3, ge=1, le=10)
    include_metadata: bool = True
    max_tokens: int | None = Field(default=1500, ge=100, le=5000)


class ChatRequest(BaseModel):
    """One message to the assistant; with ``use_rag`` the tasks that fit it best go into the prompt."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"message": "What authentication tasks do I have?", "use_rag": True}]}
    )

    message: str = Field(strict=True, min_length=1, max_length=4000, description="1 to 4000 characters, not all blank")
    use_rag: StrictBool | None = Field(default=True, description="null is as absent")

    @field_validator("message")
    @classmethod
    def _not_blank(cls, message: str) -> str:
        if not message.strip():
            raise ValueError("must not be blank")
        return message


def result_of(document: Document, cosine: float) -> SearchResult:
    """Convert a stored document and its *cosine*."""
    similarity = min(1.0, max(0.0, float(cosine)))
    metadata = document.metadata
    return SearchResult(
        task_id=str(metadata.get("document_id") or document.id),
        document=document.page_content,
        distance=1.0 - similarity,
        similarity=similarity,
        status=metadata.get("status", "pending"),
        priority=metadata.get("priority", "medium"),
        has_attachments=bool(metadata.get("has_attachments", False)),
    )


def task_of(task: Task | Mapping[str, Any]) -> Task:
    """Convert a mapping, where None means absent, or an object with a task's fields."""
    fields: Any = task
    if isinstance(task, Mapping):
        fields = {name: value for name, value in task.items() if value is not None}
    try:
        return Task.model_validate(fields, from_attributes=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "task"
        raise InvalidInput(f"{field}: {first['msg']}.", field) from error


def text_of(value: Any, field: str) -> str:
    """Strip a string that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{field} must be a non-blank string.", field)
    return value.strip()


def one_of(value: Any, literal: Any, field: str) -> str | None:
    """Return *value* if it is None or one of the values of a ``Literal``."""
    allowed = get_args(literal)
    if value is not None and value not in allowed:
        raise InvalidInput(f"{field} must be one of {', '.join(allowed)}.", field)
    return None if value is None else str(value)

"""Read a stored payload as a chunk, whichever pipeline wrote it.

Known shapes: ours and langchain-qdrant's (``page_content``, nested ``metadata``), flat payloads with ``text`` and the
fields beside it, and Chroma's ``document`` with flat metadata. Nothing here writes.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any

from langchain_core.documents import Document
from pydantic import Field, TypeAdapter, ValidationError

from answering.types import Chunk
from app.providers.stores.filters import SOURCES
from app.providers.stores.hybrid import Candidate, DocumentSummary, summary

_INTEGER = TypeAdapter(Annotated[int, Field(ge=0, lt=1 << 63)])
_TEXT = ("page_content", "text", "document")
_DOCUMENT_ID = ("document_id", "doc_id", "source", "source_doc", "source_url", "url", "title")
_TITLE = ("title", "document_title", "source", "source_doc", "document_id", "source_url")


def chunk_from_payload(point_id: str, payload: Mapping[str, Any] | None) -> Chunk:
    """Read one point as a chunk; a missing or mistyped field gets its default.

    ``point_id`` is the default of chunk and document id. ``spans`` are () where none are stored that fit the text.
    """
    payload = payload or {}
    text = _string(payload, _TEXT) or ""
    nested = payload.get("metadata")
    metadata = {**payload, **nested} if isinstance(nested, Mapping) else payload
    return Chunk(
        chunk_id=_string(metadata, ("chunk_id",)) or point_id,
        document_id=_string(metadata, _DOCUMENT_ID) or point_id,
        title=_string(metadata, _TITLE) or "",
        text=text,
        url=_string(metadata, ("url", "source_url")),
        chapter=_string(metadata, ("chapter",)),
        section=_string(metadata, ("section", "section_title")),
        page=_integer(metadata, ("page", "page_number")),
        chunk_index=_integer(metadata, ("chunk_index",)),
        source=_string(metadata, SOURCES),
        spans=spans_of(metadata.get("spans"), len(text)),
    )


def as_candidate(key: Hashable, own_id: str, payload: Mapping[str, Any] | None, *vectors: Any) -> Candidate:
    """A stored chunk as a candidate; *vectors* are its ``dense``, ``sparse`` and ``sentences``."""
    return Candidate(key, chunk_from_payload(own_id, payload), *vectors)._replace(payload=payload)


def metadata_of(payload: Mapping[str, Any] | None) -> dict[str, Any]:
    """The metadata of a payload, nested or flat, without its text."""
    payload = payload or {}
    nested = payload.get("metadata")
    if isinstance(nested, Mapping):
        return dict(nested)
    return {key: value for key, value in payload.items() if key not in _TEXT}


def chunk_index_of(metadata: Mapping[str, Any]) -> int:
    """The position of a chunk in its document; 0 where it is unknown."""
    return _integer(metadata, ("chunk_index",)) or 0


def summaries(stored: Iterable[Mapping[str, Any]]) -> dict[str, DocumentSummary]:
    """Summarize documents by id from their chunks' metadata; "" is for chunks without one."""
    firsts: dict[str, tuple[int, DocumentSummary]] = {}
    chunks: Counter[str] = Counter()
    for metadata in stored:
        document, position = str(metadata.get("document_id") or ""), chunk_index_of(metadata)
        chunks[document] += 1
        if document not in firsts or position < firsts[document][0]:
            firsts[document] = position, summary(document, 0, metadata)
    return {document: first._replace(chunks=chunks[document]) for document, (_, first) in firsts.items()}


def text_of(payload: Mapping[str, Any] | None) -> str:
    """The text of a payload, "" when it has none."""
    return _string(payload or {}, _TEXT) or ""


def document_of(own_id: str, payload: Mapping[str, Any] | None) -> Document:
    """Read a point as a LangChain document; its id is the chunk's, or else *own_id*."""
    metadata = {name: value for name, value in metadata_of(payload).items() if name not in ("chunk_id", "spans")}
    return Document(id=chunk_from_payload(own_id, payload).chunk_id, page_content=text_of(payload), metadata=metadata)


def _string(values: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = values.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _integer(values: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        with suppress(ValidationError):
            if not isinstance(values.get(name), bool):
                return _INTEGER.validate_python(values.get(name))
    return None


def spans_of(value: object, length: int) -> tuple[tuple[int, int], ...]:
    """Stored spans as pairs, or () unless they are ordered, disjoint and inside the text."""
    try:
        spans = tuple((int(start), int(end)) for start, end in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return ()
    ends = [0, *(end for _, end in spans)]
    valid = all(last <= start < end <= length for last, (start, end) in zip(ends, spans, strict=False))
    return spans if valid else ()

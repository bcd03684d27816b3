"""Read a stored payload as a chunk, whichever pipeline wrote it.

Known shapes: ours and langchain-qdrant's (``page_content``, nested ``metadata``), flat payloads with ``text`` and the
fields beside it, Chroma's ``document`` with flat metadata, Haystack's ``content`` with nested ``meta``, and
LlamaIndex's ``_node_content``, a node as JSON text, with flat metadata. Nothing here writes.
"""

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any

from langchain_core.documents import Document
from pydantic import Field, TypeAdapter, ValidationError

from answering.types import Chunk
from app.providers.stores.filters import SOURCES
from app.providers.stores.hybrid import Candidate, DocumentSummary, summary
from app.providers.stores.layout import Point

_INTEGER = TypeAdapter(Annotated[int, Field(ge=0, lt=1 << 63)])
NESTED = ("metadata", "meta")
"""The fields that hold the metadata where it is not beside the text."""
_TEXT = ("page_content", "text", "document", "content")
_NODE = "_node_content"
_NO_METADATA = frozenset({*_TEXT, _NODE, "_node_type"})
_DOCUMENT_ID = ("document_id", "doc_id", "source_id", *SOURCES, "url", "title")
_TITLE = ("title", "document_title", *SOURCES[:2], *SOURCES[3:], "document_id", "source_url")
_SHOWN_FIELDS = 20
"""Fields that an error lists."""


def chunk_from_payload(point_id: str, payload: Mapping[str, Any] | None) -> Chunk:
    """Read one point as a chunk; a missing or mistyped field gets its default.

    ``point_id`` is the default of chunk and document id. ``spans`` are () where none are stored that fit the text.
    """
    payload = payload or {}
    text = text_of(payload)
    metadata = {**_flat(payload), **metadata_of(payload)}
    return Chunk(
        chunk_id=_string(metadata, ("chunk_id",)) or point_id,
        document_id=_string(metadata, _DOCUMENT_ID) or point_id,
        title=_string(metadata, _TITLE) or "",
        text=text,
        url=_string(metadata, ("url", "source_url")),
        chapter=_string(metadata, ("chapter",)),
        section=_string(metadata, ("section", "section_title")),
        page=_integer(metadata, ("page", "page_number", "page_label")),
        chunk_index=_integer(metadata, ("chunk_index",)),
        source=_string(metadata, SOURCES),
        dated=_string(metadata, ("dated",)) or "",
        recognised=metadata.get("recognised") is True,
        spans=spans_of(metadata.get("spans"), len(text)),
    )


def as_candidate(key: Hashable, own_id: str, payload: Mapping[str, Any] | None, *vectors: Any) -> Candidate:
    """A stored chunk as a candidate; *vectors* are its ``dense``, ``sparse`` and ``sentences``."""
    return Candidate(key, chunk_from_payload(own_id, payload), *vectors)._replace(payload=payload)


def as_point(own_id: str, payload: Mapping[str, Any] | None, *vectors: Any) -> Point:
    """A stored chunk as a point, also another program's; *vectors* are its ``dense``, ``sentences`` and ``sparse``."""
    metadata = metadata_of(payload)
    return Point(str(metadata.get("chunk_id") or own_id), text_of(payload), metadata, *vectors)


def metadata_of(payload: Mapping[str, Any] | None) -> dict[str, Any]:
    """The metadata of a payload, nested or flat, without its text."""
    payload = payload or {}
    for nested in map(payload.get, NESTED):
        if isinstance(nested, Mapping):
            return dict(nested)
    return _flat(payload)


def _flat(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields beside the text; LlamaIndex names a document that it does not know "None"."""
    unknown = "None" if _NODE in payload else None
    return {name: value for name, value in payload.items() if name not in _NO_METADATA and value != unknown}


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
    payload = payload or {}
    return _string(payload, _TEXT) or _node_text(payload.get(_NODE)) or ""


def _node_text(node: object) -> str | None:
    """The text of a LlamaIndex node; of newer ones it is in ``text_resource``."""
    with suppress(ValueError):
        read = json.loads(node) if isinstance(node, str) else None
        if isinstance(read, dict):
            resource = read.get("text_resource")
            return _string(read, ("text",)) or (_string(resource, ("text",)) if isinstance(resource, dict) else None)
    return None


def with_text(payload: Mapping[str, Any] | None, field: str) -> dict[str, Any]:
    """Return *payload* with the text that is in *field*, a name or a path with dots, where it is looked for first."""
    found: Any = payload or {}
    for name in field.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return {**(payload or {}), _TEXT[0]: found} if isinstance(found, str) else dict(payload or {})


def missing_text(payloads: Collection[Mapping[str, Any] | None]) -> str | None:
    """Say which fields *payloads* have, if there are any and none has text."""
    if not payloads or any(map(text_of, payloads)):
        return None
    fields = {path for payload in payloads for path in _paths(payload or {})}
    listed = ", ".join(sorted(fields)[:_SHOWN_FIELDS]) or "no fields"
    return f"no text is found in its chunks, which have {listed}: TEXT_FIELD must name the field of the text."


def _paths(payload: Mapping[str, Any]) -> Iterator[str]:
    for name, value in payload.items():
        nested = value if isinstance(value, Mapping) else {}
        yield from [f"{name}.{inner}" for inner in nested] or [name]


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

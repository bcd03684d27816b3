"""The parts of a stored chunk, and the layout of our collections on a Qdrant server.

A point is one chunk. It has two named vectors to be searched by: ``dense`` (cosine), the vector of ``indexed_text``,
and ``bm25`` (sparse, modifier IDF), the term weights of ``app.providers.stores.bm25``. Its payload has the shape
langchain-qdrant writes, ``{"page_content": str, "metadata": {...}}``, and beside that the vectors to be read, the
chunk's and one per sentence, as ``app.providers.stores.packed_vectors`` has it. Collections made before hold the latter
in a third named vector, ``sentences`` (multivector, MaxSim over cosine, float16), still read, and written where it is.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.providers.stores.packed_vectors import VECTORS, packed, unpacked
from app.providers.stores.payloads import metadata_of, text_of

DENSE = "dense"
SPARSE = "bm25"
SENTENCES = "sentences"
"""Of collections made before."""
CONTENT = "page_content"
METADATA = "metadata"
COLLECTION_NAME = re.compile(r"[\w-][\w.-]*")
"""What an embedded collection may be called: the name is that of a folder."""
INDEXED_FIELDS = ("document_id", "source", "status", "priority")
"""Metadata fields with a keyword index: what filters and deletes ask for."""

_CHUNKS = uuid.UUID("5b0c7b5e-51d5-5c55-9c0e-8a6f0f2f1d3a")


@dataclass(frozen=True, slots=True)
class Point:
    """One chunk, ready to be stored.

    ``metadata`` holds chunk_id, document_id, title, url, chapter, section, page, chunk_index, source, content_hash and
    ``spans``, the sentences of ``text`` as [start, end] in Unicode code points; any other JSON value may join.
    ``dense`` is float32 [d], the vector of ``indexed_text``; ``sentences`` is float32 [n_spans, d], or
    [0, d] where a store keeps none. ``sparse`` holds the BM25 weights by dimension where they came from a store; None
    has the store that takes the point compute them.
    """

    chunk_id: str
    text: str
    metadata: dict[str, Any]
    dense: NDArray[np.float32]
    sentences: NDArray[np.float32]
    sparse: Mapping[int, float] | None = None


class ChunkStore(Protocol):
    """What ingest needs of a store. Every method may raise ``StoreUnavailable``."""

    async def aupsert(self, points: Sequence[Point]) -> None:
        """Store the points, replacing those of the same chunk id; the sparse vectors are computed here.

        Raises ``ConfigurationError`` when the vectors' size is not the collection's.
        """
        ...

    async def adelete_documents(self, document_ids: Sequence[str]) -> int:
        """Delete every chunk of these documents; return how many chunks went."""
        ...

    async def adelete_chunks(self, chunk_ids: Sequence[str]) -> int:
        """Delete these chunks; return how many were there."""
        ...

    async def adocuments(self) -> dict[str, str]:
        """Return document id -> ``content_hash`` of its first chunk ("" where it has none), for all that is stored."""
        ...

    async def achunk_hashes(self, *document_ids: str) -> dict[str, str]:
        """Return chunk id -> ``content_hash`` ("" where it has none) for the stored chunks of these documents."""
        ...

    async def aowners(self, chunk_ids: Sequence[str]) -> dict[str, str]:
        """Return chunk id -> document id ("" where it has none) for those of these chunks that are stored."""
        ...

    async def acount(self) -> int:
        """Return the number of stored chunks; 0 for a collection not made yet."""
        ...

    def apoints(self) -> AsyncIterator[list[Point]]:
        """Yield every stored chunk with its vectors, page by page, each once; in no order that means anything."""
        ...

    async def aflush(self) -> None:
        """Return when everything acknowledged so far is on disk."""
        ...

    async def aoptimize(self) -> None:
        """Return when the indexes are built; searches before it are right, only slower."""
        ...

    async def aclose(self) -> None:
        """Flush and let go of the collection; a second call does nothing."""
        ...

    async def aprobe(self) -> None:
        """Return if a search would work now; raise ``StoreUnavailable`` or ``CollectionMissing`` if not."""
        ...


def point_id(chunk_id: str) -> str:
    """The point's id: a version 5 UUID (RFC 9562) of the chunk id, the same in every collection and store."""
    return str(uuid.uuid5(_CHUNKS, chunk_id))


def indexed_text(title: str | None, text: str, *, chapter: str | None = None, section: str | None = None) -> str:
    """Return what both channels index of a chunk: ``title. chapter. section. text``.

    What the chunk lacks is left out, and so is a name that repeats one above it or stands as a line of the text, as
    the heading of a section does.
    """
    path: list[str] = [title] if title else []
    lines = f"\n{text}\n"
    for name in (chapter, section):
        if name and name not in path and f"\n{name}\n" not in lines:
            path.append(name)
    return ". ".join([*path, text])


def indexed_text_of(metadata: Mapping[str, Any], text: str) -> str:
    """Return what both channels index of a chunk with this metadata."""
    title, chapter, section = (metadata.get(name) for name in ("title", "chapter", "section"))
    return indexed_text(str(title or ""), text, chapter=_name(chapter), section=_name(section))


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def payload_of(point: Point) -> dict[str, Any]:
    """The payload of a stored chunk: langchain-qdrant's two fields, and the vectors."""
    return {CONTENT: point.text, METADATA: point.metadata, VECTORS: packed(point.dense, point.sentences)}


def sentence_texts(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """What is embedded of each sentence of a chunk: the sentence alone, so that it is measured by its own words."""
    return [text[start:end] for start, end in spans]


def point_of(own: str, payload: Mapping[str, Any] | None, dense: Any, sentences: Any = (), sparse: Any = None) -> Point:
    """A stored point as a ``Point``, whoever wrote it; ``own`` is its id there, for chunks that carry none.

    Its sentences are those packed in the payload, else those given.
    """
    row = np.asarray(dense, np.float32)
    metadata = metadata_of(payload)
    known = unpacked(payload, len(row))
    return Point(
        chunk_id=str(metadata.get("chunk_id") or own),
        text=text_of(payload),
        metadata=metadata,
        dense=row,
        sentences=np.asarray(sentences, np.float32).reshape(-1, len(row)) if known is None else known.sentences,
        sparse=None if sparse is None else dict(zip(sparse.indices, sparse.values, strict=True)),
    )

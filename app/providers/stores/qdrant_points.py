"""Points and filters of a Qdrant server, in our words and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from app.providers.embeddings.vectors import Vectors, unit
from app.providers.stores.bm25 import document_weights
from app.providers.stores.filters import Condition
from app.providers.stores.hybrid import Candidate
from app.providers.stores.layout import (
    DENSE,
    INDEXED_FIELDS,
    METADATA,
    SENTENCES,
    SPARSE,
    Point,
    indexed_text_of,
    payload_of,
    point_id,
    point_of,
)
from app.providers.stores.packed_vectors import Unpacked, unpacked
from app.providers.stores.payloads import chunk_from_payload
from graph.errors import InvalidInput

if TYPE_CHECKING:
    from qdrant_client import models


_PLAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


@dataclass(frozen=True, slots=True)
class Layout:
    """Which of a collection's vectors is which: ``dense`` by name ("" is the unnamed one), the others None if absent.

    ``sentences`` are those of our collections made before they were packed into the payload.

    ``ours`` says that it has our whole layout, our indexes of the payload among it, and so nested metadata alone;
    ``cosine`` that its own order is right.
    """

    size: int
    dense: str
    sparse: str | None
    sentences: str | None
    cosine: bool
    ours: bool

    @property
    def packed(self) -> bool:
        """Whether the vectors to be read are expected in the payload, so that those searched by need not be read."""
        return self.ours and not self.sentences


def layout_of(info: models.CollectionInfo) -> Layout:
    """Read a collection's description. Raises ``ValueError`` when it holds no dense vector.

    A sparse vector counts where the server weighs it by IDF, as BM25 needs it.
    """
    params = info.config.params
    given = params.vectors
    vectors: dict[str, models.VectorParams] = given if isinstance(given, dict) else {"": given} if given else {}
    single = [name for name, one in vectors.items() if one.multivector_config is None]
    if not single:
        raise ValueError("the collection holds no dense vector")
    dense = DENSE if DENSE in single else single[0]
    weighed = [name for name, one in (params.sparse_vectors or {}).items() if one.modifier == "idf"]
    several = SENTENCES in vectors and vectors[SENTENCES].multivector_config is not None
    sparse = SPARSE if SPARSE in weighed else weighed[0] if weighed else None
    return Layout(
        size=int(vectors[dense].size),
        dense=dense,
        sparse=sparse,
        sentences=SENTENCES if several else None,
        cosine=vectors[dense].distance == "Cosine",
        ours=(dense, sparse) == (DENSE, SPARSE) and set(indexed_paths()) <= set(info.payload_schema),
    )


def collection_config(size: int) -> dict[str, Any]:
    """The arguments that make a collection in our layout, of vectors, words and payload indexes."""
    from qdrant_client import models

    return {
        "vectors_config": {DENSE: models.VectorParams(size=size, distance=models.Distance.COSINE)},
        "sparse_vectors_config": {SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        "on_disk_payload": True,
    }


def indexed_paths() -> list[str]:
    """The payload fields that get a keyword index."""
    return [f"{METADATA}.{name}" for name in INDEXED_FIELDS]


def point_struct(point: Point, layout: Layout) -> models.PointStruct:
    """One of our points, for the vectors that the collection holds."""
    from qdrant_client import models

    vector: dict[str, Any] = {layout.dense: point.dense.tolist()}
    if layout.sparse:
        weights = point.sparse
        if weights is None:
            weights = document_weights(indexed_text_of(point.metadata, point.text))
        vector[layout.sparse] = models.SparseVector(indices=list(weights), values=list(weights.values()))
    if layout.sentences and len(point.sentences):
        vector[layout.sentences] = point.sentences.tolist()
    unnamed = layout.dense == "" and len(vector) == 1
    return models.PointStruct(
        id=point_id(point.chunk_id),
        vector=vector[""] if unnamed else vector,
        payload=payload_of(point),
    )


def stored_point(record: Any, layout: Layout) -> Point:
    """A record of the server, fetched with all its vectors, as a point."""
    vectors = vectors_of(record)
    sentences = vectors.get(layout.sentences, ()) if layout.sentences else ()
    sparse = vectors.get(layout.sparse) if layout.sparse else None
    return point_of(str(record.id), record.payload, dense_of(record, layout), sentences, sparse)


def came_with(found: Any, layout: Layout) -> Unpacked | None:
    """The vectors to be read that came with a point, packed or by their names; None where neither did."""
    vectors = vectors_of(found)
    if (known := unpacked(found.payload, layout.size)) or layout.dense not in vectors:
        return known
    older = vectors.get(layout.sentences, ()) if layout.sentences else ()
    return Unpacked(dense_of(found, layout), unit(np.asarray(older, np.float32).reshape(-1, layout.size)))


def candidate(found: Any, layout: Layout, vectors: Unpacked) -> Candidate:
    """A found point with its vectors as a candidate."""
    sparse = vectors_of(found).get(layout.sparse) if layout.sparse else None
    return Candidate(
        key=str(found.id),
        chunk=chunk_from_payload(str(found.id), found.payload),
        dense=vectors.dense,
        sparse=None if sparse is None else dict(zip(sparse.indices, sparse.values, strict=True)),
        sentences=vectors.sentences,
    )


def dense_of(found: Any, layout: Layout) -> Vectors:
    """The unit vector of a found point, float32 [d]."""
    return unit(np.asarray(vectors_of(found)[layout.dense], np.float32))


def vectors_of(found: Any) -> dict[str, Any]:
    """The vectors of a found point by name."""
    given = found.vector
    return dict(given) if isinstance(given, dict) else {} if given is None else {"": given}


def qdrant_filter(conditions: Sequence[Condition], *, ours: bool) -> models.Filter | None:
    """The server's filter. In *ours* metadata is nested, and its indexed names suffice; elsewhere it may be flat.

    Raises ``InvalidInput`` for a field that cannot be written as a path.
    """
    if not conditions:
        return None
    from qdrant_client import models

    return models.Filter(must=[_any(condition, ours) for condition in conditions])


def _any(condition: Condition, ours: bool) -> Any:
    from qdrant_client import models

    if not condition.values:
        return models.HasIdCondition(has_id=[])
    fields = condition.fields[:1] if ours else condition.fields
    if any('"' in name for name in fields):
        raise InvalidInput("A field with a quotation mark in its name cannot be filtered by.", field=fields[0])
    paths = [path for name in fields for path in ((_path(name),) if ours else (_path(name), name))]
    by_type = [[value for value in condition.values if isinstance(value, kind)] for kind in (str, int)]
    each: list[Any] = [_one(path, values) for values in by_type if values for path in paths]
    if None in condition.values:
        nowhere = [models.IsEmptyCondition(is_empty=models.PayloadField(key=path)) for path in paths]
        each.append(models.Filter(must=list(nowhere)))
    return models.Filter(should=each)


def _one(path: str, values: Sequence[Any]) -> models.FieldCondition:
    from qdrant_client import models

    match = models.MatchValue(value=values[0]) if len(values) == 1 else models.MatchAny(any=list(values))
    return models.FieldCondition(key=path, match=match)


def names_a_point(chunk_id: str) -> bool:
    """Whether it is an id as Qdrant has them: a UUID, or an integer of 64 bits."""
    if chunk_id.isascii() and chunk_id.isdecimal():
        return int(chunk_id) < 1 << 64 and str(int(chunk_id)) == chunk_id
    try:
        return str(UUID(chunk_id)) == chunk_id
    except ValueError:
        return False


def _path(name: str) -> str:
    """The path to a metadata field, quoted where its name asks for it."""
    return f"{METADATA}.{name}" if _PLAIN.fullmatch(name) else f'{METADATA}."{name}"'

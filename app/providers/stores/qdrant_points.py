"""Points, collection layout and filters of a Qdrant server.

A point is one chunk. Our collections have two named vectors to search, ``dense`` (cosine) of ``indexed_text`` and
``bm25`` (sparse, modifier IDF), and ``sentences`` (multivector), one row per sentence. The payload is that of
langchain-qdrant, ``{"page_content": str, "metadata": {...}}``. Other pipelines' collections need only a dense vector.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from qdrant_client import models

from app.providers.embeddings.vectors import Vectors, unit
from app.providers.stores.filters import AFTER_LAST_DAY, FIRST_DAY, SOURCES, Condition
from app.providers.stores.hybrid import SIMILARITY_SHARE, Candidate, HybridQuery, highest
from app.providers.stores.layout import METADATA, Point, point_id
from app.providers.stores.payloads import NESTED, as_candidate, as_point, with_text

DENSE, SPARSE, SENTENCES = "dense", "bm25", "sentences"
INDEXED_PATHS = tuple(f"{METADATA}.{name}" for name in ("document_id", "source", "status", "priority"))
"""Payload fields with a keyword index: those that filters and deletes ask for."""
_PLAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_UNSCORED = {"$score[0]": 0.0, "$score[1]": 0.0}
"""Scores of a chunk without that vector, or without any of the words."""


class CollectionLayout(NamedTuple):
    """A collection's vector names, "" where missing; a ``dense`` of "" is the unnamed vector.

    ``cosine``: the server scores by it. ``ours``: our layout, with nested metadata alone.
    """

    size: int
    cosine: bool
    dense: str
    sparse: str
    sentences: str
    ours: bool


def layout_of(info: models.CollectionInfo) -> CollectionLayout:
    """Read a collection's description. Raises ``ValueError`` when it holds no dense vector.

    A sparse vector counts where the server weighs it by IDF, as BM25 needs it.
    """
    params = info.config.params
    described = params.vectors
    vectors = described if isinstance(described, dict) else {"": described} if described else {}
    single = [name for name, vector in vectors.items() if vector.multivector_config is None]
    if not single:
        raise ValueError("the collection holds no dense vector")
    dense = DENSE if DENSE in single else single[0]
    weighed = [name for name, vector in (params.sparse_vectors or {}).items() if vector.modifier == "idf"]
    sparse = SPARSE if SPARSE in weighed else weighed[0] if weighed else ""
    sentences = SENTENCES if SENTENCES in vectors and SENTENCES not in single else ""
    ours = (dense, sparse) == (DENSE, SPARSE) and set(INDEXED_PATHS) <= set(info.payload_schema)
    chosen = vectors[dense]
    return CollectionLayout(int(chosen.size), chosen.distance == models.Distance.COSINE, dense, sparse, sentences, ours)


def collection_config(size: int) -> dict[str, Any]:
    """The arguments that create a collection in our layout."""
    cosine = models.VectorParams(size=size, distance=models.Distance.COSINE)
    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    sentences = {
        "multivector_config": several,
        "datatype": models.Datatype.FLOAT16,
        "hnsw_config": models.HnswConfigDiff(m=0),  # read, never searched
        "on_disk": True,
    }
    return {
        "vectors_config": {DENSE: cosine, SENTENCES: cosine.model_copy(update=sentences)},
        "sparse_vectors_config": {SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        "on_disk_payload": True,
    }


def point_struct(point: Point, layout: CollectionLayout) -> models.PointStruct:
    """A chunk as a point, with the vectors that the collection holds."""
    dense, sparse, sentences = layout.dense, layout.sparse, layout.sentences
    vector: dict[str, Any] = {dense: point.dense.tolist()}
    if sparse:
        weights = point.weights()
        vector[sparse] = models.SparseVector(indices=list(weights), values=list(weights.values()))
    if sentences and len(point.sentences):
        vector[sentences] = point.sentences.astype(np.float64).round(5).tolist()  # the server keeps float16
    unnamed = not dense and len(vector) == 1
    return models.PointStruct(
        id=point_id(point.chunk_id), vector=vector[""] if unnamed else vector, payload=point.payload
    )


def search_request(
    query: HybridQuery,
    layout: CollectionLayout,
    limit: int,
    chosen: models.Filter | None,
    idf: Mapping[int, float],
) -> models.QueryRequest:
    """The request for the best of *limit* chunks per channel, with all their vectors.

    The server takes both channels' chunks together, scores each in both, and returns the ``query.keep`` best by cosine
    and BM25, weighted as ``app.pipeline.retriever`` weights them. Scores other than cosines cannot be weighted: then
    all of them are returned, to be measured by their vectors.
    """
    names = [name for name in (layout.dense, layout.sparse, layout.sentences) if name]
    asked: dict[str, Any] = {"filter": chosen, "with_payload": True, "with_vector": names if layout.dense else True}
    nearest: dict[str, Any] = {"query": query.dense.tolist(), "using": layout.dense or None}
    most = highest(query.terms, idf)
    if not most:
        return models.QueryRequest(**nearest, **asked, limit=query.keep or limit)
    weights = models.SparseVector(indices=list(query.terms), values=[1.0] * len(query.terms))
    matching: dict[str, Any] = {"query": weights, "using": layout.sparse}
    channels = [models.Prefetch(**channel, limit=limit) for channel in (nearest, matching)]
    if not layout.cosine:
        rank_fusion = models.FusionQuery(fusion=models.Fusion.RRF)
        return models.QueryRequest(prefetch=channels, query=rank_fusion, limit=2 * limit, **asked)
    both = [models.Prefetch(**channel, prefetch=channels, limit=2 * limit) for channel in (nearest, matching)]
    cosine = models.MultExpression(mult=[SIMILARITY_SHARE, "$score[0]"])
    keyword = models.MultExpression(mult=[(1.0 - SIMILARITY_SHARE) / most, "$score[1]"])
    fused = models.FormulaQuery(formula=models.SumExpression(sum=[cosine, keyword]), defaults=_UNSCORED)
    return models.QueryRequest(prefetch=both, query=fused, limit=query.keep or 2 * limit, **asked)


def vectors_of(record: Any) -> dict[str, Any]:
    """The vectors of a stored point by name, "" for the unnamed one."""
    vector = record.vector
    return vector if isinstance(vector, dict) else {} if vector is None else {"": vector}


def sparse_of(record: Any, layout: CollectionLayout) -> dict[int, float] | None:
    """The BM25 weights of a stored point by dimension; None where it has none."""
    vector = vectors_of(record).get(layout.sparse) if layout.sparse else None
    return None if vector is None else dict(zip(vector.indices, vector.values, strict=True))


def sentences_of(record: Any, layout: CollectionLayout) -> Vectors:
    """The sentence vectors of a stored point, float32 [n, d]."""
    rows = vectors_of(record).get(layout.sentences) if layout.sentences else None
    return unit(np.asarray(rows or [], np.float32).reshape(-1, layout.size))


def candidate_of(record: Any, layout: CollectionLayout, text_field: str) -> Candidate:
    """A stored point as a candidate, its text read from *text_field*, or "" where that is known."""
    dense = unit(vectors_of(record)[layout.dense])
    sparse, sentences = sparse_of(record, layout), sentences_of(record, layout)
    return as_candidate(record.id, str(record.id), with_text(record.payload, text_field), dense, sparse, sentences)


def point_of(record: Any, layout: CollectionLayout, text_field: str) -> Point:
    """A stored point as a ``Point``; *text_field* as for ``candidate_of``."""
    dense, sentences = unit(vectors_of(record)[layout.dense]), sentences_of(record, layout)
    return as_point(str(record.id), with_text(record.payload, text_field), dense, sentences, sparse_of(record, layout))


def point_ids(chunk_id: str) -> list[Any]:
    """The ids that the point of a chunk may have: ours, and its own, as another pipeline's may have no other."""
    ids: list[Any] = [point_id(chunk_id)]
    with suppress(ValueError):
        own = int(chunk_id) if chunk_id.isdecimal() else UUID(chunk_id)
        if str(own) == chunk_id and (isinstance(own, UUID) or own < 1 << 64):
            ids.append(own if isinstance(own, int) else chunk_id)
    return ids


def qdrant_filter(conditions: Sequence[Condition], *, nested: bool) -> models.Filter | None:
    """The server's filter. Where metadata is not known to be *nested*, all places are asked."""
    return models.Filter(must=[_any(condition, nested) for condition in conditions]) if conditions else None


def present(field: str, *, nested: bool) -> models.Filter:
    """The filter for points that have a metadata field; *nested* as for ``qdrant_filter``."""
    paths = _paths([field], nested=nested)
    empty = [models.IsEmptyCondition(is_empty=models.PayloadField(key=path)) for path in paths]
    return models.Filter(should=[models.Filter(must_not=[field]) for field in empty])


def _any(condition: Condition, nested: bool) -> Any:
    tests = [{"match": match} for match in _matches(condition)]
    tests += [{"range": models.Range(gte=value, lte=value)} for value in condition.values if isinstance(value, float)]
    if condition.days:
        first, end = (None if day in (FIRST_DAY, AFTER_LAST_DAY) else day for day in condition.days)
        tests.append({"range": models.DatetimeRange.model_validate({"gte": first, "lt": end})})
    if not tests:
        return models.HasIdCondition(has_id=[])
    fields = [field for field in condition.fields if not nested or field not in SOURCES[1:]]
    paths = _paths(fields, nested=nested)
    return models.Filter(should=[models.FieldCondition(key=path, **test) for path in paths for test in tests])


def _matches(condition: Condition) -> list[Any]:
    """The exact matches of a condition: the server has one for all texts, one for all whole numbers."""
    texts: list[Any] = [value for value in condition.values if isinstance(value, str)]
    numbers: list[Any] = [value for value in condition.values if isinstance(value, int) and not isinstance(value, bool)]
    flags = [models.MatchValue(value=value) for value in condition.values if isinstance(value, bool)]
    return [*(models.MatchAny(any=some) for some in (texts, numbers) if some), *flags]


def _paths(fields: Sequence[str], *, nested: bool) -> list[str]:
    quoted = [name if _PLAIN.fullmatch(name) else f'"{name}"' for name in fields]
    paths = [f"{parent}.{name}" for parent in ((METADATA,) if nested else NESTED) for name in quoted]
    return paths if nested else [*paths, *fields]

"""What a collection of the embedded engine is made with: its vectors, how they are kept, and how they are indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.providers.layout import DENSE, SPARSE

if TYPE_CHECKING:
    import qdrant_edge as edge

LINKS, BUILD_EF, SEARCH_EF, INDEX_KB, FULL_SCAN_KB = 24, 200, 128, 5_000, 10_000
"""HNSW's m, ef_construction and ef (Malkov and Yashunin, 2016), above the engine's own 16, 100 and 100: of the ten
nearest in 12,000 chunks those missed one in a hundred. Segments get a graph from ``INDEX_KB`` of vectors on: the
engine's own 10,000 would pass over the 5,000 chunks at which ``edge_optimizer`` begins. Where a filter leaves fewer KB
than ``FULL_SCAN_KB`` they are scanned. What is found at which size and cost: ``make bench ARGS=scale``."""

SEGMENTS, SEGMENT_KB = 2, 600_000
"""Segments that are put together while there are more, and KB of vectors that one may come to: 390,000 chunks of 384
dimensions. Each is searched by itself, so a million chunks cost less in three than in the six that the engine's own
limits, which depend on the number of processors, make of them; a graph for all was not built in ten minutes
(``bench/NOTES.md``)."""

FILTERED_EF = 48
"""ef under a filter, where the search goes on past points that do not pass (ACORN-1; Patel and others, 2024, "ACORN:
Performant and Predicate-Agnostic Search Over Vector Embeddings and Structured Data"). Without that, and with an ef of
128, a filter that leaves half of 100,000 chunks costs as much and hides a quarter of the ten nearest
(``bench/NOTES.md``)."""

QUANTILE, OVERSAMPLING = 0.99, 2.0
"""The graph is searched by vectors of one byte a dimension, whose bounds leave out one value in a hundred, for twice as
many as are wanted; those are measured anew with the vectors themselves. A search then takes half the processor time,
and finds no fewer of the nearest (``bench/NOTES.md``)."""


def edge_config(size: int) -> edge.EdgeConfig:
    """For vectors of *size* dimensions. A collection keeps what it was made with until it is exported and imported."""
    import qdrant_edge as edge

    by_bytes = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, QUANTILE, memory=edge.Memory.Cached)
    # "On disk" is memory-mapped: the pages in use stay in the system's cache. Otherwise the engine reads files of 32 MB
    # in full when it opens, for a garden of any size.
    per_chunk = edge.EdgeVectorParams(
        size=size, distance=edge.Distance.Cosine, on_disk=True, quantization_config=by_bytes
    )
    return edge.EdgeConfig(
        vectors={DENSE: per_chunk},
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        hnsw_config=edge.HnswIndexConfig(m=LINKS, ef_construct=BUILD_EF, full_scan_threshold=FULL_SCAN_KB),
        optimizers=edge.EdgeOptimizersConfig(
            default_segment_number=SEGMENTS, max_segment_size=SEGMENT_KB, indexing_threshold=INDEX_KB
        ),
        max_search_threads=1,  # a second one costs a fifth more processor time a search, and Python waits all the same
    )

"""What a collection of the embedded engine is made with: its vectors, how they are kept, and how they are indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.providers.layout import DENSE, SENTENCES, SPARSE

if TYPE_CHECKING:
    import qdrant_edge as edge

LINKS, BUILD_EF, SEARCH_EF, FULL_SCAN_KB = 24, 200, 128, 10_000
"""HNSW's m, ef_construction and ef (Malkov and Yashunin, 2016), above the engine's own 16, 100 and 100: of the ten
nearest in 12,000 chunks those missed one in a hundred. Segments of fewer KB are scanned. What is found at which size
and cost: ``make bench ARGS=scale``."""


def edge_config(size: int) -> edge.EdgeConfig:
    """For vectors of *size* dimensions."""
    import qdrant_edge as edge

    per_sentence = edge.EdgeVectorParams(
        size=size,
        distance=edge.Distance.Cosine,
        multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
        datatype=edge.VectorStorageDatatype.Float16,
        on_disk=True,
        # Read by point, never searched: m=0 builds no graph over them.
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=10),
    )
    # "On disk" is memory-mapped: the pages in use stay in the system's cache. Otherwise the engine reads files of 32 MB
    # in full when it opens, for a garden of any size.
    per_chunk = edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine, on_disk=True)
    return edge.EdgeConfig(
        vectors={DENSE: per_chunk, SENTENCES: per_sentence},
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        hnsw_config=edge.HnswIndexConfig(m=LINKS, ef_construct=BUILD_EF, full_scan_threshold=FULL_SCAN_KB),
    )

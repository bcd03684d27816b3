"""The index under a filter: what passes is found, however much does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import qdrant_edge as edge

from app.providers import edge_optimize
from app.providers.edge_config import edge_config
from app.providers.edge_queries import SCATTERED
from app.providers.edge_shard import BATCH, Shard
from app.providers.layout import INDEXED_FIELDS, METADATA, Point

SIZE, COUNT, DOCUMENTS, LIMIT = 64, 4_000, 200, 10


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shard]:
    """Chunks in sixty clusters, with an index; the engine's own threshold would go without one for so few."""
    path = tmp_path_factory.mktemp("filtered") / "shard-1"
    yield from indexed(path, edge.HnswIndexConfig(m=24, ef_construct=200, full_scan_threshold=10))


@pytest.fixture(scope="module")
def poorly_linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shard]:
    """The same with two links a chunk: a small collection in which searches get stuck as in a large one."""
    path = tmp_path_factory.mktemp("stuck") / "shard-1"
    yield from indexed(path, edge.HnswIndexConfig(m=2, ef_construct=4, full_scan_threshold=10))


def indexed(path: Path, graph: edge.HnswIndexConfig) -> Iterator[Shard]:
    path.mkdir()
    config = edge_config(SIZE)
    made = edge.EdgeShard.create(
        str(path),
        edge.EdgeConfig(
            vectors=config.vectors,
            sparse_vectors=config.sparse_vectors,
            hnsw_config=graph,
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=10),
        ),
    )
    for name in INDEXED_FIELDS:
        made.update(edge.UpdateOperation.create_field_index(f"{METADATA}.{name}", edge.PayloadSchemaType.Keyword))
    made.close()
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(60, SIZE))[chance.integers(0, 60, COUNT)] + chance.normal(size=(COUNT, SIZE))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    nothing = np.zeros((0, SIZE), np.float32)
    opened = Shard(path)
    for start in range(0, COUNT, BATCH):
        opened.upsert(
            [Point(f"c{n}", "x", fields(n), rows[n], nothing) for n in range(start, min(start + BATCH, COUNT))]
        )
    opened.close()
    subprocess.run([sys.executable, edge_optimize.__file__, str(path)], check=True)
    opened = Shard(path)
    assert opened.unindexed() <= COUNT // 2
    yield opened
    opened.close()


def fields(number: int) -> dict[str, Any]:
    return {"chunk_id": f"c{number}", "document_id": f"d{number % DOCUMENTS}", "source": f"s{number % 2}"}


def documents(count: int) -> list[str]:
    return [f"d{number}" for number in range(count)]


@pytest.mark.parametrize(
    "where",
    [None, {"source": "s1"}, {"source": ["s0", "s1"]}, {"document_id": documents(20)}],
    ids=["all", "half", "both", "a tenth"],
)
def test_the_nearest_that_pass_are_found(shard: Shard, where: dict[str, Any] | None) -> None:
    """Of the ten nearest that pass the filter nine in ten and more are found through the index."""
    assert found_of_ten(shard, where) > 0.9


def test_of_many_values_every_chunk_is_measured(poorly_linked: Shard) -> None:
    """Under a filter by many values the ten nearest are found even where the index alone misses most of them."""
    assert found_of_ten(poorly_linked, {"document_id": documents(SCATTERED)}) < 0.9
    assert found_of_ten(poorly_linked, {"document_id": documents(SCATTERED + 1)}) == 1.0
    assert found_of_ten(poorly_linked, {"source": "s1", "document_id": documents(SCATTERED + 1)}) == 1.0


def found_of_ten(shard: Shard, where: dict[str, Any] | None) -> float:
    """The share of the ten nearest of those that pass that a search finds, over fifty questions."""
    asked = list(np.random.default_rng(2).normal(size=(50, SIZE)).astype(np.float32))
    there = shard.search(asked, [], LIMIT, where, exact=True)
    found = shard.search(asked, [], LIMIT, where)
    shares = [len({h.id for h in a} & {h.id for h in b}) / LIMIT for a, b in zip(found, there, strict=True)]
    return float(np.mean(shares))

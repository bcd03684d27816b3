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

from app.providers import edge_optimize, edge_queries
from app.providers.edge_config import edge_config
from app.providers.edge_shard import BATCH, Shard
from app.providers.layout import INDEXED_FIELDS, METADATA, Point, point_id
from app.providers.vectors import Vectors

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
    rows, nothing = vectors(), np.zeros((0, SIZE), np.float32)
    opened = Shard(path)
    for start in range(0, COUNT, BATCH):
        opened.upsert(
            [Point(f"c{n}", "x", fields(n), rows[n], nothing) for n in range(start, min(start + BATCH, COUNT))]
        )
    opened.close()
    subprocess.run([sys.executable, edge_optimize.__file__, str(path)], check=True)
    opened = Shard(path)
    assert opened.unindexed() == 0
    yield opened
    opened.close()


def vectors() -> Vectors:
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(60, SIZE))[chance.integers(0, 60, COUNT)] + chance.normal(size=(COUNT, SIZE))
    scaled: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


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


def test_under_rare_values_every_chunk_that_passes_is_measured(
    poorly_linked: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter by many values finds all of the ten nearest, where the index misses some; so it does with another."""
    rare, both = {"document_id": documents(40)}, {"document_id": documents(40), "source": "s1"}
    assert found_of_ten(poorly_linked, rare) == found_of_ten(poorly_linked, both) == 1.0
    monkeypatch.setattr(edge_queries, "MOST_SCANNED_KB", 800 * SIZE * 4 / 1024 - 100)
    assert found_of_ten(poorly_linked, rare) < 1.0, "more chunks than are gone through one by one"
    monkeypatch.undo()
    monkeypatch.setattr(edge_queries, "FULL_SCAN_KB", 1)
    assert found_of_ten(poorly_linked, rare) < 1.0, "values as frequent as the index has links for"


def test_a_list_that_no_index_can_tell_of_is_left_to_the_search(poorly_linked: Shard) -> None:
    """Values that are no text, none at all among them, and a field without an index are filters as ever."""
    asked = [vectors()[7]]
    for where in (
        {"document_id": [*documents(40), None]},
        {"document_id": [*documents(40), 3]},
        {"chunk_id": [f"c{number}" for number in range(0, COUNT, 7)]},
    ):
        found = poorly_linked.search(asked, [], LIMIT, where)[0]
        assert found
        assert not poorly_linked._is_scanned(where, SIZE)


def found_of_ten(shard: Shard, where: dict[str, Any] | None) -> float:
    """The share of the ten nearest of those that pass that a search finds, over fifty questions."""
    asked = np.random.default_rng(2).normal(size=(50, SIZE)).astype(np.float32)
    own = [number for number in range(COUNT) if passes(fields(number), where or {})]
    order = np.argsort(-(asked @ vectors()[own].T), axis=1)[:, :LIMIT]
    there = [{point_id(f"c{own[at]}") for at in row} for row in order.tolist()]
    found = shard.search(list(asked), [], LIMIT, where)
    return float(np.mean([len({str(hit.id) for hit in a} & b) / LIMIT for a, b in zip(found, there, strict=True)]))


def passes(chunk: dict[str, Any], where: dict[str, Any]) -> bool:
    return all(chunk[name] in (value if isinstance(value, list) else [value]) for name, value in where.items())

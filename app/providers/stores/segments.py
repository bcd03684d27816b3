"""Chunks as arrays to be searched: their vectors, their words, and from some size on a graph of nearest neighbours.

A segment holds the chunks of a range of ids. In memory it is made of rows of the database; saved, it is a folder of
numpy arrays and a usearch index, all of which are memory-mapped, so that processes share them. Nothing in it is needed:
what is missing or damaged is made again.

HNSW: Malkov and Yashunin, 2016, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable
Small World graphs".
"""

from __future__ import annotations

import json
import mmap
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Vectors = NDArray[np.float32]
WORD = np.dtype([("term", "<u4"), ("weight", "<f4")])
"""A BM25 dimension of a chunk and its weight there (``app.providers.stores.bm25``)."""
GRAPH_FROM = 8_192
"""Chunks from which on a saved segment has a graph; below it a scan takes no longer (``bench/NOTES.md``)."""
LINKS, BUILD_EF, SEARCH_EF = 16, 128, 96
"""HNSW's m, ef_construction and ef."""
OVERSAMPLING = 2
"""So many times more are taken from the graph, which has a byte a dimension, and measured by their vectors."""
SPARSE_SHARE = 0.1
"""Share of the chunks that pass a filter below which those are measured one by one."""
ARRAYS = ("ids", "dense", "terms", "starts", "rows", "weights")
GRAPH_FILE, SUMS_FILE = "graph.usearch", "sums.json"


class Segment:
    """``ids`` int64 [n], ascending; ``dense`` float32 [n, d]; the words as postings, sorted by term and row."""

    def __init__(self, arrays: Sequence[NDArray[Any]], graph: Any = None) -> None:
        self._arrays, self._graph = arrays, graph
        self.ids, self.dense, self._terms, self._starts, self._rows, self._weights = arrays

    @classmethod
    def read(cls, connection: sqlite3.Connection, size: int, low: int, high: int = 1 << 62) -> Segment:
        """Make one in memory, of the chunks with ids in (*low*, *high*], whose vectors have *size* dimensions."""
        between = "FROM chunks WHERE id > ? AND id <= ?"
        (count,) = connection.execute(f"SELECT count(*) {between}", (low, high)).fetchone()
        ids, dense, words = np.empty(count, np.int64), np.empty((count, size), np.float32), [np.zeros(0, WORD)]
        rows = connection.execute(f"SELECT id, dense, words {between} ORDER BY id", (low, high))
        for at, (own, vector, weighed) in enumerate(rows):
            ids[at], dense[at] = own, np.frombuffer(vector, "<f4")
            words.append(np.frombuffer(weighed, WORD))
        entries, owners = np.concatenate(words), np.repeat(np.arange(count), [len(one) for one in words[1:]])
        order = np.argsort(entries["term"], kind="stable")
        terms, firsts = np.unique(entries["term"][order], return_index=True)
        starts = np.append(firsts, len(order))
        return cls([ids, dense, terms, starts, owners[order].astype(np.uint32), entries["weight"][order]])

    @classmethod
    def open(cls, folder: Path) -> Segment:
        """Map a saved one. Raises ``OSError`` or ``ValueError`` when it is not as it was written.

        Vectors are not compared: those of what is found come from the database.
        """
        for name, sum_ in json.loads((folder / SUMS_FILE).read_text()).items():
            if checksum(folder / name) != sum_:
                raise ValueError(name)
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS]
        graph = None
        if len(arrays[0]) >= GRAPH_FROM:
            from usearch.index import Index

            try:
                graph = Index.restore(folder / GRAPH_FILE, view=True, expansion_search=SEARCH_EF)
            except RuntimeError as error:
                raise ValueError(GRAPH_FILE) from error
            if graph is None or len(graph) != len(arrays[0]):
                raise ValueError(GRAPH_FILE)
        return cls(arrays, graph)

    def save(self, folder: Path) -> None:
        """Write the arrays, and the graph where there are enough chunks. Raises ``OSError``."""
        folder.mkdir()
        for name, array in zip(ARRAYS, self._arrays, strict=True):
            np.save(folder / f"{name}.npy", array)
        if len(self) >= GRAPH_FROM:
            from usearch.index import Index

            graph = Index(ndim=self.dense.shape[1], dtype="i8", connectivity=LINKS, expansion_add=BUILD_EF)
            graph.add(np.arange(len(self), dtype=np.uint64), self.dense)
            try:
                graph.save(folder / GRAPH_FILE)
            except RuntimeError as error:
                raise OSError(str(error)) from error
        sums = {path.name: checksum(path) for path in folder.iterdir() if path.stem != "dense"}
        (folder / SUMS_FILE).write_text(json.dumps(sums))

    def __len__(self) -> int:
        return len(self.ids)

    def postings(self, term: int) -> tuple[NDArray[np.uint32], Vectors]:
        """The rows that have a BM25 dimension, ascending, and their weights."""
        at = int(np.searchsorted(self._terms, np.uint32(term)))
        if at == len(self._terms) or self._terms[at] != term:
            return self._rows[:0], self._weights[:0]
        start, end = self._starts[at : at + 2]
        return self._rows[start:end], self._weights[start:end]

    def nearest(self, query: Vectors, limit: int, mask: Mask | None) -> NDArray[np.intp]:
        """The rows of the *limit* nearest to a unit vector among those in the mask (None: all), in no order."""
        share = 1.0 if mask is None else int(np.count_nonzero(mask)) / len(self)
        if self._graph is not None and share >= SPARSE_SHARE:
            found = self._by_graph(query, limit, mask, share)
            if found is not None:
                return found
        rows = None if mask is None else np.flatnonzero(mask)
        if rows is None or share > 0.5:
            cosines = np.vecdot(self.dense, query)
            best = top(cosines if mask is None else np.where(mask, cosines, -2.0), limit)
            return best if mask is None else best[mask[best]]
        return rows[top(np.vecdot(self.dense[rows], query), limit)]

    def _by_graph(self, query: Vectors, limit: int, mask: Mask | None, share: float) -> NDArray[np.intp] | None:
        """The same through the graph; None when that finds too few in the mask."""
        wanted = min(len(self), int(OVERSAMPLING * limit / share))
        rows: NDArray[np.intp] = self._graph.search(query, wanted).keys.astype(np.intp)
        if mask is not None:
            rows = rows[mask[rows]]
            if len(rows) < min(limit, int(np.count_nonzero(mask))):
                return None
        return rows[top(np.vecdot(self.dense[rows], query), limit)]


def checksum(file: Path) -> int:
    """CRC-32 of a file."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return zlib.crc32(content)


def top(scores: Vectors, limit: int) -> NDArray[np.intp]:
    """Where the *limit* highest of these are, in no order."""
    return np.arange(len(scores)) if len(scores) <= limit else np.argpartition(scores, -limit)[-limit:]

"""Chunks as arrays to be searched: vectors, BM25 postings and, in large segments, an HNSW index.

A segment holds the chunks of a range of ids. In memory it is made of rows of the database; saved, it is a folder of
numpy arrays and a usearch index, memory-mapped so that processes share them. It is derived data: a segment that is
missing or damaged is made again. A ``View`` is one snapshot of a collection: its segments, and which chunks exist.

HNSW: Malkov and Yashunin, 2016, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable
Small World graphs".
"""

from __future__ import annotations

import json
import logging
import math
import mmap
import shutil
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.providers.stores.bm25 import highest
from app.providers.stores.hybrid import SIMILARITY_SHARE, HybridQuery

log = logging.getLogger("garden.store")
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Vectors = NDArray[np.float32]
WORD = np.dtype([("term", "<u4"), ("weight", "<f4")])
"""A BM25 dimension of a chunk and its weight there (``app.providers.stores.bm25``)."""
INDEX_FROM = 8_192
"""Chunks from which on a saved segment has an HNSW index; below it a scan takes no longer."""
LINKS, BUILD_EF, SEARCH_EF = 16, 128, 96
"""HNSW's m, ef_construction and ef."""
OVERSAMPLING = 2
"""The int8 index returns this many times more candidates, which are then measured by their float32 vectors."""
SPARSE_SHARE = 0.1
"""Share of chunks passing a filter below which those are measured one by one."""
ARRAYS = ("ids", "dense", "terms", "starts", "rows", "weights")
INDEX_FILE, CHECKSUMS_FILE = "index.usearch", "checksums.json"


class Segment:
    """``ids`` int64 [n], ascending; ``dense`` float32 [n, d]; the words as postings, sorted by term and row."""

    def __init__(self, arrays: Sequence[NDArray[Any]], index: Any = None) -> None:
        self._arrays, self._index = arrays, index
        self.ids, self.dense, self._terms, self._starts, self._rows, self._weights = arrays

    @classmethod
    def read(cls, connection: sqlite3.Connection, size: int, low: int, high: int = 1 << 62) -> Segment:
        """Make one in memory of the chunks with ids in (*low*, *high*], whose vectors have *size* dimensions."""
        between = "FROM chunks WHERE id > ? AND id <= ?"
        (count,) = connection.execute(f"SELECT count(*) {between}", (low, high)).fetchone()
        ids, dense, words = np.empty(count, np.int64), np.empty((count, size), np.float32), [np.zeros(0, WORD)]
        rows = connection.execute(f"SELECT id, dense, words {between} ORDER BY id", (low, high))
        for at, (own, vector, weights) in enumerate(rows):
            ids[at], dense[at] = own, np.frombuffer(vector, "<f4")
            words.append(np.frombuffer(weights, WORD))
        entries, owners = np.concatenate(words), np.repeat(np.arange(count), [len(one) for one in words[1:]])
        order = np.argsort(entries["term"], kind="stable")
        terms, firsts = np.unique(entries["term"][order], return_index=True)
        starts = np.append(firsts, len(order))
        return cls([ids, dense, terms, starts, owners[order].astype(np.uint32), entries["weight"][order]])

    @classmethod
    def open(cls, folder: Path) -> Segment:
        """Map a saved segment. Raises ``OSError`` or ``ValueError`` when a file is missing or damaged.

        Vectors have no checksum: those of what is found come from the database.
        """
        for name, expected in json.loads((folder / CHECKSUMS_FILE).read_text()).items():
            if file_checksum(folder / name) != expected:
                raise ValueError(name)
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS]
        index = None
        if len(arrays[0]) >= INDEX_FROM:
            from usearch.index import Index

            try:
                index = Index.restore(folder / INDEX_FILE, view=True, expansion_search=SEARCH_EF)
            except RuntimeError as error:
                raise ValueError(INDEX_FILE) from error
            if index is None or len(index) != len(arrays[0]):
                raise ValueError(INDEX_FILE)
        return cls(arrays, index)

    def save(self, folder: Path) -> None:
        """Write the arrays, and the index where there are enough chunks. Raises ``OSError``."""
        folder.mkdir()
        for name, array in zip(ARRAYS, self._arrays, strict=True):
            np.save(folder / f"{name}.npy", array)
        if len(self) >= INDEX_FROM:
            from usearch.index import Index

            index = Index(ndim=self.dense.shape[1], dtype="i8", connectivity=LINKS, expansion_add=BUILD_EF)
            index.add(np.arange(len(self), dtype=np.uint64), self.dense)
            try:
                index.save(folder / INDEX_FILE)
            except RuntimeError as error:
                raise OSError(str(error)) from error
        checksums = {path.name: file_checksum(path) for path in folder.iterdir() if path.stem != "dense"}
        (folder / CHECKSUMS_FILE).write_text(json.dumps(checksums))

    def __len__(self) -> int:
        return len(self.ids)

    def postings(self, term: int) -> tuple[NDArray[np.uint32], Vectors]:
        """The rows that have a BM25 dimension, and their weights."""
        at = int(np.searchsorted(self._terms, np.uint32(term)))
        if at == len(self._terms) or self._terms[at] != term:
            return self._rows[:0], self._weights[:0]
        start, end = self._starts[at : at + 2]
        return self._rows[start:end], self._weights[start:end]

    def nearest(self, query: Vectors, limit: int, mask: Mask | None) -> NDArray[np.intp]:
        """The rows of the *limit* nearest to a unit vector among those in the mask (None: all), in no order."""
        rows = None if mask is None else np.flatnonzero(mask)
        allowed = len(self) if rows is None else len(rows)
        if self._index is not None and allowed >= SPARSE_SHARE * len(self):
            wanted = min(len(self), OVERSAMPLING * limit * len(self) // allowed)
            near: NDArray[np.intp] = self._index.search(query, wanted).keys.astype(np.intp)
            near = near if mask is None else near[mask[near]]
            rows = near if len(near) >= min(limit, allowed) else rows
        best = top(np.vecdot(self.dense if rows is None else self.dense[rows], query), limit)
        return best if rows is None else rows[best]


def file_checksum(file: Path) -> int:
    """CRC-32 of a file."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return zlib.crc32(content)


def top(scores: Vectors, limit: int) -> NDArray[np.intp]:
    """The positions of the *limit* highest scores, in no order."""
    return np.arange(len(scores)) if len(scores) <= limit else np.argpartition(scores, -limit)[-limit:]


class View(NamedTuple):
    """One version of a collection, after so many ``writes``.

    ``parts`` are its segments by name, each with the mask of the chunks that still exist; the one named "" is in memory
    and holds the newest chunks.
    """

    writes: int
    parts: dict[str, tuple[Segment, Mask]]

    def hybrid(
        self, queries: Sequence[HybridQuery], limit: int, allowed: Ids | None
    ) -> tuple[list[list[int]], dict[int, float]]:
        """Per query the ids of the best of both channels, *limit* of each, best first; and the idf of every term."""
        count = sum(int(np.count_nonzero(mask)) for _, mask in self.parts.values())
        idf = {}
        for term in {term for query in queries for term in query.terms}:
            own = sum(int(np.count_nonzero(mask[one.postings(term)[0]])) for one, mask in self.parts.values())
            idf[term] = math.log(1.0 + (count - own + 0.5) / (own + 0.5))
        parts = [
            (one, mask if allowed is None else mask & np.isin(one.ids, allowed)) for one, mask in self.parts.values()
        ]
        return [_best(parts, query, idf, limit)[: query.keep] for query in queries], idf


def _best(parts: Sequence[tuple[Segment, Mask]], query: HybridQuery, idf: Mapping[int, float], limit: int) -> list[int]:
    found: list[tuple[float, int]] = []
    most = highest(query.terms, idf) or 1.0
    for segment, mask in parts:
        words = np.zeros(len(segment), np.float32)
        for term in query.terms:
            rows, weights = segment.postings(term)
            words[rows] += weights * np.float32(idf[term])
        matching = np.flatnonzero(words * mask)
        matching = matching[top(words[matching], limit)]
        rows = np.union1d(matching, segment.nearest(query.dense, limit, None if mask.all() else mask))
        cosines = np.minimum(np.vecdot(segment.dense[rows], query.dense), 1.0)
        scores = SIMILARITY_SHARE * cosines + (1 - SIMILARITY_SHARE) / most * words[rows]
        found += zip((-scores).tolist(), segment.ids[rows].tolist(), strict=True)
    return [own for _, own in sorted(found)]


def current(connection: sqlite3.Connection, folder: Path, known: View | None) -> View | None:
    """Return the view of what the connection sees, reusing the *known* one; None for an empty collection.

    A saved segment that cannot be opened is read from the database; the next build saves it again.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    if meta["size"] is None or (known is not None and known.writes == meta["writes"]):
        return known if meta["size"] is not None else None
    parts, last = {}, 0
    for name, low, last, at in connection.execute("SELECT name, low, high, at FROM segments ORDER BY low").fetchall():
        if known is not None and name in known.parts:
            (segment, mask), since = known.parts[name], known.writes
        else:
            try:
                segment = Segment.open(folder / name)
            except (OSError, ValueError, EOFError) as error:
                log.warning("segment_lost", extra={"segment": name, "reason": str(error)})
                shutil.rmtree(folder / name, ignore_errors=True)
                segment = Segment.read(connection, meta["size"], low, last)
            mask, since = np.ones(len(segment), bool), at
        gone = connection.execute("SELECT id FROM removed WHERE at > ? AND id > ? AND id <= ?", (since, low, last))
        ids = np.fromiter((own for (own,) in gone), np.int64)
        parts[name] = segment, mask & ~np.isin(segment.ids, ids)
    tail = Segment.read(connection, meta["size"], last)
    parts[""] = tail, np.ones(len(tail), bool)
    return View(meta["writes"], parts)

"""Chunks as arrays to be searched: vectors, BM25 postings and, where saved, an HNSW index.

A segment holds the chunks of a range of ids, in memory or as a folder of numpy arrays and a usearch index that
processes share by memory mapping. It is derived from the database, and made again when missing or damaged.

HNSW: Malkov and Yashunin, 2016, "… nearest neighbor search using Hierarchical Navigable Small World graphs".
"""

import logging
import math
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.providers.embeddings.vectors import Vectors
from app.providers.stores.database import WORD, stored_size, version_of
from app.providers.stores.hybrid import SIMILARITY_SHARE, HybridQuery, highest

log = logging.getLogger("garden.store")
Rankings = tuple[list[list[int]], dict[int, float]]
Mask = NDArray[np.bool_]  # of a segment's chunks: those that exist, or pass a filter
LINKS, BUILD_EF, SEARCH_EF = 16, 128, 256  # HNSW's m, ef_construction and ef
OVERSAMPLING = 2  # the int8 index returns so many times more candidates, which are measured by their float32 vectors
SPARSE_SHARE = 0.1  # below this share of chunks that pass a filter, those are measured one by one


class Segment(NamedTuple):
    """Postings: entry i says that term ``terms[i]`` has ``weights[i]`` in the chunk of row ``rows[i]``.

    ``ids`` are int64 [n], ascending; ``dense`` float32 [n, d]; postings are sorted by term and row.
    """

    ids: NDArray[np.int64]
    dense: Vectors
    terms: NDArray[np.uint32]
    rows: NDArray[np.uint32]
    weights: Vectors
    index: Any = None

    @classmethod
    def read(cls, connection: sqlite3.Connection, low: int, high: int = 1 << 62) -> Self:
        """Make one in memory of the chunks with ids in (*low*, *high*]."""
        chunks = "SELECT id, dense, words FROM chunks WHERE id > ? AND id <= ? ORDER BY id"
        ids, dense, words = tuple(zip(*connection.execute(chunks, (low, high)), strict=True)) or ((), (), ())
        vectors = np.frombuffer(b"".join(dense), "<f4").reshape(len(ids), stored_size(connection) or 0)
        entries = np.frombuffer(b"".join(words), WORD)
        rows = np.repeat(np.arange(len(ids), dtype=np.uint32), [len(column) // WORD.itemsize for column in words])
        order = np.argsort(entries["term"], kind="stable")
        return cls(np.array(ids, np.int64), vectors, entries["term"][order], rows[order], entries["weight"][order])

    @classmethod
    def open(cls, folder: Path, checksum: int) -> Self:
        """Map a saved segment. Raises ``OSError`` or ``ValueError`` when a file is missing or damaged."""
        if _checksum(folder) != checksum:
            raise ValueError("its checksum is wrong")
        arrays = (np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in cls._fields[:-1])
        return cls._make([*arrays, _usearch().restore(folder / "index.usearch", view=True, expansion_search=SEARCH_EF)])

    def save(self, folder: Path) -> int:
        """Write the arrays and an index; return a checksum. Raises ``OSError`` or ``RuntimeError``."""
        folder.mkdir()
        for name, array in zip(self._fields[:-1], self, strict=False):
            np.save(folder / f"{name}.npy", array)
        index = _usearch()(ndim=self.dense.shape[1], dtype="i8", connectivity=LINKS, expansion_add=BUILD_EF)
        index.add(np.arange(len(self.ids), dtype=np.uint64), self.dense, threads=1)  # several lose chunks
        index.save(folder / "index.usearch")
        return _checksum(folder)

    def postings(self, term: int) -> tuple[NDArray[np.uint32], Vectors]:
        """The rows that have a BM25 dimension, and their weights."""
        start, end = np.searchsorted(self.terms, np.array([term, term + 1], np.uint32))
        return self.rows[start:end], self.weights[start:end]

    def nearest(self, query: Vectors, limit: int, mask: Mask) -> NDArray[np.intp]:
        """The rows in the mask *limit* nearest to a unit vector, unordered."""
        rows = np.flatnonzero(mask)
        if self.index is not None and len(rows) >= SPARSE_SHARE * len(mask):
            count = min(len(mask), OVERSAMPLING * limit * len(mask) // max(1, len(rows)))
            near: NDArray[np.intp] = self.index.search(query, count).keys.astype(np.intp)
            near = near[mask[near]]
            rows = near if len(near) >= min(limit, len(rows)) else rows
        return rows[_top(np.vecdot(self.dense[rows], query), limit)]


def ids_of(rows: Iterable[tuple[int]]) -> NDArray[np.int64]:
    """The only column of what was selected."""
    return np.fromiter((row_id for (row_id,) in rows), np.int64)


def _usearch() -> Any:
    """usearch's index class. ONNX Runtime must be loaded before it, or the process crashes."""
    import onnxruntime  # noqa: F401
    from usearch.index import Index

    return Index


def _checksum(folder: Path) -> int:
    """CRC-32 of a segment's files without the vectors, which results re-read from the database."""
    total = 0
    for file in sorted({*folder.iterdir()} - {folder / "dense.npy"}):
        total = zlib.crc32(np.memmap(file, mode="r").data, total)
    return total


def _top(scores: Vectors, limit: int) -> NDArray[np.intp]:
    """The positions of the *limit* highest scores, in no order."""
    return np.arange(len(scores)) if len(scores) <= limit else np.argpartition(scores, -limit)[-limit:]


Masked = tuple[Segment, Mask]


class View(NamedTuple):
    """One version of a collection, after ``writes`` writes: its segments with masks of existing chunks.

    ``segments`` has them by name; the one named "" is in memory and holds the newest chunks.
    """

    writes: int | None = None
    segments: Mapping[str, Masked] = {}

    def updated(self, connection: sqlite3.Connection, folder: Path) -> "View":
        """Return the view of the connection's snapshot, reusing segments that are still in use."""
        writes = version_of(connection)
        if writes == self.writes:
            return self
        segments, last, removed = {}, 0, ids_of(connection.execute("SELECT id FROM removed"))
        for name, low, last, _, checksum in connection.execute("SELECT * FROM segments ORDER BY low"):
            try:
                segment = self.segments[name][0] if name in self.segments else Segment.open(folder / name, checksum)
            except (OSError, ValueError) as error:
                log.warning("segment_lost", extra={"segment": name, "reason": str(error)})
                shutil.rmtree(folder / name, ignore_errors=True)  # the next build saves it again
                segment = Segment.read(connection, low, last)
            segments[name] = segment, ~np.isin(segment.ids, removed)
        tail = Segment.read(connection, last)
        return View(writes, {**segments, "": (tail, np.ones(len(tail.ids), bool))})

    def hybrid(self, queries: Sequence[HybridQuery], limit: int, allowed: NDArray[np.int64] | None) -> Rankings:
        """Per query the best ids of both channels, *limit* each, best first; and every term's idf."""
        segments = [segment for segment in self.segments.values() if len(segment[0].ids)]
        count, idf = sum(np.count_nonzero(mask) for _, mask in segments), {}
        for term in {term for query in queries for term in query.terms}:
            frequency = sum(np.count_nonzero(mask[segment.postings(term)[0]]) for segment, mask in segments)
            idf[term] = math.log(1.0 + (count - frequency + 0.5) / (frequency + 0.5))
        chosen = segments
        if allowed is not None:
            chosen = [(segment, mask & np.isin(segment.ids, allowed)) for segment, mask in segments]
        return [_best(chosen, query, idf, limit)[: query.keep] for query in queries], idf


def _best(segments: Sequence[Masked], query: HybridQuery, idf: Mapping[int, float], limit: int) -> list[int]:
    """Return the ids of the *limit* best per channel over all *segments*, by the fused score."""
    hits = [(np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.float32))]
    for segment, mask in segments:
        words = np.zeros(len(segment.ids), np.float32)
        for term in query.terms:
            rows, weights = segment.postings(term)
            words[rows] += weights * np.float32(idf[term])
        matching = np.flatnonzero(words * mask)
        rows = np.union1d(matching[_top(words[matching], limit)], segment.nearest(query.dense, limit, mask))
        cosines = np.minimum(np.vecdot(segment.dense[rows], query.dense), 1.0)
        hits.append((segment.ids[rows], cosines, words[rows]))
    ids, cosines, words = map(np.concatenate, zip(*hits, strict=True))
    matching = np.flatnonzero(words)
    rows = np.union1d(matching[_top(words[matching], limit)], _top(cosines, limit))
    scores = SIMILARITY_SHARE * cosines + (1 - SIMILARITY_SHARE) / (highest(query.terms, idf) or 1.0) * words
    return [int(row_id) for row_id in ids[rows[np.lexsort((ids[rows], -scores[rows]))]]]

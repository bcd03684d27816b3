"""A snapshot of a collection as it is searched: its segments, which of their chunks still exist, and the search."""

from __future__ import annotations

import logging
import math
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.providers.stores.bm25 import highest
from app.providers.stores.hybrid import SIMILARITY_SHARE, HybridQuery
from app.providers.stores.segments import Mask, Segment, Vectors, top

log = logging.getLogger("garden.store")
Ids = NDArray[np.int64]
Postings = Mapping[int, Sequence[tuple[NDArray[np.uint32], Vectors]]]
"""Per term, for each segment, the rows that have it and their weights."""


@dataclass(frozen=True, slots=True)
class View:
    """One version of a collection: after so many ``writes``.

    ``masks`` say which chunks of each segment still exist. The first segments are the saved ones, of these ``names``;
    the last one is in memory and holds the chunks that are newer.
    """

    writes: int
    names: tuple[str, ...]
    segments: tuple[Segment, ...]
    masks: tuple[Mask, ...]

    def hybrid(
        self, queries: Sequence[HybridQuery], limit: int, allowed: Ids | None
    ) -> tuple[list[list[int]], dict[int, float]]:
        """Per query the ids of the best of both channels, *limit* of each, best first; and the idf of every term."""
        existing = self.masks if allowed is None else [_among(one, allowed) & its for one, its in self._pairs()]
        masks = [None if mask.all() else mask for mask in existing]
        terms = {term for query in queries for term in query.terms}
        postings = {term: [segment.postings(term) for segment in self.segments] for term in terms}
        idf = self._idf(postings)
        return [self._best(query, postings, idf, masks, limit)[: query.keep] for query in queries], idf

    def _pairs(self) -> list[tuple[Segment, Mask]]:
        return list(zip(self.segments, self.masks, strict=True))

    def _best(
        self,
        query: HybridQuery,
        postings: Postings,
        idf: Mapping[int, float],
        masks: Sequence[Mask | None],
        limit: int,
    ) -> list[int]:
        found: list[tuple[float, int]] = []
        most = highest(query.terms, idf) or 1.0
        for at, (segment, mask) in enumerate(zip(self.segments, masks, strict=True)):
            words = np.zeros(len(segment), np.float32)
            for term in query.terms:
                rows, weights = postings[term][at]
                words[rows] += weights * np.float32(idf[term])
            matching = np.flatnonzero(words if mask is None else words * mask)
            matching = matching[top(words[matching], limit)]
            rows = np.union1d(matching, segment.nearest(query.dense, limit, mask))
            cosines = np.minimum(np.vecdot(segment.dense[rows], query.dense), 1.0)
            scores = SIMILARITY_SHARE * cosines + (1 - SIMILARITY_SHARE) / most * words[rows]
            found += zip((-scores).tolist(), segment.ids[rows].tolist(), strict=True)
        return [own for _, own in sorted(found)]

    def _idf(self, postings: Postings) -> dict[int, float]:
        count = sum(int(np.count_nonzero(mask)) for mask in self.masks)
        complete = [bool(mask.all()) for mask in self.masks]
        idf = {}
        for term, found in postings.items():
            own = sum(
                len(rows) if every else int(np.count_nonzero(mask[rows]))
                for (rows, _), mask, every in zip(found, self.masks, complete, strict=True)
            )
            idf[term] = math.log(1.0 + (count - own + 0.5) / (own + 0.5))
        return idf


def current(connection: sqlite3.Connection, folder: Path, known: View | None) -> View | None:
    """Return the view of what the connection sees, reusing the *known* one; None for an empty collection.

    A saved segment that cannot be opened is read from the database.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    if meta["size"] is None:
        return None
    if known is not None and known.writes == meta["writes"]:
        return known
    opened = dict(zip(known.names, known._pairs(), strict=False)) if known else {}
    names, pairs, last = [], [], 0
    for name, low, high, at in connection.execute("SELECT name, low, high, at FROM segments ORDER BY low").fetchall():
        if known is not None and name in opened:
            (segment, mask), since = opened[name], known.writes
        else:
            segment, since = _opened(connection, folder / name, meta["size"], low, high), at
            mask = np.ones(len(segment), bool)
        gone = "SELECT id FROM removed WHERE at > ? AND id > ? AND id <= ? ORDER BY id"
        ids = np.fromiter((own for (own,) in connection.execute(gone, (since, low, high))), np.int64)
        names.append(name)
        pairs.append((segment, mask & ~_among(segment, ids)))
        last = high
    tail = Segment.read(connection, meta["size"], last)
    segments, masks = zip(*pairs, (tail, np.ones(len(tail), bool)), strict=True)
    return View(meta["writes"], tuple(names), segments, masks)


def _opened(connection: sqlite3.Connection, folder: Path, size: int, low: int, high: int) -> Segment:
    try:
        return Segment.open(folder)
    except (OSError, ValueError, EOFError) as error:
        log.warning("segment_lost", extra={"segment": folder.name, "reason": str(error)})
        shutil.rmtree(folder, ignore_errors=True)  # the next build makes it again
        return Segment.read(connection, size, low, high)


def _among(segment: Segment, ids: Ids) -> Mask:
    """Which chunks of a segment have one of these ids, which are ascending."""
    return np.isin(segment.ids, ids, assume_unique=True)

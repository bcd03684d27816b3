"""A collection as it is searched: its segments, which of their chunks still stand, and the search itself."""

from __future__ import annotations

import logging
import math
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.providers.stores.bm25 import highest
from app.providers.stores.hybrid import SIMILARITY_SHARE, HybridQuery
from app.providers.stores.segments import Mask, Segment, Vectors, top

log = logging.getLogger("garden.store")
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class View:
    """One state of a collection: after so many ``writes``.

    ``masks`` say which chunks of each segment still stand. The first segments are the saved ones, of these ``names``;
    the last one is in memory and holds the chunks that are newer.
    """

    writes: int
    names: tuple[str, ...]
    segments: tuple[Segment, ...]
    masks: tuple[Mask, ...]

    def near(self, vector: Vectors, limit: int, allowed: Ids | None) -> list[tuple[int, float]]:
        """The ids of the *limit* nearest chunks with their cosines, highest first."""
        found: list[tuple[int, float]] = []
        for segment, mask in zip(self.segments, self._passing(allowed), strict=True):
            rows = segment.nearest(vector, limit, mask)
            found += zip(segment.ids[rows].tolist(), (np.vecdot(segment.dense[rows], vector)).tolist(), strict=True)
        return sorted(found, key=lambda one: (-one[1], one[0]))[:limit]

    def hybrid(
        self, queries: Sequence[HybridQuery], limit: int, allowed: Ids | None
    ) -> tuple[list[list[int]], dict[int, float]]:
        """Per query the ids of the best of both channels, *limit* of each; and the idf of every term."""
        masks = self._passing(allowed)
        terms = {term for query in queries for term in query.terms}
        postings = {term: [segment.postings(term) for segment in self.segments] for term in terms}
        idf = self._idf(postings)
        return [self._best(query, postings, idf, masks, limit)[: query.keep] for query in queries], idf

    def _best(
        self,
        query: HybridQuery,
        postings: Mapping[int, Sequence[tuple[NDArray[np.uint32], Vectors]]],
        idf: Mapping[int, float],
        masks: Sequence[Mask | None],
        limit: int,
    ) -> list[int]:
        found: list[tuple[float, int]] = []
        most, least = highest(query.terms, idf) or 1.0, 0.0
        for at, (segment, mask) in enumerate(zip(self.segments, masks, strict=True)):
            words = np.zeros(len(segment), np.float32)
            for term in query.terms:
                rows, weights = postings[term][at]
                words[rows] += weights * np.float32(idf[term])
            worded = np.flatnonzero(words > least)
            worded = worded if mask is None else worded[mask[worded]]
            worded = worded[top(words[worded], limit)]
            if len(worded) == limit:  # of the other segments only what is above these counts
                least = float(words[worded].min())
            rows = np.union1d(worded, segment.nearest(query.dense, limit, mask))
            cosines = np.minimum(np.vecdot(segment.dense[rows], query.dense), 1.0)
            scores = SIMILARITY_SHARE * cosines + (1 - SIMILARITY_SHARE) / most * words[rows]
            found += zip((-scores).tolist(), segment.ids[rows].tolist(), strict=True)
        return [own for _, own in sorted(found)]

    def _idf(self, postings: Mapping[int, Sequence[tuple[NDArray[np.uint32], Any]]]) -> dict[int, float]:
        whole = [bool(mask.all()) for mask in self.masks]
        count = sum(int(np.count_nonzero(mask)) for mask in self.masks)
        idf = {}
        for term, found in postings.items():
            own = sum(
                len(rows) if every else int(np.count_nonzero(mask[rows]))
                for (rows, _), mask, every in zip(found, self.masks, whole, strict=True)
            )
            idf[term] = math.log(1.0 + (count - own + 0.5) / (own + 0.5))
        return idf

    def _passing(self, allowed: Ids | None) -> list[Mask | None]:
        """Per segment what stands and is allowed; None where that is all of it."""
        masks = self.masks if allowed is None else [_among(one, allowed) for one in self.segments]
        return [None if mask.all() else mask for mask in masks]


def current(connection: sqlite3.Connection, folder: Path, known: View | None) -> View | None:
    """The view of what the connection sees, made of the *known* one as far as that serves; None of an empty collection.

    A saved segment that cannot be opened is read from the database.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    if meta["size"] is None:
        return None
    if known is not None and known.writes == meta["writes"]:
        return known
    had = dict(zip(known.names, zip(known.segments, known.masks, strict=False), strict=False)) if known else {}
    names, segments, masks, last = [], [], [], 0
    for name, low, high, at in connection.execute("SELECT name, low, high, at FROM segments ORDER BY low").fetchall():
        if known is not None and name in had:
            (segment, mask), since = had[name], known.writes
        else:
            segment, since = _opened(connection, folder / name, meta["size"], low, high), at
            mask = np.ones(len(segment), bool)
        gone = "SELECT id FROM removed WHERE at > ? AND id > ? AND id <= ? ORDER BY id"
        ids = np.fromiter((own for (own,) in connection.execute(gone, (since, low, high))), np.int64)
        names.append(name)
        segments.append(segment)
        masks.append(mask & ~_among(segment, ids))
        last = high
    tail = Segment.read(connection, meta["size"], last)
    return View(meta["writes"], tuple(names), (*segments, tail), (*masks, np.ones(len(tail), bool)))


def _opened(connection: sqlite3.Connection, folder: Path, size: int, low: int, high: int) -> Segment:
    try:
        return Segment.open(folder)
    except (OSError, ValueError, EOFError) as error:
        log.warning("segment_lost", extra={"segment": folder.name, "reason": str(error)})
        shutil.rmtree(folder, ignore_errors=True)  # so that the next saving makes it anew
        return Segment.read(connection, size, low, high)


def _among(segment: Segment, ids: Ids) -> Mask:
    """Which chunks of a segment have one of these ids, which are ascending."""
    mask = np.zeros(len(segment), bool)
    if len(segment) and len(ids):
        own = ids[np.searchsorted(ids, segment.ids[0]) : np.searchsorted(ids, segment.ids[-1], "right")]
        at = np.searchsorted(segment.ids, own)
        mask[at[segment.ids[at] == own]] = True
    return mask

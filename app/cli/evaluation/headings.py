"""Questions made of nothing but the collection: the headings of its documents, each asked twice.

Once of the whole collection, where the text below the heading is right; once with its document left out, where nothing
is. A heading stands in the indexed text, so it finds its own words: ``docs/relevance.md`` says what that allows to fit.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.cli.evaluation.samples import OFF_TOPIC, Samples, collect, joined
from app.cli.progress import Show
from app.pipeline.retriever import HybridRetriever
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery, HybridStore
from graph.ports import PassageReader, Retrieved
from graph.state import Chunk, Question
from graph.terms import is_content, words

MOST_HEADINGS = 400
"""Headings asked, drawn by chance with ``SEED`` where there are more."""
SEED = 20
LEAST_WORDS = 2
"""Content words of a heading that can be asked; "Examples" or "Step 2" says too little."""
TOPICAL_SHARE = 0.5
"""Share of topical pairs, about that of real questions (.49): as many of the absent headings count as off topic. With
all of them .70 of the right chunks of real questions passed relevance, with none nearly every chunk did."""
WIDER = 8
"""How many times as many chunks are searched where those of one document are dropped."""
_NUMBER = re.compile(r"^(?:(?:\d+|[IVXLCivxlc]+|[A-Za-z])[.)])+\d*\s*")


def heading_rows(chunks: Iterable[Chunk]) -> list[dict[str, Any]]:
    """What ``collect`` asks: the headings found in one document alone; a chunk is right for the innermost of its own.

    A number before a heading is left out.
    """
    documents: dict[str, set[str]] = defaultdict(set)
    below: dict[str, list[str]] = defaultdict(list)
    spelled: dict[str, str] = {}
    for chunk in chunks:
        names = [_NUMBER.sub("", name.strip()) for name in (chunk.section, chunk.chapter, chunk.title) if name]
        for name in names:
            documents[name.casefold()].add(chunk.document_id)
        innermost = next(iter(names), "")
        spelled.setdefault(innermost.casefold(), innermost)
        below[innermost.casefold()].append(chunk.chunk_id)
    asked = sorted(key for key in below if len(documents[key]) == 1 and _says_enough(key))
    chosen = random.Random(SEED).sample(asked, min(MOST_HEADINGS, len(asked)))  # noqa: S311 - a draw, no secret
    return [
        {
            "question": spelled[key],
            "answerable": True,
            "gold_chunks": below[key],
            "gold_document": next(iter(documents[key])),
            "group": key,
        }
        for key in chosen
    ]


async def heading_samples(
    rows: Sequence[Mapping[str, Any]], store: HybridStore, embeddings: Embeddings, reader: PassageReader, show: Show
) -> Samples:
    """Ask the headings of *rows*, as ``heading_rows`` makes them, with their documents and without.

    Raises what the retriever raises.
    """
    total = 2 * len(rows)
    present = await collect(HybridRetriever(store, embeddings), rows, reader, lambda done: show(done, total, ""))
    # what else the document says may answer as well
    present = replace(present, judged=(present.topical == 0) | (present.answers > 0))
    # so many of the absent headings bring the share of topical pairs to what it should be
    share = present.topical.mean() / TOPICAL_SHARE - 1
    draw = random.Random(SEED)  # noqa: S311 - a draw, no secret
    absent = [
        {
            "question": row["question"],
            "answerable": False,
            "gold_chunks": [],
            "kind": OFF_TOPIC if draw.random() < share else "absent",
            "group": row["group"],
        }
        for row in rows
    ]
    rest = _WithoutOwn(store, embeddings, {row["question"]: row["gold_document"] for row in rows})
    left_out = await collect(rest, absent, reader, lambda done: show(len(rows) + done, total, ""))
    return joined(present, left_out)


class _WithoutOwn:
    """A retriever, over a store that leaves out the document which the question's heading is of."""

    def __init__(self, store: HybridStore, embeddings: Embeddings, own: Mapping[str, str]) -> None:
        self._store = store
        self._own = own
        self._left_out = ""
        self._retriever = HybridRetriever(self, embeddings)

    async def retrieve(self, question: Question) -> Retrieved:
        """See ``graph.ports.Retriever``; one question at a time."""
        self._left_out = self._own[question.text]
        return await self._retriever.retrieve(question)

    async def ahybrid(
        self, queries: Sequence[HybridQuery], limit: int, where: Mapping[str, Any] | None = None
    ) -> HybridHits:
        """See ``HybridStore``."""
        wider = [replace(query, keep=query.keep and WIDER * query.keep) for query in queries]
        hits = await self._store.ahybrid(wider, WIDER * limit, where)
        left = [[one for one in found if one.chunk.document_id != self._left_out] for found in hits.candidates]
        return replace(hits, candidates=[found[: query.keep] for query, found in zip(queries, left, strict=True)])

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """See ``HybridStore``."""
        return await self._store.asentences(candidates)


def _says_enough(heading: str) -> bool:
    return len({word for word in words(heading) if is_content(word) and word.isalpha()}) >= LEAST_WORDS

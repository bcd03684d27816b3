"""Make questions of a collection's headings: each asked with its document, and without.

The text below a heading answers it; without its document nothing does. Limits of such questions: ``docs/relevance.md``.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from langchain_core.embeddings import Embeddings

from app.cli.evaluation.samples import Labelled, Samples, collect
from app.cli.shared import Show
from app.pipeline.retriever import POOL, HybridRetriever
from app.providers.stores.hybrid import HybridStore
from graph.ports import PassageReader
from graph.state import Chunk
from graph.terms import is_content, words

MOST_HEADINGS = 400
SEED = 20
LEAST_WORDS = 2
"""Content words of a heading that can be asked; "Examples" or "Step 2" says too little."""
RELEVANT_SHARE = 0.5
"""Share of relevant pairs, as of real questions (.49): so many of the absent headings count as off topic."""
WIDER = 8
"""Factor on the chunks retrieved where those of one document are dropped."""
_NUMBER = re.compile(r"^(?:(?:\d+|[IVXLCivxlc]+|[A-Za-z])[.)])+\d*\s*")


def heading_questions(chunks: Iterable[Chunk]) -> list[Labelled]:
    """Draw unnumbered headings that occur in one document; a chunk answers its innermost heading."""
    documents: dict[str, set[str]] = defaultdict(set)
    below: dict[str, set[str]] = defaultdict(set)
    spelled: dict[str, str] = {}
    for chunk in chunks:
        names = [_NUMBER.sub("", name.strip()) for name in (chunk.section, chunk.chapter, chunk.title) if name]
        for name in names:
            documents[name.casefold()].add(chunk.document_id)
        innermost = next(iter(names), "")
        spelled.setdefault(innermost.casefold(), innermost)
        below[innermost.casefold()].add(chunk.chunk_id)
    eligible = sorted(key for key in below if len(documents[key]) == 1 and _says_enough(key))
    chosen = random.Random(SEED).sample(eligible, min(MOST_HEADINGS, len(eligible)))  # noqa: S311 - a draw, no secret
    return [Labelled(spelled[key], True, frozenset(below[key]), frozenset(documents[key]), key) for key in chosen]


async def heading_samples(
    questions: Sequence[Labelled], store: HybridStore, embeddings: Embeddings, reader: PassageReader, show: Show
) -> Samples:
    """Ask headings with their documents, then without. Raises what the retriever raises."""
    retriever = HybridRetriever(store, embeddings, pool=WIDER * POOL)
    nothing: frozenset[str] = frozenset()
    absent = [
        one._replace(answerable=False, chunks=nothing, documents=nothing, left_out=one.documents) for one in questions
    ]
    samples = await collect(retriever, [*questions, *absent], reader, show)
    present = samples.answerable[samples.question]
    share = samples.relevant[present].mean() / RELEVANT_SHARE - 1
    draw = random.Random(SEED)  # noqa: S311 - a draw, no secret
    off_topic = np.array([draw.random() < share for _ in samples.fold])
    return replace(
        samples,
        known=present | off_topic[samples.question],
        judged=~present | ~samples.relevant | samples.answers,  # what else the document says may answer as well
    )


def _says_enough(heading: str) -> bool:
    return len({word for word in words(heading) if is_content(word) and word.isalpha()}) >= LEAST_WORDS

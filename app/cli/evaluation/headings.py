"""Make questions of a collection's headings: each asked once of everything, and once without its document.

The text below a heading answers it; without its document nothing does. A heading finds its own words in the indexed
text, so what these questions may fit is limited: ``docs/relevance.md``.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from langchain_core.embeddings import Embeddings

from app.cli.evaluation.samples import Labelled, Samples, collect, joined
from app.cli.shared import Show
from app.pipeline.retriever import POOL, HybridRetriever
from app.providers.stores.hybrid import HybridStore
from graph.ports import PassageReader, Retrieved
from graph.state import Chunk, Question, SubqueryResults
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
    """Draw headings of one document alone, without their numbers; a chunk answers the innermost of its own."""
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
    asked = sorted(key for key in below if len(documents[key]) == 1 and _says_enough(key))
    chosen = random.Random(SEED).sample(asked, min(MOST_HEADINGS, len(asked)))  # noqa: S311 - a draw, no secret
    return [Labelled(spelled[key], True, frozenset(below[key]), frozenset(documents[key]), key) for key in chosen]


async def heading_samples(
    questions: Sequence[Labelled], store: HybridStore, embeddings: Embeddings, reader: PassageReader, show: Show
) -> Samples:
    """Ask headings with their documents and without. Raises what the retriever raises."""
    total = 2 * len(questions)
    present = await collect(HybridRetriever(store, embeddings), questions, reader, partial(show, total=total))
    # What else the document says may answer as well.
    present = replace(present, judged=(present.relevant == 0) | (present.answers > 0))
    share = present.relevant.mean() / RELEVANT_SHARE - 1
    draw = random.Random(SEED)  # noqa: S311 - a draw, no secret
    absent = [
        Labelled(one.text, False, frozenset(), frozenset(), one.group, known=draw.random() < share) for one in questions
    ]
    others = _OtherDocuments(store, embeddings, {one.text: one.documents for one in questions})
    return joined(
        [present, await collect(others, absent, reader, lambda done: show(len(questions) + done, total=total))]
    )


class _OtherDocuments:
    """A retriever that leaves out the document of the heading that is asked."""

    def __init__(self, store: HybridStore, embeddings: Embeddings, own: Mapping[str, frozenset[str]]) -> None:
        self._retriever = HybridRetriever(store, embeddings, pool=WIDER * POOL)
        self._own = own

    async def retrieve(self, question: Question) -> Retrieved:
        """See ``graph.ports.Retriever``."""
        (found,) = (await self._retriever.retrieve(question)).subquery_results
        others = [chunk for chunk in found.chunks if chunk.document_id not in self._own[question.text]]
        return Retrieved((SubqueryResults(found.question, tuple(others[:POOL])),))


def _says_enough(heading: str) -> bool:
    return len({word for word in words(heading) if is_content(word) and word.isalpha()}) >= LEAST_WORDS

"""Measure the features of question and chunk pairs, which relevance is fitted on.

The questions are of a file, or made of a collection's headings: each asked with its document, and without. The text
below a heading answers it; without its document nothing does. Limits of such questions: ``docs/relevance.md``.
"""

import random
import re
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from answering.ports import PassageReader
from answering.relevance.features import FEATURE_NAMES, measure, read_best
from answering.text.terms import is_content, words
from answering.types import Chunk, Question, SubqueryResults
from app.cli.shared import Show
from app.pipeline.retriever import POOL, HybridRetriever
from app.providers.stores.hybrid import HybridStore
from graph.errors import InvalidInput
from graph.ports import Retriever

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FOLDS = 5
MAX_HEADINGS = 400
SEED = 20
MIN_WORDS = 2
"""Content words of a heading that can be asked; "Examples" or "Step 2" says too little."""
RELEVANT_SHARE = 0.5
"""Share of relevant pairs, as of real questions (.49): so many of the absent headings count as off topic."""
WIDER = 8
"""Factor on the chunks retrieved where those of one document are dropped."""
_NUMBER = re.compile(r"^(?:(?:\d+|[IVXLCivxlc]+|[A-Za-z])[.)])+\d*\s*")


class Labelled(NamedTuple):
    """A question, the chunks that answer it, and the documents they are of.

    Questions of one ``group`` share a fold. ``known`` is False where the documents may be about the question, though
    none of them answers it. Chunks of documents ``left_out`` are dropped when it is asked.
    """

    text: str
    answerable: bool
    chunks: frozenset[str]
    documents: frozenset[str]
    group: str
    known: bool = True
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Samples:
    """Pairs of question and candidate chunk.

    ``relevant``: the chunk is of a document that answers, or would; ``known`` says whether that is known. ``answers``:
    it is a chunk that answers; ``judged`` says whether that is known. ``read``: the reader saw it.
    """

    features: Floats  # [pairs, len(FEATURE_NAMES)]
    question: NDArray[np.int64]  # [pairs], row in ``fold`` and ``answerable``
    relevant: Flags
    answers: Flags
    read: Flags
    known: Flags
    judged: Flags
    fold: NDArray[np.int64]  # [questions]
    answerable: Flags  # [questions]

    def columns(self, names: Sequence[str]) -> Floats:
        """Select the features *names*, [pairs, len(names)]."""
        return self.features[:, [FEATURE_NAMES.index(name) for name in names]]

    def logits(self, model: Mapping[str, Any]) -> Floats:
        """Compute ``bias + Σ weight · feature`` [pairs] of one model of an entry."""
        weights = np.array(list(model["weights"].values()), dtype=np.float64)
        return self.columns(list(model["weights"])) @ weights + float(model["bias"])

    def rows(self, mask: Flags) -> "Samples":
        """Select the pairs that *mask* [pairs] marks, of the same questions."""
        of_pairs = [field.name for field in fields(self) if field.name not in ("fold", "answerable")]
        return replace(self, **{name: getattr(self, name)[mask] for name in of_pairs})


async def retrieve(retriever: Retriever, text: str) -> tuple[Question, tuple[SubqueryResults, ...]]:
    """Retrieve for one undivided question, with an hour's deadline. Raises what the retriever raises."""
    now = time.monotonic()
    question = Question(text, (text,), 1, None, None, now, now + 3600.0)
    return question, await retriever.retrieve(question)


async def collect(retriever: Retriever, questions: Sequence[Labelled], reader: PassageReader, show: Show) -> Samples:
    """Retrieve for every question, read the nearest chunks, and measure every pair.

    Raises ``InvalidInput`` when nothing is found, and what the retriever raises.
    """
    pairs: list[tuple[Any, ...]] = []
    for number, question in enumerate(questions):
        _, (candidates,) = await retrieve(retriever, question.text)
        chunks = [chunk for chunk in candidates.chunks if chunk.document_id not in question.left_out]
        (results,) = await read_best(reader, (replace(candidates, chunks=tuple(chunks[:POOL])),))
        for chunk, _, measured in measure(results):
            gold = chunk.chunk_id in question.chunks
            labels = gold or chunk.document_id in question.documents, gold and question.answerable
            pairs.append((measured, number, *labels, chunk.reading is not None, question.known, True))
        show(number + 1)
    if not pairs:
        raise InvalidInput("The collection is empty.", "questions")
    fold = np.array([zlib.crc32(question.group.encode()) % FOLDS for question in questions])
    answerable = np.array([question.answerable for question in questions])
    features, owner, relevant, answers, read, known, judged = map(np.array, zip(*pairs, strict=True))
    return Samples(features, owner, relevant, answers, read, known, judged, fold, answerable)


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
    telling = {key: {word for word in words(key) if is_content(word) and word.isalpha()} for key in below}
    eligible = sorted(key for key in below if len(documents[key]) == 1 and len(telling[key]) >= MIN_WORDS)
    chosen = random.Random(SEED).sample(eligible, min(MAX_HEADINGS, len(eligible)))  # noqa: S311 - a draw, no secret
    return [Labelled(spelled[key], True, frozenset(below[key]), frozenset(documents[key]), key) for key in chosen]


async def heading_samples(
    questions: Sequence[Labelled], store: HybridStore, embeddings: Embeddings, reader: PassageReader, show: Show
) -> Samples:
    """Ask headings with their documents, then without. Raises what the retriever raises."""
    retriever = HybridRetriever(store, embeddings, pool=WIDER * POOL)
    nothing: frozenset[str] = frozenset()
    absent = [
        question._replace(answerable=False, chunks=nothing, documents=nothing, left_out=question.documents)
        for question in questions
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

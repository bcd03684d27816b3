"""Fit how probably an answer is right, and measure it on documents that took no part.

    python -m training.fit_confidence --set NAME CORPUS QUESTIONS [--set …] --repositories DIR [--write]

Answers in the passages' own sentences: every question is asked with ``MIN_CONFIDENCE_THRESHOLD=0``, so that what would
be declined counts too. One is right when it holds one of ``answers``, where the row of QUESTIONS has these, or else
most of a ``gold`` sentence, or when it cites a passage that holds one. Sets of one NAME are held out together, each
NAME in turn; it weighs by the square root of its size.

A chat model's answers: those of ``training/data/model_answers.jsonl.xz``, right when all that is kept of one is true
and answers (``beside`` names those that do not). DIR holds a clone of each repository, which is its NAME.

``--write`` puts the slopes beside ``answering.relevance.graders``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from answering.evidence.support import overlap
from answering.evidence.verify import verify
from answering.extract.passages_answer import ExtractiveSynthesizer
from answering.relevance import graders
from answering.relevance.features import MAX_PASSAGES, read_best
from answering.relevance.graders import Slopes, assess, grade, load_calibrations
from answering.text.terms import words_of
from answering.types import MIN_CONFIDENCE, CitedSentence, Question
from app.bootstrap.compose import build_container
from app.cli.evaluation.measures import folded, reliability
from app.cli.evaluation.samples import retrieve
from app.ingest.pipeline import ingest_into
from app.library.chunk_list_store import ChunkListStore
from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.minilm import MODEL_NAME
from app.providers.embeddings.models import make_embeddings
from app.providers.rerank.reader import OnnxReader
from app.settings import load_settings
from graph.state import Result
from training.fit_relevance import holds
from training.model_answers_study import ANSWERS, answers
from training.rows import read_rows
from training.small_files import folders, labelled_rows, laid_out

MIN_COVERED = 0.6
"""Share of a gold sentence's words in an answer that gives it in other sentences, or in part."""
RIDGE = 0.01
"""Penalty on the squared slopes; it only matters where a set has no wrong answer on one side of .5."""


class Judged(NamedTuple):
    """An answer over the documents NAME: what was measured of it, in [0, 1], and whether it is right."""

    name: str
    measured: float
    right: bool


def main() -> None:
    """Fit, print the reliability of what was held out, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs=3, action="append", required=True, metavar=("NAME", "CORPUS", "QUESTIONS"))
    parser.add_argument("--small-files", action="append", default=[], metavar="MAKER", help="a NAME more: its folders")
    parser.add_argument("--repositories", type=Path, required=True, help="a clone of each repository, owner+name")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    sets = [(name, Path(corpus), read_rows(Path(questions))) for name, corpus, questions in options.set]
    extractive = [answer for named in sets for answer in asyncio.run(judge(*named))]
    for maker in options.small_files:
        for folder in folders(maker):
            with laid_out(folder) as files:
                extractive += asyncio.run(judge(maker, files, labelled_rows(folder)))
    judged = {
        "extractive": extractive,
        "model": asyncio.run(judge_written(read_rows(ANSWERS), options.repositories)),
    }
    slopes = {}
    for by, ones in judged.items():
        slopes[by] = fit_slopes(ones)
        print(f"{by}: {slopes[by]}")
        report(ones, held_out(ones))
    if options.write:
        rounded = {by: {side: round(value, 3) for side, value in one._asdict().items()} for by, one in slopes.items()}
        file = Path(graders.__file__).with_name("confidence_model.json")
        file.write_text(json.dumps({"slopes": rounded}, indent=2) + "\n", encoding="utf-8")


async def judge(name: str, corpus: Path, rows: Sequence[Mapping[str, Any]]) -> list[Judged]:
    """Ingest *corpus* into a fresh collection, ask the questions of *rows*, and judge what is answered."""
    with tempfile.TemporaryDirectory(prefix="garden-fit-") as folder:
        container = build_container(
            load_settings(data_dir=Path(folder), vector_store="embedded", min_confidence_threshold=0.0)
        )
        try:
            await ingest_into(container.writer, [corpus])
            asked = [(row, await container.service.ask({"query": row["question"]})) for row in rows]
        finally:
            await container.aclose()
    slopes = graders.fitted_slopes()["extractive"]
    inverse = Slopes(1.0 / slopes.above, 1.0 / slopes.below)
    return [
        Judged(name, inverse.calibrated(result.confidence), is_right(row, result))
        for row, result in asked
        if result.answered
    ]


async def judge_written(rows: Sequence[dict[str, Any]], repositories: Path) -> list[Judged]:
    """Grade and verify the answers of *rows* as the service does; one of which nothing is kept is left out."""
    embeddings, reader = make_embeddings(load_settings()).embeddings, OnnxReader()
    extractor, calibration = ExtractiveSynthesizer(reader), load_calibrations()[MODEL_NAME]
    judged = []
    for row in rows:
        for question, sentences in groupby(answers([row], repositories), key=lambda answer: answer.question):
            labelled = list(sentences)
            stored = [
                {"chunk_id": str(n), "text": chunk.text, "metadata": {"title": chunk.title, "section": chunk.section}}
                for n, chunk in enumerate(labelled[0].chunks)
            ]
            _, found = await retrieve(HybridRetriever(ChunkListStore(stored, embeddings), embeddings), question)
            assessed = [assess(results, calibration) for results in await read_best(reader, found)]
            chunks = grade(assessed)
            draft = [CitedSentence(sentence.claim, before=" ") for sentence in labelled]
            verified = await verify(draft, chunks, reader=reader, question=question, attribute=True)
            if any(sentence.supported for sentence in verified):
                true = all(one.true for one, sentence in zip(labelled, verified, strict=True) if sentence.text)
                right = true and question not in row.get("beside", ())
                asked = Question(question, (question,), MAX_PASSAGES, None, None, 0.0, 0.0, min_confidence=0.0)
                own = await extractor.synthesize(asked, chunks, assessed, None)
                measured = graders.measured_confidence([sentence.support for sentence in verified], own.confidence)
                judged.append(Judged(row["repository"], measured, right))
    reader.close()
    return judged


def is_right(row: Mapping[str, Any], result: Result) -> bool:
    """Whether the answer of *result* gives what *row* says is the answer, or cites a passage that does."""
    if not row["answerable"]:
        return False
    answer = result.answer or ""
    sentences = [place["sentence"] for place in row.get("gold") or ()] + list(row.get("gold_sentences") or ())
    if not sentences:
        return any(folded(form) in folded(answer) for form in row["answers"])
    texts = {chunk.chunk_id: chunk.text for chunk in result.chunks}
    cited = [texts[citation.chunk_id] for citation in result.citations]
    return any(
        overlap(words_of(sentence), words_of(answer)) >= MIN_COVERED or any(holds(text, sentence) for text in cited)
        for sentence in sentences
    )


def held_out(judged: Sequence[Judged]) -> list[float]:
    """Return the confidence of each answer by slopes that were fitted without the documents of its name."""
    fitted = {
        name: fit_slopes([answer for answer in judged if answer.name != name])
        for name in {answer.name for answer in judged}
    }
    return [fitted[answer.name].calibrated(answer.measured) for answer in judged]


def fit_slopes(judged: Sequence[Judged]) -> Slopes:
    """Fit both slopes by logistic regression without a constant."""
    z = np.array([graders.logit(answer.measured) for answer in judged])
    sizes = Counter(answer.name for answer in judged)
    weights = np.array([sizes[answer.name] ** -0.5 for answer in judged])
    weights *= len(judged) / weights.sum()
    right = np.array([answer.right for answer in judged], np.float64)
    above, below = regress(np.column_stack([np.maximum(z, 0.0), np.minimum(z, 0.0)]), right, weights)
    return Slopes(float(above), float(below))


def regress(x: NDArray[np.float64], right: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients of a logistic regression of *right* on *x* [answers, features], by Newton's method."""
    found = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-x @ found))
        gradient = x.T @ (weights * (p - right)) + RIDGE * found
        curvature = (x.T * (weights * p * (1.0 - p))) @ x + RIDGE * np.eye(len(found))
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if np.abs(step).max() < 1e-9:
            break
    return found


def report(judged: Sequence[Judged], stated: Sequence[float]) -> None:
    """Print the reliability of all answers that would be given, and of each name's."""
    pairs = [(p, one.right, one.name) for p, one in zip(stated, judged, strict=True)]
    given = [(p, right) for p, right, _ in pairs if p >= MIN_CONFIDENCE]
    rows, error = reliability(given)
    print(f"{len(given)} answers of {MIN_CONFIDENCE} or more: calibration error {error:.3f}")
    for row in rows:
        print(f"  {row.least:.2f} to {row.most:.2f}: stated {row.stated:.3f}, right {row.right:.3f} of {row.size}")
    print(f"all {len(pairs)}: calibration error {reliability([(p, right) for p, right, _ in pairs])[1]:.3f}")
    for name in dict.fromkeys(name for *_, name in pairs):
        own = [(p, right) for p, right, its in pairs if its == name and p >= MIN_CONFIDENCE]
        if own:
            mean_stated, mean_right = np.mean(own, axis=0)
            print(f"  {name}: {len(own)} given, stated {mean_stated:.2f}, right {mean_right:.2f}")


if __name__ == "__main__":
    main()

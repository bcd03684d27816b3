"""Measure encoders on laid out corpora: ``python -m training.encoder_study FOLDER … --encoder NAME [--encoder …]``.

A FOLDER holds ``docs`` and ``questions.jsonl``, as ``training.corpora`` lays them out. Of every encoder, and of every
two, it prints how often a chunk with a gold sentence is first, among three and among ten by the cosine alone, of all
questions and of those in other words than the text's (kind ``paraphrase``); each corpus counts alike. Of every encoder
it prints the standard deviation of its cosines and the milliseconds of processor time a chunk and a question. Of two
encoders the cosines are weighed by their spreads, and by other shares beside it.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations, compress
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.ingest.documents import LoadedDocument, SplitDocument
from app.ingest.loaders.table import load_file
from app.ingest.split import split_document
from app.providers.embeddings.models import make_embeddings
from app.providers.embeddings.vectors import unit
from app.providers.stores.layout import indexed_text
from app.settings import load_settings
from training.fit_relevance import holds, is_file
from training.rows import read_rows

SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Of the first of two encoders, shown beside the share that its spread gives."""


class Corpus(NamedTuple):
    """Chunks as they are indexed, and questions: the positions of the chunks that answer; whether in other words."""

    chunks: list[str]
    questions: list[str]
    gold: list[set[int]]
    paraphrased: list[bool]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--encoder", action="append", required=True, help="as EMBEDDING_MODEL")
    args = parser.parse_args()
    corpora = [read_corpus(folder) for folder in args.folders]
    print(
        sum(len(corpus.chunks) for corpus in corpora),
        "chunks,",
        sum(len(corpus.questions) for corpus in corpora),
        "questions",
    )
    found = {}
    for name in args.encoder:
        cosines, per_chunk, per_question = measure(name, corpora)
        spread = float(np.std(np.concatenate([cosine.ravel() for cosine in cosines])))
        found[name] = cosines, spread
        rate = f"{per_chunk:.1f} ms a chunk, {per_question:.1f} ms a question"
        print(f"{name}: spread {spread:.4f}, {rate}, {shown(cosines, corpora)}", flush=True)
    for (name, (first, spread)), (other, (second, other_spread)) in combinations(found.items(), 2):
        own = (1 / spread) / (1 / spread + 1 / other_spread)
        for share in (own, *SHARES):
            mixed = [share * one + (1 - share) * two for one, two in zip(first, second, strict=True)]
            print(f"{name} {share:.2f} + {other}: {shown(mixed, corpora)}", flush=True)


def read_corpus(folder: Path) -> Corpus:
    """Read the chunks of *folder*, and its questions that are answered in them."""
    documents, texts, indexed = [], [], []
    for file in sorted((folder / "docs").rglob("*")):
        name = file.relative_to(folder / "docs").as_posix()
        for loaded in load_file(file, name) if file.is_file() else ():
            for split in split_document(loaded) if isinstance(loaded, LoadedDocument) else ():
                for chunk in split.chunks if isinstance(split, SplitDocument) else ():
                    documents.append(name)
                    texts.append(chunk.text)
                    metadata = {"title": split.title, "chapter": chunk.chapter, "section": chunk.section}
                    indexed.append(indexed_text(metadata, chunk.text))
    questions, gold, paraphrased = [], [], []
    for row in read_rows(folder / "questions.jsonl"):
        right = {
            at
            for at, (document, text) in enumerate(zip(documents, texts, strict=True))
            for place in row["gold"]
            if is_file(document, place["file"]) and holds(text, place["sentence"])
        }
        if row["answerable"] and right:
            questions.append(row["question"])
            gold.append(right)
            paraphrased.append(row.get("kind") == "paraphrase")
    return Corpus(indexed, questions, gold, paraphrased)


def measure(name: str, corpora: list[Corpus]) -> tuple[list[NDArray[np.float32]], float, float]:
    """Return the cosines [questions, chunks] of each corpus, and the processor's ms a chunk and a question."""
    model = make_embeddings(load_settings(embedding_model=name))
    cosines, for_chunks, for_questions = [], 0.0, 0.0
    for corpus in corpora:
        start = time.process_time()
        chunks = unit(model.embeddings.embed_documents(corpus.chunks))
        embedded = time.process_time()
        questions = unit([model.embeddings.embed_query(question) for question in corpus.questions])
        for_chunks += embedded - start
        for_questions += time.process_time() - embedded
        cosines.append(questions @ chunks.T)
    model.close()
    chunk_count, question_count = (
        sum(map(len, lists)) for lists in zip(*(corpus[:2] for corpus in corpora), strict=True)
    )
    return cosines, 1000 * for_chunks / chunk_count, 1000 * for_questions / question_count


def shown(cosines: list[NDArray[np.float32]], corpora: list[Corpus]) -> str:
    """Return how often a chunk that answers is first, among three, among ten: of all, of those in other words."""
    every = [
        [rank_of(row, gold) for row, gold in zip(scores, corpus.gold, strict=True)]
        for scores, corpus in zip(cosines, corpora, strict=True)
    ]
    paraphrased = [list(compress(ranks, corpus.paraphrased)) for ranks, corpus in zip(every, corpora, strict=True)]
    return f"{shares(every)}; in other words {shares(paraphrased)}"


def rank_of(scores: NDArray[np.float32], gold: set[int]) -> int:
    """Return how many chunks score more than the best of *gold*."""
    return int((scores > max(scores[at] for at in gold)).sum())


def shares(ranks: list[list[int]]) -> str:
    """Return the share of ranks, each corpus' mean counting alike, below 1, 3 and 10."""
    asked = [own for own in ranks if own]
    found = {most: fmean(fmean(rank < most for rank in own) for own in asked) for most in (1, 3, 10) if asked}
    return ", ".join(f"among {most}: {share:.3f}" for most, share in found.items())


if __name__ == "__main__":
    main()

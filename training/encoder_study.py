"""Measure encoders on laid out corpora: ``python -m training.encoder_study FOLDER … --encoder NAME [--encoder …]``.

A FOLDER holds ``docs`` and ``questions.jsonl``, as ``training.corpora`` lays them out. Of every encoder, and of every
two, it prints how often a chunk with a gold sentence is first and among ten by the cosine alone; of every encoder the
standard deviation of its cosines, the milliseconds a chunk and the median milliseconds a question. Of two encoders the
cosines are weighed by ``app.providers.embeddings.fused``, and by other shares beside it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from itertools import combinations
from pathlib import Path
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
    """Chunks as they are indexed, and questions with the positions of the chunks that answer them."""

    chunks: list[str]
    questions: list[str]
    gold: list[set[int]]


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
    questions, gold = [], []
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
    return Corpus(indexed, questions, gold)


def measure(name: str, corpora: list[Corpus]) -> tuple[list[NDArray[np.float32]], float, float]:
    """Return the cosines [questions, chunks] of each corpus, the ms a chunk, and the median ms a question."""
    model = make_embeddings(load_settings(embedding_model=name))
    cosines, seconds, each = [], 0.0, []
    for corpus in corpora:
        start = time.perf_counter()
        chunks = unit(model.embeddings.embed_documents(corpus.chunks))
        seconds += time.perf_counter() - start
        rows = []
        for question in corpus.questions:
            start = time.perf_counter()
            rows.append(model.embeddings.embed_query(question))
            each.append(time.perf_counter() - start)
        cosines.append(unit(rows) @ chunks.T)
    model.close()
    return cosines, 1000 * seconds / sum(len(corpus.chunks) for corpus in corpora), 1000 * statistics.median(each)


def shown(cosines: list[NDArray[np.float32]], corpora: list[Corpus]) -> str:
    """Return how often a chunk that answers is first, among three and among ten; each corpus counts alike."""
    ranks = []
    for scores, corpus in zip(cosines, corpora, strict=True):
        for row, gold in zip(scores, corpus.gold, strict=True):
            best = max(row[at] for at in gold)
            ranks.append((int((row > best).sum()), 1 / len(corpus.questions) / len(corpora)))
    shares = {most: sum(weight for rank, weight in ranks if rank < most) for most in (1, 3, 10)}
    return ", ".join(f"among {most}: {share:.3f}" for most, share in shares.items())


if __name__ == "__main__":
    main()

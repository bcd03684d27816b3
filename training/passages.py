"""Join what was written with its passages: ``python -m training.passages --repositories DIR --out FILE --claims FILE``.

``training/data/questions.jsonl.xz`` holds questions, ``training/data/claims.jsonl.xz`` claims written for this project
over public manuals; a claim that answers a question is followed by it. They name a passage by repository, commit, path
and the fingerprints of its sentences; no text of the manuals is kept here. DIR holds a clone of each repository as
``owner+name``. ``training/data/topic_questions.jsonl.xz`` holds questions over passages of the public sets
(``--public``), most of them on the subject of a passage that does not answer them.
Needs the project's own loaders and encoder, so run it in the project's environment.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from answering.text.terms import stems
from answering.types import Chunk, Passage
from app.ingest.documents import LoadedDocument, SplitDocument
from app.ingest.loaders.table import load_file
from app.ingest.split import split_document
from app.providers.embeddings.minilm import MiniLMEmbeddings, find_weights
from training.rows import DATA, read_rows

NEIGHBOURS = 5
"""Passages of the same repository that the encoder finds nearest to a question, to be read in vain."""
ALIKE = 0.5
"""A passage that shares more of its words than this with the right one may say the same, so it is no neighbour."""


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="questions with their passages")
    parser.add_argument("--claims", type=Path, required=True, help="claims with their passages")
    parser.add_argument("--public", type=Path, help="public question sets, to join with topic_questions.jsonl")
    parser.add_argument("--without", action="append", default=[], help="repository that is left out, to measure on")
    args = parser.parse_args()
    by_repository: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for name in ("questions", "claims"):
        for row in read_rows(DATA / f"{name}.jsonl.xz"):
            if row["repository"] in args.without:
                continue
            by_repository[row["repository"], row["commit"]].append(row)
    encoder = MiniLMEmbeddings(find_weights())
    with args.out.open("w", encoding="utf-8") as questions, args.claims.open("w", encoding="utf-8") as claims:
        for (name, commit), wanted in by_repository.items():
            clone = args.repositories / name.replace("/", "+")
            passages = {path: list(read(clone, commit, path)) for path in sorted({row["path"] for row in wanted})}
            for row in joined(wanted, passages, encoder):
                print(json.dumps(row, ensure_ascii=False), file=questions if "questions" in row else claims)
        if args.public:
            for row in of_public(read_rows(DATA / "topic_questions.jsonl.xz"), read_rows(args.public)):
                print(json.dumps(row, ensure_ascii=False), file=questions)


def of_public(written: Iterable[dict[str, Any]], public: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each written row with the passage of a public set that it names; those not found are left out."""
    passages = {tuple(map(fingerprint, row["sents"])): row for row in public}
    for row in written:
        if found := passages.get(tuple(row["sentences"])):
            asked = [[question, gold, []] for question, gold in row["questions"]]
            yield row | {"title": found["title"], "sentences": found["sents"], "questions": asked, "neighbours": []}


def fingerprint(sentence: str) -> str:
    """Eight hex digits that name a sentence, white space folded."""
    return hashlib.sha256(" ".join(sentence.split()).encode()).hexdigest()[:8]


def read(clone: Path, commit: str, path: str) -> Iterator[Passage]:
    """The passages of one file of a clone."""
    yield from passages_of(committed(clone, commit, path), path)


def committed(clone: Path, commit: str, path: str) -> bytes:
    """The content of one file. Raises ``CalledProcessError`` when it is not there."""
    git = clone / "repo" if (clone / "repo").is_dir() else clone
    return subprocess.run(["git", "-C", git, "show", f"{commit}:{path}"], capture_output=True, check=True).stdout  # noqa: S607 - paths of the project's own list


def chunks_of(data: bytes, path: str) -> Iterator[Chunk]:
    """Yield the chunks of one file, as ingest makes them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / Path(path).name
        file.write_bytes(data)
        for document in load_file(file, path):
            if isinstance(document, LoadedDocument):
                for split in split_document(document):
                    if isinstance(split, SplitDocument):
                        for chunk in split.chunks:
                            yield Chunk(
                                chunk.chunk_id, path, split.title, chunk.text, section=chunk.section, spans=chunk.spans
                            )


def passages_of(data: bytes, path: str) -> Iterator[Passage]:
    """Yield the passages of one file: its chunks as the reader reads them."""
    return (Passage.of(chunk, chunk.sentences) for chunk in chunks_of(data, path))


def joined(
    wanted: Iterable[dict[str, Any]], passages: dict[str, list[Passage]], encoder: MiniLMEmbeddings
) -> Iterator[dict[str, Any]]:
    """Each row with its sentences, found by their fingerprints, and its neighbours; those not found are left out."""
    everything = [passage for found in passages.values() for passage in found if len(passage[1]) > 1]
    words = [frozenset(stem for sentence in sentences for stem in stems(sentence)) for _, sentences in everything]
    vectors = encoded(encoder, [f"{title}\n\n{' '.join(sentences)}" for title, sentences in everything])
    for row in wanted:
        named = {fingerprint(s): s for _, sentences in passages[row["path"]] for s in sentences}
        sentences = [named.get(sentence) for sentence in row["sentences"]]
        kept = {number: at for at, number in enumerate(n for n, s in enumerate(sentences) if s is not None)}
        text = [s for s in sentences if s is not None]
        if len(text) < 2:
            continue
        own = frozenset(stem for sentence in text for stem in stems(sentence))
        other = [n for n, found in enumerate(words) if _shared(own, found) < ALIKE]
        made: dict[str, Any] = {"title": row["title"], "sentences": text}
        near: dict[int, int] = {}
        for kind in KINDS & row.keys():
            written = [entry for entry in row[kind] if all(n in kept for n in entry[1])]
            found = encoded(encoder, [said for said, *_ in written]) @ vectors[other].T if written else ()
            made[kind] = []
            for (said, gold, *question), scores in zip(written, found, strict=True):
                best = [other[at] for at in scores.argsort()[::-1][:NEIGHBOURS]]
                numbers = [near.setdefault(at, len(near)) for at in best]
                made[kind].append([said, [kept[n] for n in gold], numbers, *question])
        yield made | {
            "near_misses": row.get("near_misses", []),
            "neighbours": [everything[at] for at in near],
        }


KINDS = {"questions", "true", "false"}


def encoded(encoder: MiniLMEmbeddings, texts: list[str]) -> NDArray[np.float32]:
    """Unit vectors [texts, size], made in batches of like length."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    batches = [order[start : start + 16] for start in range(0, len(order), 16)]
    made = np.concatenate([encoder.encode([texts[at][:600] for at in some], "int8") for some in batches])
    return made[np.argsort(order)]


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))


if __name__ == "__main__":
    main()

"""Join the written questions with their passages: ``python -m training.passages --repositories DIR --out FILE``.

``training/questions.jsonl`` holds questions written for this project over public manuals. It names a passage by
repository, commit, path and the fingerprints of its sentences; no text of the manuals is kept here. DIR holds a clone
of each repository as ``owner+name``. Needs the project's own loaders, so run it in the project's environment.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from app.ingest.documents import LoadedDocument, SplitDocument
from app.ingest.load import load_file
from app.ingest.split import split_document
from graph.terms import stems

QUESTIONS = Path(__file__).with_name("questions.jsonl")
NEIGHBOURS = 3
"""Passages of the same repository that are most alike, to be read in vain."""
ALIKE = 0.5
"""A passage that shares more of its words than this may say the same, so it is no neighbour."""

Texts = tuple[str, tuple[str, ...]]
"""A passage: its title with the section, and its sentences."""


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    by_repository: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_repository[row["repository"], row["commit"]].append(row)
    with given.out.open("w", encoding="utf-8") as out:
        for (name, commit), wanted in by_repository.items():
            clone = given.repositories / name.replace("/", "+")
            passages = {path: list(read(clone, commit, path)) for path in sorted({row["path"] for row in wanted})}
            everything = [one for found in passages.values() for one in found]
            for row in joined(wanted, passages, everything):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def fingerprint(sentence: str) -> str:
    """Eight hex digits that name a sentence, white space folded."""
    return hashlib.sha256(" ".join(sentence.split()).encode()).hexdigest()[:8]


def read(clone: Path, commit: str, path: str) -> Iterator[Texts]:
    """The passages of one file, as the project's own loaders and splitter make them."""
    git = clone / "repo" if (clone / "repo").is_dir() else clone
    data = subprocess.run(["git", "-C", git, "show", f"{commit}:{path}"], capture_output=True, check=True).stdout  # noqa: S607 - paths of the project's own list
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / Path(path).name
        file.write_bytes(data)
        for document in load_file(file, path):
            if isinstance(document, LoadedDocument):
                for split in split_document(document):
                    if isinstance(split, SplitDocument):
                        for chunk in split.chunks:
                            title = " > ".join(dict.fromkeys(one for one in (split.title, chunk.section) if one))
                            yield title, tuple(chunk.text[start:end] for start, end in chunk.spans)


def joined(
    wanted: Iterable[dict[str, Any]], passages: dict[str, list[Texts]], everything: list[Texts]
) -> Iterator[dict[str, Any]]:
    """Each row with its sentences, found by their fingerprints, and its neighbours; those not found are left out."""
    words = [Counter(stem for sentence in sentences for stem in stems(sentence)) for _, sentences in everything]
    held = Counter(stem for found in words for stem in found)
    for row in wanted:
        named = {fingerprint(s): s for _, sentences in passages[row["path"]] for s in sentences}
        sentences = [named.get(one) for one in row["sentences"]]
        kept = {number: at for at, number in enumerate(n for n, s in enumerate(sentences) if s is not None)}
        questions = [[q, [kept[n] for n in gold]] for q, gold in row["questions"] if all(n in kept for n in gold)]
        text = [s for s in sentences if s is not None]
        if len(text) < 2 or not questions:
            continue
        own = Counter(stem for sentence in text for stem in stems(sentence))
        scored = sorted(
            ((sum(math.log(len(words) / held[s]) for s in own if s in other), at) for at, other in enumerate(words)),
            reverse=True,
        )
        near = [
            everything[at] for _, at in scored[:12] if _shared(own, words[at]) < ALIKE and len(everything[at][1]) > 1
        ]
        yield {
            "title": row["title"],
            "sentences": text,
            "questions": questions,
            "near_misses": row["near_misses"],
            "neighbours": near[:NEIGHBOURS],
        }


def _shared(one: Counter[str], other: Counter[str]) -> float:
    return len(one.keys() & other.keys()) / max(1, min(len(one), len(other)))


if __name__ == "__main__":
    main()

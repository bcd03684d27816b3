"""Lay out the documents that relevance is fitted on: ``python -m training.corpora --repositories DIR --out DIR``.

``training/data/relevance_questions.jsonl.xz`` holds questions written for this project over public documents: of each
corpus a row with its files (repository, commit, path), then its questions. ``gold`` names the sentences that answer by
file and fingerprint; no text of the documents is kept here. ``brief_questions.jsonl.xz`` holds questions of a few words
over others, ``mixed_questions.jsonl.xz`` those over 25 more makers; their ``answers`` are strings that an answer
has. Each corpus becomes ``OUT/NAME/docs`` and ``OUT/NAME/questions.jsonl``, the arguments of ``--set`` of
``training.fit_relevance`` and ``training.fit_confidence``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from training.passages import committed, fingerprint, passages_of
from training.rows import DATA, read_rows

QUESTIONS = ("relevance_questions.jsonl.xz", "brief_questions.jsonl.xz", "mixed_questions.jsonl.xz")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True, help="a clone of each repository, owner+name")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = [row for name in QUESTIONS for row in read_rows(DATA / name)]
    for corpus in (row for row in rows if "files" in row):
        folder = args.out / corpus["corpus"]
        sentences = {
            name: lay_out(args.repositories, folder, name, *source) for name, source in corpus["files"].items()
        }
        asked = [resolved(row, sentences) for row in rows if row["corpus"] == corpus["corpus"] and "question" in row]
        lines = [
            json.dumps(row, ensure_ascii=False)
            for row in asked
            if row.get("gold", row.get("answers")) or not row["answerable"]
        ]
        (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{corpus['corpus']}: {len(sentences)} files, {len(lines)} questions")


def lay_out(repositories: Path, folder: Path, name: str, repository: str, commit: str, path: str) -> dict[str, str]:
    """Write one file to ``docs/NAME`` below *folder*; return its sentences by fingerprint."""
    data = committed(repositories / repository.replace("/", "+"), commit, path)
    file = folder / "docs" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return {fingerprint(sentence): sentence for _, texts in passages_of(data, path) for sentence in texts}


def resolved(row: dict[str, Any], sentences: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return *row* with the sentences that its ``gold`` names; those that are not found are left out."""
    if "answers" in row:
        return row | {"answerable": bool(row["answers"])}
    gold = [{"file": file, "sentence": sentences[file][one]} for file, one in row["gold"] if one in sentences[file]]
    return row | {"gold": gold, "answerable": bool(row["gold"])}


if __name__ == "__main__":
    main()

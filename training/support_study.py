"""Measure how well the support score tells carried sentences from changed ones.

    python -m training.support_study CORPUS.jsonl [QUESTIONS.jsonl] [--seed N] [--most N]

*CORPUS* has rows ``{"chunk_id", "document_id", "title", "text"}``. Sentences of its chunks are cited to their chunk as
they stand, reworded and joined in pairs; with a number, a name or a denial changed; and to another chunk. *QUESTIONS*
with ``gold_chunk`` and ``answers`` in whole sentences add answers that people wrote, and the same changes to them.
``retellings`` is always part of it. Printed are, for each kind, the share that keeps its marker (``SUPPORT_BAR``) and
that would get one (``CLEAR_SUPPORT``), with the reader and by wording alone; then the reliability of the score.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from answering.evidence.support import CLEAR_SUPPORT
from answering.evidence.verify import verify
from answering.markers.draft import read_draft
from answering.ports import PassageReader
from answering.text.sentences import sentence_spans
from answering.text.terms import stems
from answering.types import Chunk
from app.providers.rerank.reader import OnnxReader
from training.retellings import RETOLD
from training.rows import read_rows
from training.tampering import Change, denied, joined, names_of, renamed, renumbered, reworded

_EDGES = (0.0, 0.3, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95, 1.01)
_MIN_WORDS = 5


@dataclass(frozen=True, slots=True)
class Case:
    """One sentence cited to one chunk; ``carried`` says whether the chunk does carry it."""

    kind: str
    carried: bool
    sentence: str
    chunk: Chunk
    question: str = ""


def chunks_of(path: Path) -> list[Chunk]:
    """Read the chunks of a corpus, and find their sentences."""
    return [
        Chunk(r["chunk_id"], r["document_id"], r["title"], r["text"], spans=sentence_spans(r["text"]))
        for r in read_rows(path)
    ]


def retold_cases() -> Iterator[Case]:
    """Make cases of the hand-written retellings and near misses."""
    for i, (text, same, other) in enumerate(RETOLD):
        chunk = Chunk(f"retold-{i}", "retold", "", text, spans=sentence_spans(text))
        yield Case("retold freely", True, same, chunk)
        yield Case("near miss", False, other, chunk)


def corpus_cases(chunks: Sequence[Chunk], random: Random, most: int) -> Iterator[Case]:
    """Make cases of sentences of at most *most* chunks, as they stand and changed."""
    changes = _changes(chunks)
    picked = random.sample(list(chunks), min(most, len(chunks)))
    for chunk, other in zip(picked, [*picked[1:], picked[0]], strict=True):
        whole = [s for s in chunk.sentences if len(stems(s)) > _MIN_WORDS and s.endswith(".")]
        for sentence in random.sample(whole, min(2, len(whole))):
            yield Case("verbatim", True, sentence, chunk)
            yield Case("other chunk", False, sentence, other)
            same = [c for c in chunks if c.document_id == chunk.document_id and sentence not in c.text]
            if same:
                yield Case("other chunk, same document", False, sentence, random.choice(same))
            other_words = reworded(sentence, random)
            if other_words:
                yield Case("reworded", True, other_words, chunk)
            for base in (sentence, other_words):
                yield from _changed(base, chunk, changes, random)
        if len(whole) > 1:
            first, second = random.sample(whole, 2)
            yield Case("two sentences as one", True, joined(first, second), chunk)


def question_cases(chunks: Sequence[Chunk], questions: Sequence[dict[str, Any]], random: Random) -> Iterator[Case]:
    """Make cases of sentences that people wrote in answer to *questions*, and the same changed."""
    changes = _changes(chunks)
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    for row in questions:
        chunk = by_id.get(row.get("gold_chunk", ""))
        for answer in row["answers"][:1] if chunk and row.get("answerable") else []:
            for start, end in sentence_spans(answer):
                sentence = answer[start:end]
                if chunk is None or len(stems(sentence)) < _MIN_WORDS or sentence in chunk.text:
                    continue
                yield Case("written by people", True, sentence, chunk, row["question"])
                yield Case("other chunk", False, sentence, random.choice([c for c in chunks if c is not chunk]))
                yield from _changed(sentence, chunk, changes, random, row["question"])


def _changes(chunks: Sequence[Chunk]) -> dict[str, Change]:
    return {"number": renumbered, "name": renamed(names_of([chunk.text for chunk in chunks])), "denial": denied}


def _changed(
    base: str | None, chunk: Chunk, changes: dict[str, Change], random: Random, question: str = ""
) -> Iterator[Case]:
    for name, change in changes.items() if base else ():
        changed = change(base or "", random)
        if changed and changed != base and changed not in chunk.text:
            yield Case(f"{name} changed", False, changed, chunk, question)


async def measure(case: Case, reader: PassageReader | None) -> tuple[float, bool]:
    """Measure the support of the case's sentence, and whether it keeps its marker."""
    draft = read_draft(f"{case.sentence.rstrip()} [1]", [case.chunk])
    verified = await verify(draft, [case.chunk], reader=reader, question=case.question)
    supports = (sentence.support for sentence in verified if sentence.support is not None)
    return max(supports, default=0.0), any(sentence.supported for sentence in verified)


async def study(cases: Sequence[Case], reader: PassageReader) -> None:
    """Print the two tables for *cases*, in Markdown."""
    rows = [(case, await measure(case, reader), await measure(case, None)) for case in cases]
    print(
        "| kind | carried | n | keeps its marker | clear | keeps it, wording alone |",
        "|---|---|---|---|---|---|",
        sep="\n",
    )
    for kind in dict.fromkeys(case.kind for case in sorted(cases, key=lambda case: not case.carried)):
        own = [row for row in rows if row[0].kind == kind]
        kept = sum(full[1] for _, full, _ in own) / len(own)
        clear = sum(full[0] >= CLEAR_SUPPORT for _, full, _ in own) / len(own)
        alone = sum(wording[1] for _, _, wording in own) / len(own)
        carried = "yes" if own[0][0].carried else "no"
        print(f"| {kind} | {carried} | {len(own)} | {kept:.3f} | {clear:.3f} | {alone:.3f} |")
    # Reliability: the share of carried sentences by support, verbatim ones left out, both sides weighing the same.
    pairs = [(case.carried, support) for case, (support, _), _ in rows if case.kind != "verbatim"]
    yes, no = (max(1, sum(carried is side for carried, _ in pairs)) for side in (True, False))
    print("\n| support | n | carried (even odds) |", "|---|---|---|", sep="\n")
    for low, high in pairwise(_EDGES):
        inside = [carried for carried, support in pairs if low <= support < high]
        right, wrong = sum(inside) / yes, (len(inside) - sum(inside)) / no
        share = f"{right / (right + wrong):.3f}" if inside else "-"
        print(f"| {low:.2f}–{min(high, 1.0):.2f} | {len(inside)} | {share} |")


def main() -> None:
    """Run the study on the files that are named and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path, nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=150, help="chunks that sentences are taken from")
    options = parser.parse_args()
    random = Random(options.seed)
    chunks = chunks_of(options.corpus)
    cases = [*retold_cases(), *corpus_cases(chunks, random, options.most)]
    if options.questions:
        cases += question_cases(chunks, read_rows(options.questions), random)
    reader = OnnxReader()
    try:
        asyncio.run(study(cases, reader))
    finally:
        reader.close()


if __name__ == "__main__":
    main()

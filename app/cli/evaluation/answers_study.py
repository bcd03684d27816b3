"""How many citations of written answers are kept, of true sentences and of false ones.

    python -m app.cli.evaluation.answers_study ANSWERS.jsonl [--show]

Rows are ``{"question", "style", "text", "chunks": [{"chunk_id", "text"}], "sentences": [{"text", "supported", "kind",
"cites"}]}``, ``text`` with markers that count ``chunks`` from 1. Printed is, for each style, the share of the cited
sentences that keep a marker, and how many wholly true answers lose all of theirs.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli.evaluation.fit import read_rows
from app.providers.rerank.reader import OnnxReader
from graph.citing.attribution import place_markers
from graph.citing.citations import parse
from graph.citing.claims import bare_claim
from graph.ports import PassageReader
from graph.sentences import sentence_spans
from graph.state import Chunk
from graph.terms import words


@dataclass(frozen=True, slots=True)
class Told:
    """One cited sentence of an answer, and whether it keeps a marker."""

    style: str
    true: bool
    kind: str
    text: str
    kept: bool


async def told(row: dict[str, Any], reader: PassageReader | None) -> list[Told]:
    """The cited sentences of one answer."""
    chunks = [
        Chunk(one["chunk_id"], one["chunk_id"], "", one["text"], spans=sentence_spans(one["text"]))
        for one in row["chunks"]
    ]
    cited = await place_markers(parse(row["text"], chunks), chunks, reader=reader, question=row["question"])
    backed = [frozenset(words(stretch)) for piece in cited.pieces if not isinstance(piece, str) for stretch, _ in piece]
    found = []
    for one in row["sentences"]:
        if one["cites"]:
            own = frozenset(words(bare_claim(one["text"])))
            kept = any(2 * len(own & other) > min(len(own), len(other)) * 1.8 for other in backed)
            found.append(Told(row["style"], one["supported"], one["kind"], one["text"], kept))
    return found


async def study(rows: Sequence[dict[str, Any]], reader: PassageReader, *, show: bool) -> str:
    """The table, and with *show* the sentences on the wrong side."""
    began = time.process_time()
    answers = [await told(row, reader) for row in rows]
    spent = time.process_time() - began
    groups: dict[tuple[str, bool], list[Told]] = defaultdict(list)
    for one in (one for answer in answers for one in answer):
        groups[one.style, one.true].append(one)
    lines = ["| style | sentences | n | keep a marker |", "|---|---|---|---|"]
    for (style, true), own in sorted(groups.items()):
        lines.append(
            f"| {style} | {'true' if true else 'false'} | {len(own)} | {sum(o.kept for o in own) / len(own):.3f} |"
        )
    whole = [answer for answer in answers if answer and all(one.true for one in answer)]
    lost = sum(not any(one.kept for one in answer) for answer in whole)
    everything = sum(map(len, answers))
    lines.append(
        f"\nwholly true answers without a marker: {lost} of {len(whole)}; {1000 * spent / everything:.1f} ms a sentence"
    )
    wrong = [one for answer in answers for one in answer if one.kept != one.true] if show else []
    return "\n".join(
        [*lines, *(f"{'lost' if one.true else 'KEPT'} {one.style} {one.kind}: {one.text}" for one in wrong)]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and print it."""
    parser = argparse.ArgumentParser(prog="python -m app.cli.evaluation.answers_study", description="Measure citing.")
    parser.add_argument("answers", type=Path)
    parser.add_argument("--show", action="store_true", help="also print the sentences on the wrong side")
    parser.add_argument("--weights", type=Path, help="other weights of the reader")
    given = parser.parse_args(arguments)
    reader = OnnxReader(None, given.weights, None) if given.weights else OnnxReader()
    try:
        sys.stdout.write(asyncio.run(study(read_rows(given.answers), reader, show=given.show)) + "\n")
    finally:
        reader.close()


if __name__ == "__main__":
    main()

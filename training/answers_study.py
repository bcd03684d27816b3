"""Measure how many citations of written answers are kept, of true sentences and of false ones.

    python -m training.answers_study ANSWERS.jsonl [--show] [--tails] [--weights FILE] [--statements FILE]

Rows are ``{"question", "style", "text", "chunks": [{"chunk_id", "text"}], "sentences": [{"text", "supported", "kind",
"cites"}]}``, ``text`` with markers that count ``chunks`` from 1. ``--statements`` names statements with passages, as
``training.passages --claims`` writes them: each is cited to its passage. ``--tails`` ends every true sentence of five
words or more with each of ``INVENTED``, which makes it false.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from answering.evidence.claims import bare_claim
from answering.evidence.support import SUPPORT_BAR
from answering.evidence.verify import verify
from answering.markers.draft import read_draft
from answering.ports import PassageReader
from answering.text.sentences import sentence_spans
from answering.text.terms import is_content, words
from answering.types import Chunk
from app.providers.rerank.reader import OnnxReader
from training.rows import read_rows

INVENTED = (
    "in all other cases too|because of legal requirements|after approval by the director|free of charge|"
    "in order to save costs|for safety reasons|by e-mail|without any exception|within two working days|"
    "at least once a year|as the committee had wished|together with the annual report"
).split("|")
"""Tails that no document of the answers has; ``training.claims`` invents the first four, and some like the others."""
_CITED = re.compile(r"(?P<said>(?:\S+ ){4,}[^\[]*[\w)])\.?(?P<markers>(?: ?\[\d+\])+)\.?\Z")


class CitedSentence(NamedTuple):
    """One cited sentence of an answer, and whether it keeps a marker."""

    style: str
    true: bool
    kind: str
    text: str
    kept: bool


def chunks_of(row: dict[str, Any]) -> list[Chunk]:
    """Make the chunks of one answer, with their sentences, as ingest does."""
    return [
        Chunk(chunk["chunk_id"], chunk["chunk_id"], "", chunk["text"], spans=sentence_spans(chunk["text"]))
        for chunk in row["chunks"]
    ]


async def cited_sentences(row: dict[str, Any], chunks: list[Chunk], reader: PassageReader) -> list[CitedSentence]:
    """Verify one answer over its *chunks*; return its cited sentences and whether each keeps its citation."""
    verified = await verify(read_draft(row["text"], chunks), chunks, reader=reader, question=row["question"])
    backed = [frozenset(words(stretch)) for sentence in verified for _, (stretch, _) in sentence.supported]
    cited = " ".join(sentence.text for sentence in verified if sentence.supported)
    found = []
    for sentence in row["sentences"]:
        if sentence["cites"]:
            own = frozenset(words(bare_claim(sentence["text"])))
            kept = any(2 * len(own & other) > min(len(own), len(other)) * 1.8 for other in backed)
            said = sentence["text"].partition(" [")[0]
            if not any(map(is_content, words(said))):  # a mere "No [1]."
                kept = said.strip() in cited
            found.append(CitedSentence(row["style"], sentence["supported"], sentence["kind"], sentence["text"], kept))
    return found


async def study(rows: Sequence[dict[str, Any]], reader: PassageReader, *, show: bool) -> None:
    """Print the table, and with *show* the sentences on the wrong side."""
    given = [chunks_of(row) for row in rows]
    begun = time.process_time()
    answers = [await cited_sentences(row, chunks, reader) for row, chunks in zip(rows, given, strict=True)]
    ms = 1000 * (time.process_time() - begun) / max(1, sum(map(len, answers)))
    groups: dict[tuple[str, bool], list[CitedSentence]] = defaultdict(list)
    for sentence in (sentence for answer in answers for sentence in answer):
        groups[sentence.style, sentence.true].append(sentence)
    print("| style | sentences | n | keep a marker |", "|---|---|---|---|", sep="\n")
    for (style, true), own in sorted(groups.items()):
        print(f"| {style} | {'true' if true else 'false'} | {len(own)} | {sum(o.kept for o in own) / len(own):.3f} |")
    whole = [answer for answer in answers if answer and all(sentence.true for sentence in answer)]
    lost = sum(not any(sentence.kept for sentence in answer) for answer in whole)
    print(f"\nwholly true answers without a marker: {lost} of {len(whole)}; {ms:.1f} ms a sentence")
    for sentence in (
        sentence for own in groups.values() for sentence in own if show and sentence.kept != sentence.true
    ):
        print("lost" if sentence.true else "KEPT", f"{sentence.style} {sentence.kind}: {sentence.text}")


async def study_tails(rows: Sequence[dict[str, Any]], reader: PassageReader) -> None:
    """Print how many true sentences keep a marker after an invented tail."""
    kept: dict[str, Counter[bool]] = {tail: Counter() for tail in INVENTED}
    for row in rows:
        cited = ((sentence, _CITED.match(sentence["text"])) for sentence in row["sentences"] if sentence["supported"])
        for one, match in ((one, match) for one, match in cited if match):
            for tail in INVENTED:
                text = f"{match['said']} {tail}{match['markers']}."
                longer = {**row, "text": text, "sentences": [{**one, "text": text, "supported": False}]}
                kept[tail].update(found.kept for found in await cited_sentences(longer, chunks_of(longer), reader))
    share = sum(n[True] for n in kept.values()) / sum(n.total() for n in kept.values())
    print(f"invented tails: {share:.3f} keep a marker")
    print("; ".join(f"{tail} {n[True]} of {n.total()}" for tail, n in kept.items()))


async def study_statements(rows: Sequence[dict[str, Any]], reader: PassageReader) -> None:
    """Print how well support tells true statements from false ones: AUC, and what is kept at the bar."""
    supports: dict[bool, list[float]] = {True: [], False: []}
    for row in rows:
        title, _, section = row["title"].partition(" > ")
        text = "\n".join(row["sentences"])
        ends = list(accumulate(len(sentence) + 1 for sentence in row["sentences"]))
        spans = tuple((end - 1 - len(sentence), end - 1) for end, sentence in zip(ends, row["sentences"], strict=True))
        chunk = Chunk("0", "0", title, text, section=section, spans=spans)
        for true, statements in ((True, row["true"]), (False, row["false"])):
            for statement, _, _, *asked in statements:
                draft = read_draft(f"{statement.rstrip('.')} [1].", [chunk])
                verified = await verify(draft, [chunk], reader=reader, question="".join(asked))
                found = [sentence.support for sentence in verified if sentence.support is not None]
                supports[true].append(max(found, default=0.0))
    true, false = np.array(supports[True]), np.array(supports[False])
    higher = (true[:, None] > false).mean() + 0.5 * (true[:, None] == false).mean()
    kept = ", ".join(f"{(supports >= SUPPORT_BAR).mean():.3f} of {len(supports)}" for supports in (true, false))
    print(f"statements: AUC {higher:.3f}; kept: true {kept.replace(', ', ', false ')}")


def main() -> None:
    """Run the study and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--show", action="store_true", help="also print the sentences on the wrong side")
    parser.add_argument("--tails", action="store_true", help="also measure true sentences with invented tails")
    parser.add_argument("--statements", type=Path, help="also measure statements with their passages")
    parser.add_argument("--weights", type=Path, help="other weights that read statements")
    options = parser.parse_args()
    reader = OnnxReader(support=options.weights) if options.weights else OnnxReader()
    try:
        asyncio.run(study(read_rows(options.answers), reader, show=options.show))
        if options.tails:
            asyncio.run(study_tails(read_rows(options.answers), reader))
        if options.statements:
            asyncio.run(study_statements(read_rows(options.statements), reader))
    finally:
        reader.close()


if __name__ == "__main__":
    main()

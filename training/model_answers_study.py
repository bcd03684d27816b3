"""Measure verification on labelled sentences: ``python -m training.model_answers_study --repositories DIR``.

``training/data/model_answers.jsonl.xz`` holds sentences that a chat model of 1.5 billion parameters wrote over public
documents, each labelled as what its three passages say; ``short_answers.jsonl.xz`` holds written ones of the kinds that
are short: yes and no, amounts, options and code; ``more_model_answers.jsonl.xz`` the first kind again, over 22 other
repositories. They name a passage by repository, commit, path and the fingerprints
of its sentences; DIR holds a clone of each repository as ``owner+name``. Makers marked ``held`` are to be left out of
any fitting. ``--answers FILE`` names sentences with their passages instead, as ``training.answers_study`` reads them.
Beside the shipped support stand two baselines without coefficients: the share of the sentence's words, and the lexical
score of ``anchorcite``.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from anchorcite import LexicalScorer, split_sentences_with_offsets

from answering.evidence.anchors import CitationAnchor
from answering.evidence.attribution import Readings, check_claims
from answering.evidence.claims import clauses
from answering.evidence.support import SUPPORT_BAR, overlap
from answering.ports import ClaimReader
from answering.text.sentences import sentence_spans
from answering.text.terms import words_of
from answering.types import Chunk
from app.pipeline.verifiers import Verifiers, make_verifiers
from app.providers.chat.models import make_chat_model
from app.providers.rerank.reader import OnnxReader
from app.settings import load_settings
from training.passages import chunks_of, committed, fingerprint
from training.rows import DATA, read_rows

ANSWERS = DATA / "model_answers.jsonl.xz"
SHORT_ANSWERS = DATA / "short_answers.jsonl.xz"
MORE_ANSWERS = DATA / "more_model_answers.jsonl.xz"
_MARKER = re.compile(r"\s*\[\d+(?:, ?\d+)*\]")
WORD_SHARE_BAR, LEXICAL_BAR = 0.8, 0.4
"""Where the baselines keep a sentence: ours, and anchorcite's own default."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence after its *question*, the chunks it may come from, and whether they say it."""

    claim: str
    question: str
    chunks: tuple[Chunk, ...]
    true: bool
    held: bool = False


def answers(rows: Sequence[dict[str, Any]], repositories: Path) -> list[Labelled]:
    """Join the labelled sentences with their chunks; a row whose chunks are not all found is left out."""
    found: dict[tuple[str, str], dict[tuple[str, ...], Chunk]] = {}
    made = []
    for row in rows:
        clone = repositories / row["repository"].replace("/", "+")
        for path, _ in row["passages"]:
            if (row["repository"], path) not in found:
                chunks = chunks_of(committed(clone, row["commit"], path), path)
                found[row["repository"], path] = {tuple(map(fingerprint, chunk.sentences)): chunk for chunk in chunks}
        chunks_found = [found[row["repository"], path].get(tuple(named)) for path, named in row["passages"]]
        chunks_here = tuple(chunk for chunk in chunks_found if chunk)
        if len(chunks_here) == len(chunks_found):
            for question, sentences in row["answers"]:
                made += [Labelled(claim, question, chunks_here, true, row["held"]) for claim, true in sentences]
    return made


async def shipped(one: Labelled, reader: ClaimReader, second: ClaimReader | None = None) -> float:
    """Return the support that the product gives."""
    parts = clauses(one.claim, 0, len(one.claim))
    groups = tuple((number,) for number in range(len(one.chunks)))
    anchor = CitationAnchor(len(one.claim), 0, groups, (0, len(one.claim)), parts if len(parts) > 1 else [])
    await check_claims([anchor], one.claim, one.chunks, one.question, Readings(reader, second))
    return anchor.support


def word_share(one: Labelled) -> float:
    """Return the highest share of the sentence's words in a chunk."""
    return max(overlap(words_of(one.claim), words_of(f"{chunk.headings} {chunk.text}")) for chunk in one.chunks)


def lexical(one: Labelled) -> float:
    """Return anchorcite's lexical score of the sentence that fits best."""
    texts = [text for chunk in one.chunks for text, *_ in split_sentences_with_offsets(chunk.text)]
    return float(max(LexicalScorer().score(one.claim, texts), default=0.0))


def rates_of(scores: Sequence[float], true: Sequence[bool], bar: float) -> str:
    """Describe how well *scores* tell true from false: AUC, and the shares that reach *bar*."""
    right, wrong = (np.array(scores)[np.array(true, bool) == label] for label in (True, False))
    kept = f"true {(right >= bar).mean():.2f}, false {(wrong >= bar).mean():.2f}"
    return f"AUC {auc(scores, true):.3f}, kept: {kept}"


def auc(scores: Any, true: Any) -> float:
    """Return how probably a true sentence has a higher score than a false one; equal ones count half."""
    right, wrong = (np.array(scores)[np.array(true, bool) == label] for label in (True, False))
    return float((right[:, None] > wrong).mean() + 0.5 * (right[:, None] == wrong).mean())


async def study(sentences: Sequence[Labelled], verifiers: Verifiers) -> None:
    """Print how well support and the baselines tell *sentences*."""
    labels = [sentence.true for sentence in sentences]
    print(f"{len(labels)} sentences, {sum(labels)} true")
    support = [await shipped(sentence, verifiers.reader, verifiers.second) for sentence in sentences]
    print("  shipped:", rates_of(support, labels, SUPPORT_BAR))
    print("  word share:", rates_of([word_share(sentence) for sentence in sentences], labels, WORD_SHARE_BAR))
    print("  anchorcite:", rates_of([lexical(sentence) for sentence in sentences], labels, LEXICAL_BAR))


def given(rows: Sequence[dict[str, Any]]) -> list[Labelled]:
    """Make the labelled sentences of answers that come with their passages, without their markers."""
    made = []
    for row in rows:
        chunks = tuple(
            Chunk(
                chunk["chunk_id"],
                chunk["chunk_id"],
                chunk.get("title", ""),
                chunk["text"],
                spans=sentence_spans(chunk["text"]),
            )
            for chunk in row["chunks"]
        )
        labelled = ((_MARKER.sub("", sentence["text"]).strip(), sentence["supported"]) for sentence in row["sentences"])
        made += [Labelled(text, row["question"], chunks, true) for text, true in labelled if true is not None]
    return made


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, help="a clone of each repository, owner+name")
    parser.add_argument("--answers", type=Path, action="append", default=[], help="labelled sentences with passages")
    parser.add_argument("--verifier", help="what VERIFIER names, in place of the shipped reader alone")
    args = parser.parse_args()
    sets = {path.name: given(read_rows(path)) for path in args.answers}
    if args.repositories:
        written = answers(read_rows(ANSWERS), args.repositories)
        sets["ten makers"] = [sentence for sentence in written if not sentence.held]
        sets["five held makers"] = [sentence for sentence in written if sentence.held]
        sets["short answers"] = answers(read_rows(SHORT_ANSWERS), args.repositories)
        sets["22 more makers"] = answers(read_rows(MORE_ANSWERS), args.repositories)
    reader = OnnxReader()

    async def studies() -> None:
        settings = load_settings(verifier=args.verifier)
        verifiers = make_verifiers(
            settings, reader, None if settings.chat == "extractive" else make_chat_model(settings)
        )
        for name, sentences in sets.items():
            print(name, end=": ")
            await study(sentences, verifiers)

    try:
        asyncio.run(studies())
    finally:
        reader.close()


if __name__ == "__main__":
    main()

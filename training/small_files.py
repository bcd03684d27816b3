"""Join the questions over small files with their passages, or ask those that no reader was trained on.

    python -m training.small_files --out FILE
    python -m training.small_files --claims FILE
    python -m training.small_files --ask MAKER [--ask MAKER …]
    python -m training.small_files --verify MAKER [--verify MAKER …]

``training/data/small_files.jsonl.xz`` has a row for each of some hundred folders that were written for this project:
``{maker, folder, files, questions}``, with the text of each of its ``files`` by name. They are full of things that are
alike. Half of the ``questions`` are answered by the line ``gold`` alone and hold one of ``answers``; of the others
``near`` is the line that a careless reader would give, and ``why`` says what is wrong with it. ``said`` holds two
sentences as a small chat model may answer: the files say the first and do not say the second.
``--out`` writes rows as ``training.train --small-files`` reads them, ``--claims`` those of ``--own-claims``, both
without the makers in ``HELD``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from answering.text.context import texts_to_read
from answering.types import Chunk, Passage
from app.bootstrap.compose import build_container
from app.ingest.pipeline import ingest_into
from app.pipeline.verifiers import Verifiers
from app.providers.rerank.reader import OnnxReader
from app.settings import load_settings
from training.model_answers_study import Labelled, study
from training.passages import chunks_of
from training.rows import DATA, read_rows

HELD = frozenset({"g", "z", *(f"plain-{letter}" for letter in "abcdefghijklmnopq")})
"""Makers whose folders are kept to measure on; those of plain questions ask in the words of the files."""
MIN_SHARED = 0.85
"""A sentence is the gold line when both share so many of the words of the longer one: markup may differ."""
MAX_GOLD = 3
"""Sentences that are taken for one line."""
MIN_CHARACTERS = 8
"""Length from which on a sentence in the gold line, or around it, is it."""
_MARKUP = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+|[*_`|]", re.MULTILINE)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file to write the passages with their questions to")
    parser.add_argument("--claims", type=Path, help="file to write the passages with the sentences of answers to")
    parser.add_argument("--ask", action="append", default=[], metavar="MAKER", help="ask the questions of a maker")
    parser.add_argument(
        "--verify", action="append", default=[], metavar="MAKER", help="verify the sentences of a maker"
    )
    options = parser.parse_args()
    for out, join in ((options.out, joined), (options.claims, stated)):
        if out:
            rows = [row for folder in folders() if folder["maker"] not in HELD for row in join(folder)]
            out.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    for maker in options.ask:
        ends = Counter(end for folder in folders(maker) for end in asyncio.run(asked(folder)))
        print(maker, dict(sorted(ends.items())))
    for maker in options.verify:
        print(maker, end=": ")
        sentences = [sentence for folder in folders(maker) for sentence in labelled_sentences(folder)]
        with closing(OnnxReader()) as reader:
            asyncio.run(study(sentences, Verifiers(reader)))


def folders(maker: str = "") -> list[dict[str, Any]]:
    """Return the folders of *maker*, or all."""
    return [row for row in read_rows(DATA / "small_files.jsonl.xz") if maker in ("", row["maker"])]


def joined(folder: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each passage of *folder*, as the reader reads it, with what it answers and nearly answers."""
    chunks = chunks_in(folder)
    passages = [Passage.of(chunk, texts_to_read(chunk)) for chunk in chunks]
    for chunk, (title, texts) in zip(chunks, passages, strict=True):
        others = [passage for passage in passages if passage.sentences != texts]
        answered, near_misses = [], []
        for question in folder["questions"]:
            found = line_in(chunk, question)
            if found and question["answerable"]:
                answered.append([question["question"], found, [*range(len(others))]])
            elif found:
                near_misses.append(question["question"])
        if answered or near_misses:
            yield {
                "title": title,
                "sentences": texts,
                "questions": answered,
                "near_misses": near_misses,
                "neighbours": others,
            }


def chunks_in(folder: Mapping[str, Any]) -> list[Chunk]:
    """Return the chunks of the files of *folder*, as ingest makes them."""
    return [chunk for name, text in folder["files"].items() for chunk in chunks_of(text.encode(), name)]


def line_in(chunk: Chunk, question: Mapping[str, Any]) -> list[int]:
    """Return the sentences of *chunk* that are the line by which *question* is answered, or nearly so.

    Those that hold one of its answers, where there are any.
    """
    line = question["gold"] if question["answerable"] else question.get("near", "")
    found = [n for n, sentence in enumerate(chunk.sentences) if is_line(sentence, line)]
    exact = [n for n in found if any(form in chunk.sentences[n] for form in question.get("answers", ()))]
    return exact or found


def stated(folder: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each passage of *folder* with the sentences of answers about it, as ``training.claims`` reads them.

    They are about the line that answers, or nearly answers, their question, in the first passage that has it.
    """
    waiting = [question for question in folder["questions"] if "said" in question]
    for chunk in chunks_in(folder):
        row: dict[str, Any] = {"title": Passage.of(chunk, ()).title, "sentences": chunk.sentences}
        row |= {"true": [], "false": []}
        for question in tuple(waiting):
            if found := line_in(chunk, question):
                waiting.remove(question)
                for label, said in zip(("true", "false"), question["said"], strict=True):
                    row[label].append([said, found[:MAX_GOLD], question["question"]])
        if row["true"]:
            yield row


def labelled_sentences(folder: Mapping[str, Any]) -> Iterator[Labelled]:
    """Yield each sentence of an answer over *folder*, to be looked for in all of its files."""
    chunks = tuple(chunks_in(folder))
    for question in folder["questions"]:
        for true, said in zip((True, False), question.get("said", ()), strict=False):
            yield Labelled(said, question["question"], chunks, true)


def is_line(sentence: str, line: str) -> bool:
    """Whether *sentence* is the *line* of a file, or a part of it, whatever its markup."""
    own, other = (" ".join(_MARKUP.sub(" ", text).lower().split()) for text in (sentence, line))
    if min(len(own), len(other)) >= MIN_CHARACTERS and (own in other or other in own):
        return True
    words, wanted = (frozenset(re.findall(r"\w+", text)) for text in (own, other))
    return bool(wanted) and len(words & wanted) >= MIN_SHARED * max(len(words), len(wanted))


@contextmanager
def laid_out(folder: Mapping[str, Any]) -> Iterator[Path]:
    """Write the files of *folder* to a place that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="garden-small-") as place:
        for name, text in folder["files"].items():
            Path(place, name).write_text(text, encoding="utf-8")
        yield Path(place)


def labelled_rows(folder: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the questions of *folder* as ``training.fit_relevance`` and ``training.fit_confidence`` read them."""
    return [
        {
            "question": question["question"],
            "answerable": question["answerable"],
            "answers": question.get("answers", []),
            "gold": [
                {"file": name, "sentence": question["gold"]}
                for name, text in folder["files"].items()
                if question["answerable"] and " ".join(question["gold"].split()) in " ".join(text.split())
            ],
            "corpus": f"{folder['maker']}/{folder['folder']}",
            "kind": question.get("why", "gold"),
        }
        for question in folder["questions"]
    ]


async def asked(folder: Mapping[str, Any]) -> list[str]:
    """Ask the questions of *folder* over its files alone; return how each ends: "right", "wrong", "declined", …."""
    with tempfile.TemporaryDirectory(prefix="garden-small-") as data, laid_out(folder) as files:
        container = build_container(load_settings(data_dir=Path(data), vector_store="embedded"))
        try:
            await ingest_into(container.writer, [files])
            ends = []
            for question in folder["questions"]:
                result = await container.service.ask({"query": question["question"]})
                ends.append(how_it_ended(question, result.answer if result.answered else None))
            return ends
        finally:
            await container.aclose()


def how_it_ended(question: Mapping[str, Any], answer: str | None) -> str:
    """Judge *answer*, None for a decline, by what *question* says is right."""
    if answer is None:
        return "declined" if question["answerable"] else "rightly declined"
    if not question["answerable"]:
        return "wrongly answered"
    return "right" if any(form.lower() in answer.lower() for form in question["answers"]) else "wrong"


if __name__ == "__main__":
    main()

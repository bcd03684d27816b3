"""Questions made of a collection's headings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from answering.types import Chunk
from app.bootstrap.compose import build_container
from app.cli.evaluation.samples import MAX_HEADINGS, heading_questions, heading_samples
from app.ingest.pipeline import ingest_into
from app.providers.rerank.reader import OnnxReader
from app.providers.stores.payloads import chunk_from_payload
from app.settings import load_settings

BIRDS = "heron stork egret ibis crane rail coot grebe loon diver".split()


def chunk(document: str, number: int, section: str | None, title: str = "Birds of the lake") -> Chunk:
    return Chunk(f"{document}#{number}", document, title, "", section=section)


def test_a_heading_is_asked_if_it_is_of_one_document_and_says_enough() -> None:
    """Headings of several documents, and those with fewer than two content words, are left out, and so are numbers."""
    rows = heading_questions(
        [
            chunk("a", 0, "4.1. Nesting places"),
            chunk("a", 1, "4.1. Nesting places"),
            chunk("a", 2, "Winter food"),
            chunk("b", 0, "winter food"),
            chunk("b", 1, "Step 2"),
            chunk("b", 2, None),
            chunk("c", 0, None, title="Guide to moorland"),
        ]
    )
    found = {row.text: (row.chunks, row.documents) for row in rows}
    assert found == {"Nesting places": ({"a#0", "a#1"}, {"a"}), "Guide to moorland": ({"c#0"}, {"c"})}


def test_of_many_headings_the_same_ones_are_drawn() -> None:
    """At most ``MAX_HEADINGS`` are asked, the same at each run over a collection, in whatever order it comes."""
    chunks = [chunk("a", n, f"Nesting bird{'abcdefghij'[n % 10]}{'klmnopqrst' * (n // 10)}") for n in range(500)]
    rows = heading_questions(chunks)
    assert len(rows) == MAX_HEADINGS
    assert heading_questions(chunks[::-1]) == rows


async def test_with_its_document_left_out_nothing_is_right_for_a_heading(tmp_path: Path) -> None:
    """Over a real store and reader: a heading finds what is below it, and where it is absent, other documents only."""
    documents = tmp_path / "documents"
    documents.mkdir()
    for bird in BIRDS:
        text = f"# The {bird}\n\nA bird.\n\n## Food of the {bird}\n\nIt eats fish, frogs and insects of many kinds.\n\n"
        text += f"## Nest of the {bird}\n\nIt builds with reed and twigs, close to the water's edge.\n"
        (documents / f"{bird}.md").write_text(text)
    container = build_container(load_settings(data_dir=tmp_path / "data"))
    embeddings = container.embedding.embeddings
    await ingest_into(container.writer, [documents])
    stored = [point async for page in container.store.apoints() for point in page]
    rows = heading_questions([chunk_from_payload(point.chunk_id, {"metadata": point.metadata}) for point in stored])
    heard: list[int] = []
    reader = OnnxReader()
    samples = await heading_samples(rows, container.store, embeddings, reader, lambda done, **_: heard.append(done))
    await container.aclose()
    assert len(rows) == 2 * len(BIRDS)
    assert heard == list(range(1, 2 * len(rows) + 1))
    assert samples.answerable.tolist() == [True] * len(rows) + [False] * len(rows)
    present = samples.answerable[samples.question]
    assert set(samples.question[samples.answers > 0]) == set(range(len(rows)))
    assert not samples.relevant[~present].any()
    assert (np.bincount(samples.question) == 10).all()
    assert samples.read[~present].any()
    siblings = present & (samples.relevant > 0) & (samples.answers == 0)
    assert siblings.any()
    assert (samples.judged == ~siblings).all()

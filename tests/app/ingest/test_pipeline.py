"""Ingest from files to a real collection: what is stored, and what a second run does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import FileNote, Progress
from app.ingest.pipeline import ingest_into, ingest_items
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.stores.embedded import EmbeddedStore
from graph.errors import ConfigurationError, EmbeddingUnavailable, InvalidInput
from tests.app.ingest.conftest import MODEL, load_one, pdf, split_one

RunIngest = Callable[..., Any]
PAGES = "\f".join(f"Harbour rules\n\nA boat of class {n} moors at quay {n}.\n\nPage {n}" for n in range(1, 5))
LEFT_OUT = "page headers, page feet and page numbers left out"
RTF_PAGES = r"\page ".join(
    rf"Harbour rules\par\par A boat of class {n} moors at quay {n}.\par\par [Page {n}]\par" for n in range(1, 5)
)
HEAD = "From: a@example.org\nSubject: Rules\n"
MIXED = f"{HEAD}Content-Type: multipart/mixed; boundary=x\n\n"
PART = "--x\nContent-Type: {}\n\n{}\n"
LONG = " ".join(f"The cart number {n} has its brakes checked before the first mission of the day." for n in range(60))


@pytest.fixture
def container(tmp_path: Path) -> Path:
    """A folder with one document of several formats."""
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "carts.md").write_text(
        "# Carts\n\nCarts carry boxes from the gate to the shelves.\n\n"
        "## Brakes\n\nBrakes are tested daily. They must hold.\n"
    )
    (root / "sub" / "rules.pdf").write_bytes(pdf([(11, "Visitors wear vests.")], [(11, "Dogs stay outside.")]))
    (root / "faq.jsonl").write_text(
        '{"document_id": "faq", "title": "FAQ", "text": "Ask away.", "chunk_id": "faq-1"}\n'
    )
    return root


async def metadata(store: EmbeddedStore) -> dict[str, dict[str, Any]]:
    """The metadata of every stored chunk, by chunk id."""
    found = await store.asimilarity_search("anything", k=1000)
    stored = {}
    for document_id in await store.adocuments():
        for chunk_id in await store.achunk_hashes(document_id):
            stored[chunk_id] = next(hit.metadata for hit in found if hit.id == chunk_id)
    return stored


async def test_what_is_stored(container: Path, store: EmbeddedStore, run_ingest: RunIngest) -> None:
    """Every chunk keeps document, title, source, section and page; ids are paths, or what the row says."""
    report = await run_ingest(container)
    assert (report.added, report.changed, report.unchanged, report.removed, report.chunks) == (3, 0, 0, 0, 5)
    stored = await metadata(store)
    assert set(stored) == {"carts.md#0", "carts.md#1", "faq-1", "sub/rules.pdf#0", "sub/rules.pdf#1"}
    brakes, vests = stored["carts.md#1"], stored["sub/rules.pdf#1"]
    assert (brakes["document_id"], brakes["title"], brakes["section"], brakes["chunk_index"]) == (
        "carts.md",
        "Carts",
        "Brakes",
        1,
    )
    assert (vests["source"], vests["page"]) == ("sub/rules.pdf", 2)


async def test_a_second_run_changes_nothing(container: Path, store: EmbeddedStore, run_ingest: RunIngest) -> None:
    """Files that are as they were are left alone, and nothing is embedded or written."""
    await run_ingest(container)
    writes = store.chunks.engine.writes if hasattr(store, "chunks") else None
    report = await run_ingest(container)
    assert (report.added, report.changed, report.unchanged, report.chunks) == (0, 0, 3, 0)
    if writes is not None:
        assert store.chunks.engine.writes == writes


async def test_a_changed_file_replaces_its_chunks(container: Path, store: EmbeddedStore, run_ingest: RunIngest) -> None:
    """A file that grew, and one that shrank, have exactly their new chunks; others keep theirs."""
    (container / "carts.md").write_text(f"# Carts\n\n{LONG}\n")
    await run_ingest(container)
    many = await store.achunk_hashes("carts.md")
    (container / "carts.md").write_text("# Carts\n\nOne sentence is left.\n")
    (container / "faq.jsonl").write_text(
        '{"document_id": "faq", "title": "FAQ", "text": "New id.", "chunk_id": "faq-2"}\n'
    )
    report = await run_ingest(container)
    assert (report.added, report.changed, report.unchanged) == (0, 2, 1)
    assert len(many) > 5
    assert set(await metadata(store)) == {"carts.md#0", "faq-2", "sub/rules.pdf#0", "sub/rules.pdf#1"}


async def test_another_model_is_refused(
    container: Path, store: EmbeddedStore, run_ingest: RunIngest, embeddings: Embeddings
) -> None:
    """Chunks of another embedding model never come between those that are stored."""
    await run_ingest(container)
    before = await store.adocuments()
    store.model_name = "another"
    (container / "new.md").write_text("# New\n\nA new document.")
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODEL is another"):
        await ingest_into(CollectionWriter(store, embeddings, "another"), [container])
    assert await store.adocuments() == before


async def test_prune(container: Path, store: EmbeddedStore, run_ingest: RunIngest) -> None:
    """A removed file stays until it is asked for; then it goes, and nothing else."""
    await run_ingest(container)
    (container / "carts.md").unlink()
    assert (await run_ingest(container)).removed == 0
    assert (await run_ingest(container, prune=True)).removed == 1
    assert set(await store.adocuments()) == {"faq", "sub/rules.pdf"}


async def test_prune_leaves_what_other_paths_brought(
    tmp_path: Path, store: EmbeddedStore, run_ingest: RunIngest, embeddings: MiniLMEmbeddings
) -> None:
    """Pruning a folder removes what was ingested from it, never documents of other folders or without a path."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / f"{folder.name}.md").write_text(f"The mill stands in the {folder.name} folder.")
        (folder / "both.md").write_text(f"The weir was last told of in the {folder.name} folder.")
        (folder / "same.md").write_text("The lock is told of in both folders in the same words.")
        await run_ingest(folder)
    (first / "uploaded.md").write_text("The text of the folder.")
    await run_ingest(first)
    await run_ingest(second)
    (upload := tmp_path / "upload" / "uploaded.md").parent.mkdir()
    upload.write_text("Another text, from the browser.")
    await ingest_into(CollectionWriter(store, embeddings, MODEL), [upload])
    await store.aadd_documents([Document("Nobody says which document this is.")])
    for path in first.iterdir():
        path.unlink()
    report = await run_ingest(first, prune=True)
    assert report.removed == 1
    assert "not known to come from these paths: 5" in report.note
    assert set(await store.adocuments()) == {"second.md", "both.md", "same.md", "uploaded.md", ""}
    assert (await run_ingest(first, prune=True)).removed == 0


async def test_a_file_that_goes_before_a_prune_is_remembered(
    container: Path, store: EmbeddedStore, run_ingest: RunIngest
) -> None:
    """A run without pruning, and one from another path, do not make a later one forget what to remove."""
    await run_ingest(container)
    (container / "carts.md").unlink()
    await run_ingest(container)
    await run_ingest(container / "sub")
    assert (await run_ingest(container, prune=True)).removed == 1
    assert set(await store.adocuments()) == {"faq", "sub/rules.pdf", "rules.pdf"}


async def test_prune_keeps_what_cannot_be_read(container: Path, store: EmbeddedStore, run_ingest: RunIngest) -> None:
    """A file that is broken today keeps its chunks of yesterday."""
    await run_ingest(container)
    (container / "sub" / "rules.pdf").write_bytes(b"%PDF broken")
    report = await run_ingest(container, prune=True)
    assert (report.removed, [file.path for file in report.skipped]) == (0, ["sub/rules.pdf"])
    assert "sub/rules.pdf" in await store.adocuments()


async def test_an_emptied_file_says_what_stays(container: Path, store: EmbeddedStore, run_ingest: RunIngest) -> None:
    """A file that is empty now is reported with what is still stored of it; it goes when the file does."""
    await run_ingest(container)
    (container / "carts.md").write_text("")
    report = await run_ingest(container, prune=True)
    (named,) = report.skipped
    assert named.reason == "empty; what was stored of it before is kept and still found"
    assert "carts.md" in await store.adocuments()
    (container / "carts.md").unlink()
    assert (await run_ingest(container, prune=True)).removed == 1


async def test_prune_is_not_done_in_doubt(container: Path, store: EmbeddedStore, run_ingest: RunIngest) -> None:
    """While a row of JSON Lines is broken its document is unknown: nothing is removed, and the report says so."""
    await run_ingest(container)
    (container / "faq.jsonl").write_text("{\n" + '{"document_id": "new", "text": "New."}\n')
    report = await run_ingest(container, prune=True)
    assert report.removed == 0
    assert "faq.jsonl could not be read whole" in report.note
    assert "faq" in await store.adocuments()


async def test_a_broken_file_is_named_and_the_rest_kept(
    container: Path, store: EmbeddedStore, run_ingest: RunIngest
) -> None:
    """One damaged file blocks no other."""
    (container / "empty.txt").touch()
    (container / "noise.md").write_bytes(bytes(range(256)) * 9)
    (container / "commas.csv").write_text(",,,\n,,\n")
    (container / "page.html").write_text("<html><body><script>x = 1</script></body></html>")
    report = await run_ingest(container)
    assert report.added == 3
    assert {file.path: file.reason for file in report.skipped} == {
        "empty.txt": "empty",
        "noise.md": "binary data, not text",
        "commas.csv": "no text in it",
        "page.html": "no text in it",
    }


async def test_ids_that_are_taken_are_named(tmp_path: Path, store: EmbeddedStore, run_ingest: RunIngest) -> None:
    """Two documents of one id, or with one chunk id, never overwrite each other."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.md").write_text(f"Text of {folder}.")
        rows = f'{{"document_id": "{folder}", "chunk_id": "1", "text": "Row of {folder}."}}\n'
        (tmp_path / folder / f"{folder}.jsonl").write_text(rows)
    report = await run_ingest(tmp_path / "a", tmp_path / "b")
    assert (report.added, len(report.skipped)) == (2, 2)
    assert set(await store.adocuments()) == {"x.md", "a"}


async def test_ids_that_are_stored_for_another_document_are_named(
    tmp_path: Path, store: EmbeddedStore, run_ingest: RunIngest
) -> None:
    """From run to run, too, no document takes a chunk of another one: it is named, and the rest is kept."""
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text('{"document_id": "A", "chunk_id": "chunk-1", "text": "The mill grinds oats."}\n')
    second.write_text(
        '{"document_id": "B", "chunk_id": "chunk-1", "text": "The weir holds the river."}\n'
        '{"document_id": "C", "chunk_id": "chunk-2", "text": "The lock lifts boats."}\n'
    )
    assert (await run_ingest(first)).added == 1
    report = await run_ingest(second)
    assert (report.added, report.skipped[0].path) == (1, "B")
    assert "taken by document A" in report.skipped[0].reason
    assert set(await store.adocuments()) == {"A", "C"}
    assert (await run_ingest(first)).unchanged == 1
    assert (await store.aget_by_ids(["chunk-1"]))[0].page_content == "The mill grinds oats."


@pytest.mark.parametrize("named_first", [True, False])
async def test_a_row_cannot_take_the_number_of_another_documents_chunk(
    tmp_path: Path, store: EmbeddedStore, run_ingest: RunIngest, named_first: bool
) -> None:
    """Of a row that is called as another document's chunk, and that document, the first is kept, in one run."""
    rows = [
        '{"document_id": "x", "chunk_id": "y#0", "text": "A row with a name of its own."}\n',
        '{"document_id": "y", "text": "A document that is numbered."}\n',
    ]
    (path := tmp_path / "rows.jsonl").write_text("".join(rows if named_first else reversed(rows)))
    report = await run_ingest(path)
    assert (report.added, len(report.skipped)) == (1, 1)
    assert set(await store.adocuments()) == {"x" if named_first else "y"}


async def test_vectors_are_of_titled_text_and_of_sentences(
    container: Path, store: EmbeddedStore, run_ingest: RunIngest, embeddings: MiniLMEmbeddings
) -> None:
    """The chunk's vector is that of "title. text", and a heading is found by its words."""
    await run_ingest(container)
    ((hit, score),) = await store.asimilarity_search_with_score(
        "Carts. Brakes\n\nBrakes are tested daily. They must hold.", k=1
    )
    assert hit.id == "carts.md#1"
    assert score == pytest.approx(1.0, abs=0.02)


async def test_any_langchain_embeddings_work(container: Path, tmp_path: Path) -> None:
    """An embedding model that only has LangChain's own methods fills a collection."""
    fake = DeterministicFakeEmbedding(size=16)
    store = EmbeddedStore(fake, tmp_path / "other", "documents", 16)
    report = await ingest_into(CollectionWriter(store, fake, "fake"), [container])
    assert (report.added, await store.acount()) == (3, 5)
    await store.aclose()


class Broken(DeterministicFakeEmbedding):
    """Embeddings whose vendor fails."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise RuntimeError("vendor says: key sk-123 is wrong")


async def test_a_model_that_fails_is_an_error_of_ours(container: Path, store: EmbeddedStore) -> None:
    """The failure has our name and our words; the vendor's stay inside."""
    with pytest.raises(EmbeddingUnavailable) as failure:
        await ingest_into(CollectionWriter(store, Broken(size=384), "broken"), [container])
    assert "sk-123" not in str(failure.value)
    assert await store.acount() == 0


async def test_progress_is_reported(container: Path, store: EmbeddedStore, embeddings: Embeddings) -> None:
    """The last word of the progress is the report's."""
    reported: list[Progress] = []
    await ingest_into(CollectionWriter(store, embeddings, MODEL), [container], on_progress=reported.append)
    assert reported[-1] == Progress(files_read=3, files=3, documents=3, chunks=5, chunks_found=5)
    assert [report.chunks for report in reported] == sorted(report.chunks for report in reported)


async def test_a_mistyped_path_stops_it(store: EmbeddedStore, run_ingest: RunIngest, tmp_path: Path) -> None:
    """With ``--prune`` a wrong path would empty the garden: it is an error instead."""
    with pytest.raises(InvalidInput):
        await run_ingest(tmp_path / "nowhere", prune=True)


async def test_an_ingest_that_is_given_up_leaves_nothing_under_way(
    tmp_path: Path, store: EmbeddedStore, embeddings: MiniLMEmbeddings
) -> None:
    """Cancelled in the middle: no reader process and no write goes on, and the next run completes it."""
    rows = [f'{{"document_id": "d{n}", "chunk_id": "c{n}", "text": "Row {n} tells of carts."}}\n' for n in range(400)]
    (path := tmp_path / "rows.jsonl").write_text("".join(rows))
    (first := tmp_path / "first.txt").write_text("Hello there.")
    await ingest_into(CollectionWriter(store, embeddings, MODEL), [first])  # starts the process that forks the readers
    halfway = asyncio.Event()
    before = psutil.Process().children(recursive=True)

    def watch(progress: Progress) -> None:
        if progress.chunks:
            halfway.set()

    running = asyncio.create_task(ingest_into(CollectionWriter(store, embeddings, MODEL), [path], on_progress=watch))
    await halfway.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    left = await store.acount()
    assert set(psutil.Process().children(recursive=True)) <= set(before)
    assert await store.acount() == left
    report = await ingest_into(CollectionWriter(store, embeddings, MODEL), [path])
    assert (report.unchanged + report.added, await store.acount()) == (400, 401)
    assert report.unchanged > 0


async def test_what_a_loader_leaves_out_is_reported(
    container: Path, store: EmbeddedStore, embeddings: MiniLMEmbeddings
) -> None:
    """Every run reports the notes of a document; a note alone does not make a document a changed one."""
    writer = CollectionWriter(store, embeddings, MODEL)
    document = split_one(load_one(container / "carts.md"))
    await ingest_items(writer, [(container, document)], 1)
    noted = document.model_copy(update={"notes": ("2 hidden panels were left out",)})
    report = await ingest_items(writer, [(container, noted)], 1)
    assert (report.changed, report.unchanged) == (0, 1)
    assert report.notes == (FileNote(path="carts.md", note="2 hidden panels were left out"),)


@pytest.mark.parametrize(
    ("name", "content", "notes"),
    [
        ("plain.eml", f"{HEAD}\n{PAGES}", [LEFT_OUT]),
        (
            "attached.eml",
            f"{MIXED}{PART.format('text/plain', PAGES)}{PART.format('application/zip; name=b.zip', 'PK')}--x--\n",
            [LEFT_OUT, "attachment b.zip is not read"],
        ),
        ("pages.rtf", rf"{{\rtf1\ansi {RTF_PAGES}}}", [LEFT_OUT]),
        (
            "header.rtf",
            rf"{{\rtf1\ansi {{\header Port}}{RTF_PAGES}{{\v Ask Greta.}}}}",
            [LEFT_OUT, "page headers and footers are not read", "hidden text is not read"],
        ),
        ("rules.jsonl", json.dumps({"document_id": "rules.jsonl", "text": PAGES}), [LEFT_OUT]),
    ],
)
async def test_no_note_of_a_file_takes_the_place_of_another(
    name: str, content: str, notes: list[str], tmp_path: Path, run_ingest: RunIngest
) -> None:
    """What is left out of a file is reported in full, whichever part of the loader left it out."""
    (path := tmp_path / name).write_text(content)
    report = await run_ingest(path)
    assert [(left.path, left.note.partition(":")[0]) for left in report.notes] == [(name, note) for note in notes]

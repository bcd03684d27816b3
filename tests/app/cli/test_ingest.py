"""``garden ingest`` as people use it: summary and exit status, ``--collection``, ``--prune``, a bar on a terminal."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.bootstrap.compose import build_container
from app.cli.main import app as command
from app.ingest.manifest import note_deleted, read_sources
from app.settings import load_settings
from tests.peers.web_peer import WebPeer


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two documents, and a data directory of their own."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "pier.md").write_text("# Pier\n\nThe lighthouse of Larkfield stands on the northern pier.\n", "utf-8")
    (folder / "mill.txt").write_text("The Mill\n\nThe mill of Larkfield grinds oats on Tuesdays.\n", "utf-8")
    return folder


def ingest(*arguments: Path | str, **variables: str) -> Result:
    return CliRunner().invoke(command, ["ingest", *map(str, arguments)], env=variables)


def summary(done: Result) -> str:
    """The first line, without its seconds."""
    return re.sub(r" in \d+\.\d s", "", done.stderr.splitlines()[0])


def test_the_summary_counts_documents_and_chunks(docs: Path) -> None:
    """Added, changed, removed: each run reports what it did, without a progress bar outside a terminal."""
    first = ingest(docs)
    assert summary(first) == "2 added, 0 changed, 0 unchanged, 0 removed; 2 chunks written"
    assert (first.exit_code, first.stdout, first.stderr.count("\n")) == (0, "", 1)
    (docs / "pier.md").write_text("# Pier\n\nThe lighthouse of Larkfield was moved to the southern pier.\n", "utf-8")
    (docs / "mill.txt").unlink()
    assert summary(ingest(docs)) == "0 added, 1 changed, 0 unchanged, 0 removed; 1 chunk written"
    assert summary(ingest(docs, "--prune")) == "0 added, 0 changed, 1 unchanged, 1 removed; 0 chunks written"


def test_a_document_that_takes_the_place_of_another_is_named(docs: Path, tmp_path: Path) -> None:
    """Of two folders with a file of the same name the later one's is kept, and the summary says so; once."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "pier.md").write_text("# Pier\n\nThe pier of Oxbow is made of iron.\n", "utf-8")
    assert "Replaced" not in ingest(docs).stderr
    done = ingest(other)
    assert summary(done) == "0 added, 1 changed, 0 unchanged, 0 removed; 1 chunk written"
    assert f"Replaced, since the new document has the same id: pier.md (from {docs})." in done.stderr
    assert "Replaced" not in ingest(other).stderr


def test_a_repair_names_the_pages_that_are_lost(docs: Path, tmp_path: Path) -> None:
    """Files are read again in the place of a database that SQLite cannot read; a page is left to be ingested again."""
    with WebPeer() as site:
        site.page("/weir", "<h1>Weir</h1><p>The weir of Larkfield was built of oak.</p>")
        page = f"{site.url}/weir"
        assert ingest(docs).exit_code == ingest(page, "--allow-private").exit_code == 0
    (tmp_path / "data" / "corporate_documents" / "garden.sqlite3").write_bytes(b"no database" * 1000)
    done = CliRunner().invoke(command, ["check", "--repair", "--json"])
    report = json.loads(done.stdout)
    assert (done.exit_code, report["documents"], report["not_recovered"]) == (1, 2, [page])


def test_a_broken_file_is_named(docs: Path) -> None:
    """It costs a line, and where nothing could be ingested at all the status says so."""
    broken = docs / "truncated.pdf"
    broken.write_bytes(b"%PDF-1.4 nothing")
    alone = ingest(broken)
    assert alone.exit_code == 1
    assert summary(alone) == "0 added, 0 changed, 0 unchanged, 0 removed; 0 chunks written"
    assert alone.stderr.splitlines()[2].split()[:2] == ["skipped", "truncated.pdf"]


def test_a_path_that_is_not_there_stops_it(docs: Path) -> None:
    """One line that names the path, status 2; a later rebuild does not look for it."""
    done = ingest(docs, docs / "missing.md")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "missing.md" in done.stderr
    assert read_sources(docs.parent / "data" / "corporate_documents") == []


def test_an_address_of_another_kind_is_one_clear_line(docs: Path) -> None:
    """``ftp://`` names no file and cannot be fetched: one line that says which addresses can, status 2."""
    done = ingest("ftp://example.org/handbook.pdf")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "ftp://example.org/handbook.pdf" in done.stderr
    assert "https://" in done.stderr


def test_a_web_page_is_cited_by_its_address(docs: Path) -> None:
    """The address of a page comes back with what is found in it; beside paths, or if it is private, it is refused."""
    with WebPeer() as site:
        site.page("/pier", "<h1>Pier</h1><p>The lighthouse of Larkfield stands on the northern pier.</p>")
        address = f"{site.url}/pier"
        assert ingest(address, docs).exit_code == ingest(address).exit_code == 2
        done = ingest(address, "--allow-private")
    assert summary(done) == "1 added, 0 changed, 0 unchanged, 0 removed; 1 chunk written"
    found = CliRunner().invoke(command, ["search", "Where does the lighthouse stand?", "--json"])
    assert [result["source_url"] for result in json.loads(found.stdout)["results"]] == [address]
    assert read_sources(docs.parent / "data" / "corporate_documents") == []


def test_another_collection_is_its_own_and_a_terminal_sees_a_bar(docs: Path) -> None:
    """``--collection`` stores there and nowhere else; on a terminal a bar tells files and chunks, and goes."""
    done = ingest(docs, "--collection", "towns", FORCE_COLOR="1", TERM="xterm", COLUMNS="90")
    assert done.exit_code == 0
    bar, _, after = done.stderr.rpartition("\x1b[2K")
    assert "2/2 files, 2 chunks" in re.sub(r"\x1b\[[\d;]*m", "", bar)
    assert "2 added" in re.sub(r"\x1b\[[\d;]*m", "", after)
    assert "ingesting" not in after

    async def counts() -> tuple[int, int]:
        container = build_container(
            load_settings(vector_store_collection="towns", tasks_collection="corporate_documents")
        )
        counted = (await container.store.acount(), await container.tasks.store.acount())
        await container.aclose()
        return counted

    assert asyncio.run(counts()) == (2, 0)


def test_the_summary_ends_with_what_was_not_read_and_why(docs: Path) -> None:
    """A table names skipped files, parts left out of a file, and the files of other types but hidden ones."""
    for name in ("a.dwg", "b.DWG", "old.doc", ".hidden.doc", ".git/c.dwg", "node_modules/d.dwg"):
        (docs / name).parent.mkdir(exist_ok=True)
        (docs / name).write_text("x")
    (docs / "empty.md").touch()
    (docs / "prices.csv").write_text("Part,Price\nBolt,2\nNut,1,50\nCap,3\n")
    rows = [" ".join(line.split()) for line in ingest(docs).stderr.splitlines()[1:]]
    assert rows == [
        "file why",
        "skipped empty.md empty",
        "left out prices.csv line 3 left out: it has more cells than the header",
        "not read a.dwg (2 .dwg) no loader reads this type",
        "not read old.doc (1 .doc) save it in the current format, .docx",
    ]
    report = json.loads(ingest(docs, "--json").stdout)
    assert [(row["suffix"], row["files"]) for row in report["unread"]] == [(".dwg", 2), (".doc", 1)]


def test_what_was_deleted_by_hand_comes_back_where_that_is_asked_for(docs: Path) -> None:
    """A deleted document is named as skipped, and the status is that of success; ``--restore`` brings it back."""
    assert ingest(docs).exit_code == 0
    note_deleted(docs.parent / "data" / "corporate_documents", "pier.md")
    again = ingest(docs / "pier.md")
    assert (again.exit_code, "deleted by hand" in again.stderr) == (0, False)  # it was named itself
    again = ingest(docs)
    assert (again.exit_code, "deleted by hand" in again.stderr, "--restore" in again.stderr) == (0, True, True)
    assert "deleted by hand" not in ingest(docs, "--restore").stderr


def test_no_answer_graph_and_no_reader_is_loaded(docs: Path) -> None:
    """An ingest loads neither LangGraph nor the module of the reader: it answers nothing."""
    program = (
        "import sys; from app.cli.ingest import run_ingest; status = run_ingest([sys.argv[1]]); "
        "print(sorted({'langgraph.graph', 'graph.build', 'app.providers.rerank.reader'} & sys.modules.keys())); "
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(docs)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

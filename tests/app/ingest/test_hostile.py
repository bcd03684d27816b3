"""Files made to hurt: each is read or named in bounded time and memory, and none takes the others with it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import psutil
import pytest

from app.ingest.documents import SkippedFile, SplitDocument
from app.ingest.find import FoundFile, find_files
from app.ingest.reading import FileReaderProcess
from tests.app.ingest.conftest import load, load_one, pdf, skipped, texts
from tests.support.process import until

DEEP = 50_000


@pytest.mark.parametrize("tag", ["div", "b", "ul", "table"])
def test_html_nested_deeply(tag: str, tmp_path: Path) -> None:
    """Fifty thousand open elements cost no stack; the words inside are read."""
    (path := tmp_path / "a.html").write_text(f"<{tag}>" * DEEP + "inside" + f"</{tag}>" * DEEP)
    assert any("inside" in text for text in texts(load_one(path)))


@pytest.mark.parametrize("tag", ["nav", "p hidden", "td hidden", "li hidden"])
def test_hidden_html_nested_deeply(tag: str, tmp_path: Path) -> None:
    """Fifty thousand open elements that are left out cost no more."""
    (path := tmp_path / "a.html").write_text("<p>Words.</p>" + f"<{tag}>no" * DEEP)
    assert texts(load_one(path)) == ["Words."]


@pytest.mark.parametrize("text", ["> " * DEEP + "in", "- " * DEEP + "in", "[" * DEEP, "*a_ " * DEEP, "`" * DEEP])
def test_markdown_nested_deeply(text: str, tmp_path: Path) -> None:
    """Quotes, lists, brackets and emphasis without end are read or named."""
    (path := tmp_path / "a.md").write_text(text)
    assert load(path)


@pytest.mark.parametrize("text", ["(" * DEEP, "*" * DEEP + "a", "`" * DEEP, "- " * 2000 + "in", "a\n=\n" * 2000])
def test_rst_nested_deeply(text: str, tmp_path: Path) -> None:
    """The same for reStructuredText."""
    (path := tmp_path / "a.rst").write_text(text)
    assert load(path)


@pytest.mark.parametrize(
    "text", ["{" * DEEP, "{}" * DEEP, "<A " * DEEP, '<A b="' * DEEP, "$" * DEEP, "`" * DEEP, "\n\nimport a\n" * DEEP]
)
def test_mdx_nested_deeply(text: str, tmp_path: Path) -> None:
    """Braces, tags, formulas and scripts without end are read, or said to be empty."""
    (path := tmp_path / "a.mdx").write_text(text)
    assert load(path)


def test_json_nested_deeply(tmp_path: Path) -> None:
    """A row of fifty thousand brackets is a broken row."""
    (path := tmp_path / "a.jsonl").write_text("[" * DEEP + "]" * DEEP + "\n")
    assert skipped(path).reason.startswith("no row is a document")


def test_front_matter_that_multiplies(tmp_path: Path) -> None:
    """Aliases of aliases in YAML are not written out; the list they begin with is."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (path := tmp_path / "a.md").write_text("---\n" + "\n".join(lines) + "\ntitle: *a11\n---\nText.\n")
    assert texts(load_one(path)) == [f"- a0: {', '.join('x' * 9)}", "Text."]


def test_a_pdf_whose_pages_loop(tmp_path: Path) -> None:
    """A page tree that holds itself is named."""
    body = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj\n"
    (path := tmp_path / "a.pdf").write_bytes(body + b"trailer<</Size 3/Root 1 0 R>>\nstartxref\n0\n%%EOF")
    assert skipped(path).reason


@pytest.mark.parametrize(("suffix", "limit"), [(".txt", 50), (".jsonl", 256)])
def test_a_file_too_large_is_not_opened(suffix: str, limit: int, tmp_path: Path) -> None:
    """Past 50 MiB a file that is one document, past 256 MiB one of rows, is named by its size alone."""
    with (path := tmp_path / f"a{suffix}").open("wb") as file:
        file.truncate((limit << 20) + 1)
    assert skipped(path).reason == f"larger than {limit} MiB ({limit} MiB)"


async def read(reader: FileReaderProcess, path: Path) -> SplitDocument | SkippedFile:
    """The one document in a file, or why it was left out."""
    (result,) = [result async for result in reader.read(FoundFile(path, path.name))]
    return result


async def test_one_endless_word(tmp_path: Path) -> None:
    """Three megabytes without a space become chunks like any other text."""
    (path := tmp_path / "a.txt").write_text("a" * 3_000_000)
    async with FileReaderProcess() as reader:
        split = await read(reader, path)
    assert isinstance(split, SplitDocument)
    assert sum(len(chunk.text) for chunk in split.chunks) == 3_000_000


async def test_a_file_that_takes_too_long_is_left(tmp_path: Path) -> None:
    """Reading is ended when its time is up, the file is named, and the same reader goes on."""
    (path := tmp_path / "a.txt").write_text("Hello there.")
    async with FileReaderProcess(seconds_per_file=0) as reader:
        late = await read(reader, path)
        assert isinstance(late, SkippedFile)
        assert late.reason == "timed out after 0 s"
        reader.seconds_per_file = 60
        assert isinstance(await read(reader, path), SplitDocument)


async def test_a_reader_that_dies_is_replaced(tmp_path: Path) -> None:
    """A file that ends its reader, as a defect of a parser or the system's lack of memory would, costs only itself."""
    (path := tmp_path / "a.jsonl").write_text('{"document_id": "d", "text": "Text."}\n' * 200_000)
    (after := tmp_path / "b.txt").write_text("Hello there.")
    async with FileReaderProcess() as reader:
        await read(reader, after)
        reading = asyncio.create_task(read(reader, path))
        await asyncio.sleep(0)
        assert reader.process is not None
        reader.process.kill()
        died = await reading
        assert isinstance(died, SkippedFile)
        assert (died.reason, died.rows_lost) == ("the process that read it died", True)
        assert isinstance(await read(reader, after), SplitDocument)


async def test_the_process_that_forks_is_replaced(tmp_path: Path) -> None:
    """Where the process that starts the readers was killed, the next file is read all the same."""
    (path := tmp_path / "a.txt").write_text("Hello there.")
    async with FileReaderProcess() as reader:
        await read(reader, path)
        assert reader.process is not None
        forks = psutil.Process(reader.process.pid).parent()
        assert forks is not None
        forks.kill()
    async with FileReaderProcess() as reader, FileReaderProcess() as other:
        results = await asyncio.gather(read(reader, path), read(other, path))
    assert all(isinstance(result, SplitDocument) for result in results)


async def test_the_reader_ends_with_its_user(tmp_path: Path) -> None:
    """No process is left behind."""
    (path := tmp_path / "a.pdf").write_bytes(pdf([(11, "Hello there.")]))
    async with FileReaderProcess() as reader:
        assert isinstance(await read(reader, path), SplitDocument)
        process = reader.process
        assert process is not None
    assert process.has_ended
    until(lambda: not psutil.pid_exists(process.pid))


BROKEN_LOADER = """
def broken(data, source):
    return {}["no such key"]

import sys
from types import SimpleNamespace
from app.ingest.reading import serve
sys.modules["app.ingest.loaders.text"] = SimpleNamespace(load=broken)
serve()
"""


async def test_a_defect_of_a_loader_is_logged_with_its_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is named as an internal error, not as a broken file, and the next file is read."""
    (path := tmp_path / "a.txt").write_text("Hello there.")
    (after := tmp_path / "b.md").write_text("Hello there.")
    async with FileReaderProcess(program=BROKEN_LOADER) as reader:
        result = await read(reader, path)
        assert isinstance(await read(reader, after), SplitDocument)
    assert isinstance(result, SkippedFile)
    assert result.reason == "internal error of the .txt loader (KeyError), see the log"
    (record,) = [record for record in caplog.records if record.message == "loader_failed"]
    assert record.__dict__["file"] == "a.txt"
    assert "in broken" in record.__dict__["traceback"]


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A pipe that never speaks and a link to nothing are named."""
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.md").symlink_to(tmp_path / "nothing.md")
    assert [file.path for file in find_files(tmp_path) if isinstance(file, SkippedFile)] == ["a.jsonl", "b.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission(tmp_path: Path) -> None:
    """It is named with the system's words."""
    (path := tmp_path / "a.md").write_text("x")
    path.chmod(0)
    assert skipped(path).reason == "cannot be read: Permission denied"

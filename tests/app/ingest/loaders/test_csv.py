"""CSV is one table below its header."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, places, skipped, split_one, texts


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_table_of_csv(delimiter: str, tmp_path: Path) -> None:
    """Any usual delimiter is found; a quoted cell may hold it, quotes and line ends; a bar in a cell is escaped."""
    lines = [["Site", "Note"], ["Bern", f'"one{delimiter} ""two""\nthree"'], ["", ""], ["Chur", ""]]
    (path := tmp_path / "sites_2026.csv").write_text("\r\n".join(delimiter.join(line) for line in lines), newline="")
    document = load_one(path)
    assert document.title == "sites 2026"
    held = {"\t": " ", "|": "\\| "}.get(delimiter, f"{delimiter} ")
    assert texts(document) == [f'| Site | Note |\n| Bern | one{held}"two" three |\n| Chur |  |']
    assert [(block.kind, block.page) for block in document.blocks] == [("table", None)]


def test_title_lines_above_the_header_are_paragraphs(tmp_path: Path) -> None:
    """A line of one cell above the table is no header of it."""
    (path := tmp_path / "a.csv").write_text("Prices in May,,\n,,\nPart,,Price\nBolt,,2\n")
    assert places(load_one(path)) == [(None, None, None, "Prices in May"), (None, None, None, "| Part | Price |\n| B")]


def test_a_long_table_repeats_its_header(tmp_path: Path) -> None:
    """Each chunk of a long table begins with the header."""
    (path := tmp_path / "a.csv").write_text("Number,Name\n" + "".join(f"{n},part number {n}\n" for n in range(300)))
    chunks = split_one(load_one(path)).chunks
    assert len(chunks) > 5
    assert all(chunk.text.startswith("| Number | Name |") for chunk in chunks)


def test_broken_csv_is_named(tmp_path: Path) -> None:
    """Binary data and a quote that is never closed are each named."""
    path = tmp_path / "a.csv"
    path.write_bytes(bytes(range(256)) * 20)
    assert skipped(path).reason == "binary data, not text"
    path.write_text('a,b\n"' + "c,d\n" * 100_000)
    assert skipped(path).reason.startswith("a damaged CSV file (field larger than")

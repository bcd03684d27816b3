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


@pytest.mark.parametrize(
    ("content", "table"),
    [
        (
            "Article;Price, net\nJug, 2 l;14,50\nVase;22,00\n",
            "| Article | Price, net |\n| Jug, 2 l | 14,50 |\n| Vase | 22,00 |",
        ),
        ("Price, net;Qty, all\n1,5;2,5\n", "| Price, net | Qty, all |\n| 1,5 | 2,5 |"),
        ("name,tags\nJug,a;b;c\nVase,d;e;f\n", "| name | tags |\n| Jug | a;b;c |\n| Vase | d;e;f |"),
        ('sep=;\nName;Price, net\nVase;"1,5"\n', "| Name | Price, net |\n| Vase | 1,5 |"),
        ("Item;Size\nPipe;5\"\nTube;'a;b'\n", '| Item | Size |\n| Pipe | 5" |\n| Tube | a;b |'),
        ('Item,Note\nPipe,"open\nTube,ok\n', '| Item | Note |\n| Pipe | "open |\n| Tube | ok |'),
        ('a, b, c\n1, "x, y", 3\n', "| a | b | c |\n| 1 | x, y | 3 |"),
        ('"Price\nnet";Name\n2,5;"two\n\nlines; here"\n', "| Price net | Name |\n| 2,5 | two lines; here |"),
        (";Mon;Tue\nHall;1;2\nYard;3;4\n", "|  | Mon | Tue |\n| Hall | 1 | 2 |\n| Yard | 3 | 4 |"),
        ("alpha\nbeta, gamma\n", "| alpha |\n| beta, gamma |"),
    ],
)
def test_every_cell_stands_below_its_header(content: str, table: str, tmp_path: Path) -> None:
    """Separators and quotes are those that fit all rows, whatever the header, the prices and the notes hold."""
    (path := tmp_path / "a.csv").write_text(content)
    assert texts(load_one(path)) == [table]


def test_tabs_separate_a_tsv(tmp_path: Path) -> None:
    """A file named ``.tsv`` is read by its tabs, though each row has as many commas."""
    (path := tmp_path / "a.tsv").write_text("Name, given\tNote\nAnn, B\tx\n")
    assert texts(load_one(path)) == ["| Name, given | Note |\n| Ann, B | x |"]


def test_lines_above_a_blank_one_are_about_the_table(tmp_path: Path) -> None:
    """What an export writes above its table is no header of it."""
    (path := tmp_path / "a.csv").write_text("Created:;2026-05-01\nBy:;Ann\n\nArticle;Price;Stock\nVase;1;\n")
    assert texts(load_one(path)) == ["Created: 2026-05-01", "By: Ann", "| Article | Price | Stock |\n| Vase | 1 |  |"]


def test_comments_above_a_table_are_paragraphs(tmp_path: Path) -> None:
    """Lines that begin with a number sign are no rows, however many separators they hold."""
    (path := tmp_path / "a.csv").write_text("# exported in May\n# by Ann, Bob\nid,name\n1,Ann\n")
    assert texts(load_one(path)) == ["exported in May", "by Ann, Bob", "| id | name |\n| 1 | Ann |"]


def test_rows_whose_columns_are_not_certain_are_left_out_and_named(tmp_path: Path) -> None:
    """A separator without quotes in a cell, or a line break, moves no cell below another header: the line is named."""
    (path := tmp_path / "a.csv").write_text(
        "\nid,note,who\n1,a,Ann\n2,b,c,Bob\n3,torn\nline,Cy\n4,d,Di\n5,e,\n6,f,Ed\n"
    )
    document = load_one(path)
    assert texts(document) == ["| id | note | who |\n| 1 | a | Ann |\n| 4 | d | Di |\n| 5 | e |  |\n| 6 | f | Ed |"]
    fewer = "left out: it has fewer cells than the header, as after a line break"
    assert document.notes == (
        "line 4 left out: it has more cells than the header",
        f"line 5 {fewer}",
        f"line 6 {fewer}",
    )


@pytest.mark.parametrize("content", ["Article,Price\nVase,22,00\nJug,14,50\n", '"mpg","cyl"\n"Fiat",21,6\n'])
def test_a_table_with_more_cells_than_headers_is_named(content: str, tmp_path: Path) -> None:
    """A decimal comma among commas, or a column without a header, is not certain: the file is left out."""
    (path := tmp_path / "a.csv").write_text(content)
    assert skipped(path).reason.startswith("its columns are not certain: line 2 has 3 cells, the header 2")


def test_two_separators_that_fit_are_named(tmp_path: Path) -> None:
    """Where each row has as many commas as semicolons, and either may separate, the file says how to be read."""
    (path := tmp_path / "a.csv").write_text("Name,City;Land\nAnn,Paris;France\n")
    assert skipped(path).reason == (
        'the separator of its columns is not certain (, and ; fit): begin it with a line "sep=;"'
    )


def test_broken_csv_is_named(tmp_path: Path) -> None:
    """Binary data and a cell without an end are each named."""
    path = tmp_path / "a.csv"
    path.write_bytes(bytes(range(256)) * 20)
    assert skipped(path).reason == "binary data, not text"
    path.write_text("a" * 200_000)
    assert skipped(path).reason.startswith("a damaged CSV file (field larger than")

"""Tables and columns of plain text are read as drawn: by bars, tabs, or spaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, texts


def read(content: str, path: Path) -> list[str]:
    """The blocks of a text file."""
    path.write_text(content)
    return texts(load_one(path))


ROOMS = "| Room | Seats | Key |\n| Attic | 12 | 4B |\n| Hall | 80 | 2A |"


@pytest.mark.parametrize(
    "drawn",
    [
        "Room     Seats   Key\nAttic    12      4B\nHall     80      2A\n",
        "Room     Seats   Key\n-----    -----   ---\nAttic    12      4B\nHall     80      2A\n",
        " Room  | Seats | Key\n-------+-------+-----\n Attic |    12 | 4B\n Hall  |    80 | 2A\n",
        "+-------+-------+-----+\n| Room  | Seats | Key |\n+=======+=======+=====+\n| Attic |    12 | 4B  |\n"
        "+-------+-------+-----+\n| Hall  |    80 | 2A  |\n+-------+-------+-----+\n",
        "| Room  | Seats | Key |\n| Attic |    12 | 4B  |\n| Hall  |    80 | 2A  |\n",
        "Room\tSeats\tKey\nAttic\t12\t4B\nHall\t80\t2A\n",
    ],
    ids=["spaces", "ruled", "psql", "grid", "bars", "tabs"],
)
def test_a_table_is_a_table_however_it_is_drawn(drawn: str, tmp_path: Path) -> None:
    """Its first row names the columns; rules are no rows."""
    assert read(drawn, tmp_path / "a.txt") == [ROOMS]


def test_what_stands_around_a_table_stays_text(tmp_path: Path) -> None:
    """Also without a blank line between them; what is wrapped goes on in its cell."""
    drawn = (
        "These are the rooms of the house.\n"
        "Room     Use                  Key\nAttic    storage, and play    4B\n         on Sundays\nHall     dancing              2A\n"
        "The keys hang in the porch.\n"
    )
    assert read(drawn, tmp_path / "a.txt") == [
        "These are the rooms of the house.",
        "| Room | Use | Key |\n| Attic | storage, and play on Sundays | 4B |\n| Hall | dancing | 2A |",
        "The keys hang in the porch.",
    ]


def test_prices_without_a_header_are_a_list(tmp_path: Path) -> None:
    """None of them is lost as the name of a column."""
    drawn = "Adults       6.80\nChildren     3.00\nDogs         free\n"
    assert read(drawn, tmp_path / "a.txt") == ["- Adults: 6.80\n- Children: 3.00\n- Dogs: free"]


@pytest.mark.parametrize(
    "lines",
    [
        "Solid blue       ready\nBlinking amber   blocked\nRed              stopped",
        "  garden ingest docs    reads them\n  garden ask            answers",
    ],
)
def test_aligned_lines_without_a_header_stay_lines(lines: str, tmp_path: Path) -> None:
    """No row is taken for the names of columns that are none."""
    assert read(f"{lines}\n", tmp_path / "a.txt") == [lines]


def test_two_columns_of_text_are_read_one_after_the_other(tmp_path: Path) -> None:
    """As a newsletter is set: no sentence goes on in the other column."""
    drawn = (
        "The library opens at nine on           Members may borrow six books\n"
        "weekdays and closes at five in         for three weeks. A fine of ten\n"
        "winter, but at seven from May          cents a day is asked for each\n"
        "to September.                          book that comes back late.\n"
    )
    assert read(drawn, tmp_path / "a.txt") == [
        "The library opens at nine on weekdays and closes at five in winter, but at seven from May to September.",
        "Members may borrow six books for three weeks. A fine of ten cents a day is asked for each book that comes "
        "back late.",
    ]

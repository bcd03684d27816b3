"""Tables and columns of plain text are read as drawn: by bars, tabs, or spaces."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, texts


def read(content: str, path: Path) -> list[str]:
    """The blocks of a text file."""
    path.write_text(content)
    return texts(load_one(path))


ROOMS = "| Room | Seats | Key |\n| Attic | 12 | 4B |\n| Hall | 80 | 2A |"


SPACES = "Room     Seats   Key\nAttic    12      4B\nHall     80      2A\n"
RULED = "Room     Seats   Key\n-----    -----   ---\nAttic    12      4B\nHall     80      2A\n"
FULL_RULE = "  Room     Seats   Key\n  --------------------\n  Attic    12      4B\n  Hall     80      2A\n"
PSQL = " Room  | Seats | Key\n-------+-------+-----\n Attic |    12 | 4B\n Hall  |    80 | 2A\n"
BARS = "| Room  | Seats | Key |\n| Attic |    12 | 4B  |\n| Hall  |    80 | 2A  |\n"
GRID = BARS.replace("|\n", "|\n+-------+-------+-----+\n")
TABS = "Room\tSeats\tKey\nAttic\t12\t4B\nHall\t80\t2A\n"


@pytest.mark.parametrize("drawn", [SPACES, RULED, FULL_RULE, PSQL, BARS, GRID, TABS])
def test_a_table_is_a_table_however_it_is_drawn(drawn: str, tmp_path: Path) -> None:
    """Its first row names the columns; rules are no rows."""
    assert read(drawn, tmp_path / "a.txt") == [ROOMS]


def test_what_stands_around_a_table_stays_text(tmp_path: Path) -> None:
    """Also without a blank line between them; what is wrapped goes on in its cell."""
    drawn = (
        "These are the rooms of the house.\n"
        "Room     Use                  Key\n"
        "Attic    storage, and play    4B\n"
        "         on Sundays\n"
        "Hall     dancing              2A\n"
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
    ("drawn", "items"),
    [
        (
            "Solid blue       ready\nBlinking amber   blocked\nRed              stopped\n",
            "- Solid blue: ready\n- Blinking amber: blocked\n- Red: stopped",
        ),
        (
            "Keys    Mortice   £7.00  at once\n        Yale      £4.50  at once\nShears  Sharp     £6.50  next day\n",
            "- Keys: Mortice, £7.00, at once\n- Keys: Yale, £4.50, at once\n- Shears: Sharp, £6.50, next day",
        ),
        (
            "Skelby      0642   0712\nColdbeck    0651   0721\nHospital    0715   0749\n",
            "- Skelby: 0642, 0712\n- Coldbeck: 0651, 0721\n- Hospital: 0715, 0749",
        ),
    ],
)
def test_rows_without_a_header_are_items(drawn: str, items: str, tmp_path: Path) -> None:
    """Each is a sentence of its own, and none is lost as the names of columns; a group's name is in all its rows."""
    assert read(drawn, tmp_path / "a.txt") == [items]


def test_two_aligned_lines_stay_lines(tmp_path: Path) -> None:
    """They are too few for a table."""
    lines = "  garden ingest docs    reads them\n  garden ask            answers"
    assert read(f"{lines}\n", tmp_path / "a.txt") == [lines]


@pytest.mark.parametrize(
    "drawn",
    [
        "            3 Mar       10 Mar\nWelcome     Joan P.     Beth W.\nCoffee      Anil K.     Ruth O.\n",
        "\t3 Mar\t10 Mar\nWelcome\tJoan P.\tBeth W.\nCoffee\tAnil K.\tRuth O.\n",
    ],
)
def test_dates_may_name_columns(drawn: str, tmp_path: Path) -> None:
    """Of a rota: below them are no numbers."""
    table = "|  | 3 Mar | 10 Mar |\n| Welcome | Joan P. | Beth W. |\n| Coffee | Anil K. | Ruth O. |"
    assert read(drawn, tmp_path / "a.txt") == [table]


OVERFLOW = "Name   Price\n-----  -----\nPeppermint tea  2.50\nTea  2.00\n"
CELL_TOO_FEW = "| Product name | Price | Remark |\n| --- | --- | --- |\n| Coffee, large | £3.50 |\n"
NUMBERS = "1.  Close the door.\n2.  Lock the gate.\n3.  Go home.\n"
DASHES = "-   Bring soap\n-   Bring a towel\n-   Bring a friend\n"
TABBED = "1.\tOpen the box\n2.\tTake the key\n3.\tClose the box\n"
ENTRIES = """\
Trouble                   What to do about it
The pump makes a loud     Close the main valve and
noise when it starts      wait for ten minutes
The light blinks in a     Call the service at once
quick and steady way      and switch the pump off
The tank is empty and     Fill the tank to its mark
the pump has stopped      before you start again
"""
LONG_LINE = f"""\
The library opens at nine on       Members may borrow six books
weekdays and closes at five in     for three weeks. A fine of ten
winter, but at seven from May      cents a day is asked for each
to September.                      book.

{"supercalifragilistic " * 20}
"""


@pytest.mark.parametrize("drawn", [OVERFLOW, CELL_TOO_FEW, NUMBERS, DASHES, TABBED, ENTRIES, LONG_LINE])
def test_no_word_is_cut_and_no_list_a_table(drawn: str, tmp_path: Path) -> None:
    """What is read has the words of the file, and only they; a marker is no first cell."""
    shown = "\n".join(read(drawn, tmp_path / "a.txt"))
    assert sorted(re.findall(r"[\w£.]+", shown)) == sorted(re.findall(r"[\w£.]+", drawn))
    assert not re.search(r"^- \S{1,2}:", shown, re.MULTILINE)


def test_the_name_of_a_group_is_one_cell(tmp_path: Path) -> None:
    """It is longer than its column."""
    rows = ["Day         Opens    Closes", "Public holidays and school breaks", "Mon         9        5"]
    drawn = "\n".join([*rows, "Tue         9        5", ""])
    (table,) = read(drawn, tmp_path / "a.txt")
    assert "Public holidays and school breaks" in table


def test_a_rule_above_a_total_makes_no_grid(tmp_path: Path) -> None:
    """The rows between two rules stay apart, unless one goes on in the next line."""
    drawn = "| A | B |\n|---|---|\n| x | 1 |\n| y | 2 |\n|---|---|\n| total | 3 |\n"
    assert read(drawn, tmp_path / "a.txt") == ["| A | B |\n| x | 1 |\n| y | 2 |\n| total | 3 |"]


def test_labels_with_values_are_lines_of_their_own(tmp_path: Path) -> None:
    """Also in a narrow text: the value of one is none of the next."""
    text = "Emergency (no heat, flood): 4 hours\nUrgent (leak, lock): 2 working days\nRoutine: 20 days\n"
    assert read(text, tmp_path / "a.txt") == text.strip().split("\n")


def test_rows_wrapped_grouped_and_summed_up(tmp_path: Path) -> None:
    """A rule shows the columns where a long cell leaves one space; the names of groups become a column."""
    drawn = (
        "FARES OF 1 MAY     Adult   Child\n"
        "                   GBP     GBP\n"
        "----------------   -----   -----\n"
        "Single tickets\n"
        "All of the zones 1 2.00    1.00\n"
        "Two zones          1.50    free\n"
        "Passes\n"
        "Week, but not on   9.00    4.50\n"
        "a bank holiday\n"
    )
    (table,) = read(drawn, tmp_path / "a.txt")[:1]
    assert table.split("\n")[:2] == [
        "| FARES OF 1 MAY |  | Adult GBP | Child GBP |",
        "| All of the zones 1 | Single tickets | 2.00 | 1.00 |",
    ]


def test_labels_and_values_in_pairs(tmp_path: Path) -> None:
    """As the head of a delivery note has them; dots between more than two parts of a line are commas."""
    note = "Carrier:    Polar Freight     Date:     18 April\nConsignee:  Base Camp         Number:   NL-77\n"
    assert read(note, tmp_path / "a.txt") == [
        "- Carrier: Polar Freight\n- Date: 18 April\n- Consignee: Base Camp\n- Number: NL-77"
    ]
    phones = "Night watch ...... Tomos Reed ...... 01882\nYard ............. Bryn Lacey ...... 01883\n"
    assert read(phones, tmp_path / "b.txt") == ["- Night watch: Tomos Reed, 01882\n- Yard: Bryn Lacey, 01883"]


def test_two_columns_of_text_are_read_one_after_the_other(tmp_path: Path) -> None:
    """As a newsletter is set, with paragraphs that are not level: no sentence goes on in the other column."""
    drawn = """\
              THE DEPOT NEWS   -   October

Library                                 Winter

The library opens at nine on            Members may borrow six books
weekdays and closes at five in          for three weeks. A fine of ten
winter, but at seven from May           cents a day is asked for each
to September.                           book.

Lost property                           Retirement

We handed over 41 umbrellas to          After 33 years at the wheel Des
the shop. Keys are kept for half a      Mulgrew retires.
year.
"""
    path = tmp_path / "a.txt"
    path.write_text(drawn)
    sections = [(block.section, block.text) for block in load_one(path).blocks[1:]]
    assert sections == [
        (
            "Library",
            "The library opens at nine on weekdays and closes at five in winter, but at seven from May to September.",
        ),
        ("Lost property", "We handed over 41 umbrellas to the shop. Keys are kept for half a year."),
        (
            "Winter",
            "Members may borrow six books for three weeks. A fine of ten cents a day is asked for each book.",
        ),
        ("Retirement", "After 33 years at the wheel Des Mulgrew retires."),
    ]

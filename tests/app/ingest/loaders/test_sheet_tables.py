"""A table is read as its author drew it: with its own header, which may be of two rows, and the names of its groups."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, texts


def read(content: str, path: Path) -> list[str]:
    """The blocks of a CSV file, the rows of a table without the space around its cells."""
    path.write_text(content)
    return [re.sub(r"^\| | \|$", "", text, flags=re.MULTILINE).replace(" | ", "|") for text in texts(load_one(path))]


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        (
            "Boat,Berth,Crew\nAda,12,4\nBo,14,3\n,,\nBuoy,Colour,Depth\nNorth,red,6\n",
            ["Boat|Berth|Crew\nAda|12|4\nBo|14|3", "Buoy|Colour|Depth\nNorth|red|6"],
        ),
        (
            "Boats,,\nBoat,Berth,Crew\nAda,12,4\nSold boats,,\nBoat,Buyer,Price\nCleo,Ann,900\n",
            ["Boats", "Boat|Berth|Crew\nAda|12|4", "Sold boats", "Boat|Buyer|Price\nCleo|Ann|900"],
        ),
        (
            "Boat,Berth,Crew\nAda,12,4\nsee the plan,,\n,,\nSold,,\n,,\nBoat,Buyer,Price\nCleo,Ann,900\n",
            ["Boat|Berth|Crew\nAda|12|4\nsee the plan||", "Sold", "Boat|Buyer|Price\nCleo|Ann|900"],
        ),
        ("Boat,Crew\nAda,4\n,\nBo,none\nCy,2\n", ["Boat|Crew\nAda|4\nBo|none\nCy|2"]),
        (
            "Boat,State,Crew\nAda,sold,4\n,,\nBo,sold,none\nCy,new,2\n",
            ["Boat|State|Crew\nAda|sold|4\nBo|sold|none\nCy|new|2"],
        ),
        ("Boat,Crew\nAda,4\nNew,\nBo,none\nCy,2\n", ["Boat|Crew\nAda|4\nNew|\nBo|none\nCy|2"]),
        ("Name,Town\nAnn,Bern\n,\nBob,Chur\nCy,Genf\n", ["Name|Town\nAnn|Bern\nBob|Chur\nCy|Genf"]),
        ("By,Ann\nOf,May\n,,\nBoat,Berth,Crew\nAda,12,4\n", ["By Ann", "Of May", "Boat|Berth|Crew\nAda|12|4"]),
    ],
)
def test_tables_below_each_other(content: str, blocks: list[str], tmp_path: Path) -> None:
    """Below a blank row or a title a row of words above numbers is the header of a table of its own."""
    assert read(content, tmp_path / "a.csv") == blocks


@pytest.mark.parametrize(
    ("content", "table"),
    [
        (
            "Pier,Boat,Crew\nEast,Ada,4\n,Bo,3\nWest,Cy,2\n,Di,\nTotal,,9\n",
            "Pier|Boat|Crew\nEast|Ada|4\nEast|Bo|3\nWest|Cy|2\nWest|Di|\nTotal||9",
        ),
        (
            "Pier,Boat,Crew\nEast,Ada,4\n,Bo,3\n,Total,7\nWest,Cy,2\n,Di,5\n",
            "Pier|Boat|Crew\nEast|Ada|4\nEast|Bo|3\n|Total|7\nWest|Cy|2\nWest|Di|5",
        ),
        ("Name,Town\nAnn,Bern\nBo,Chur\n,Genf\nCy,Sion\n", "Name|Town\nAnn|Bern\nBo|Chur\n|Genf\nCy|Sion"),
        ("Rank,Name\nCook,Ann\n,Bo\nCook,Cy\n,Di\n", "Rank|Name\nCook|Ann\n|Bo\nCook|Cy\n|Di"),
        ("Item,Note,Size\nA,x,1\n,,2\nB,y,3\n,,4\n", "Item|Note|Size\nA|x|1\n||2\nB|y|3\n||4"),
    ],
)
def test_the_name_of_a_group_stands_in_each_of_its_rows(content: str, table: str, tmp_path: Path) -> None:
    """A name that is written once for the rows below it is theirs; a cell that is only empty stays so, as do totals."""
    assert read(content, tmp_path / "a.csv") == [table]


@pytest.mark.parametrize(
    ("content", "table"),
    [
        (
            "Pool,2025,,2026,\n,Adult,Child,Adult,Child\nOst,1,2,3,4\n",
            "Pool|2025 Adult|2025 Child|2026 Adult|2026 Child\nOst|1|2|3|4",
        ),
        (
            ",Month,Month,Year,Year\nHall,Adult,Child,Adult,Child\nOst,1,2,3,4\n",
            "Hall|Month Adult|Month Child|Year Adult|Year Child\nOst|1|2|3|4",
        ),
        (
            ",Adult,,Child,\nHall,Month,Year,Month,Year\nOst,1,2,3,4\n",
            "Hall|Adult Month|Adult Year|Child Month|Child Year\nOst|1|2|3|4",
        ),
        ("Pump,Power,Site\n,kW,\nP1,3,Bern\nP2,5,Chur\n", "Pump|Power kW|Site\nP1|3|Bern\nP2|5|Chur"),
        (",Mon,Tue\nHall,shut,open\nYard,3,4\n", "|Mon|Tue\nHall|shut|open\nYard|3|4"),
        (
            "Name,Phone,Town\n,none,Bern\nAnn,Bo,Chur\nCy,12,Genf\n",
            "Name|Phone|Town\n|none|Bern\nAnn|Bo|Chur\nCy|12|Genf",
        ),
        ("Name,Score,,Town\nAnn,none,x,Bern\nCy,12,y,Genf\n", "Name|Score||Town\nAnn|none|x|Bern\nCy|12|y|Genf"),
        ("Pool,Adult,Adult\nOst,1,2\nWest,3,4\n", "Pool|Adult|Adult\nOst|1|2\nWest|3|4"),
    ],
)
def test_a_header_of_two_rows(content: str, table: str, tmp_path: Path) -> None:
    """Groups and the columns below them, and columns and their units, are one name; a row of data is no header."""
    assert read(content, tmp_path / "a.csv") == [table]


def test_a_header_of_two_rows_in_html(tmp_path: Path) -> None:
    """The same below a title row, with cells that stand in several columns and rows."""
    (path := tmp_path / "a.html").write_text(
        "<table><tr><th colspan=3>Fees</th></tr><tr><th rowspan=2>Pool</th><th colspan=2>2026</th></tr>"
        "<tr><th>Adult</th><th>Child</th></tr><tr><td>Ost</td><td>4</td><td>2</td></tr></table>"
    )
    assert texts(load_one(path)) == ["| Fees |\n| Pool | 2026 Adult | 2026 Child |\n| Ost | 4 | 2 |"]


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        (
            "Line,Route,First\nWeekdays,,\nL4,Harbour,4:50\nL7,Mill,5:10\nSundays,,\nL4,Harbour,7:00\n",
            ["Line||Route|First\nL4|Weekdays|Harbour|4:50\nL7|Weekdays|Mill|5:10\nL4|Sundays|Harbour|7:00"],
        ),
        (
            "Dish,Allergens,Price\nMains,,\nPie,egg,13\nRice is included.,,\nPuddings,,\nCrumble,milk,7\nTotal,,20\n",
            ["Dish||Allergens|Price\nPie|Mains|egg|13\nRice is included.|||\nCrumble|Puddings|milk|7\nTotal|||20"],
        ),
        (
            "Trail,Length,State\nOtter,3 km,open\nRaven,,\nTern,2 km,closed\n",
            ["Trail|Length|State\nOtter|3 km|open\nRaven||\nTern|2 km|closed"],
        ),
        (
            "Trail,Length,State\nRaven,,\nOtter,3 km,open\nTern,,\n",
            ["Trail|Length|State\nRaven||\nOtter|3 km|open\nTern||"],
        ),
    ],
)
def test_a_row_of_one_cell_names_the_group_of_those_below(content: str, blocks: list[str], tmp_path: Path) -> None:
    """Where the first row below the header is one, and none the last; a remark and a total are of no group.

    Else it is a record without values.
    """
    assert read(content, tmp_path / "a.csv") == blocks


def test_a_group_over_the_whole_width_of_a_table(tmp_path: Path) -> None:
    """In HTML it is one cell of several columns, in Markdown its other cells are empty."""
    (path := tmp_path / "a.html").write_text(
        "<table><tr><th>Line<th>Route<th>First<tr><th colspan=3>Sundays<tr><td>L4<td>Harbour<td>7:00</table>"
    )
    (other := tmp_path / "a.md").write_text(
        "| Line | Route | First |\n|-|-|-|\n| **Sundays** |||\n| L4 | Harbour | 7:00 |\n"
    )
    shown = "| Line |  | Route | First |\n| L4 | Sundays | Harbour | 7:00 |"
    assert texts(load_one(path)) == texts(load_one(other)) == [shown]


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        (
            "Staff,,,Rooms,\nName,Phone,,Room,Seats\nAnn,101,,Hall,80\nBob,102,,Attic,20\nCat,103,,,\n",
            ["Staff", "Name|Phone\nAnn|101\nBob|102\nCat|103", "Rooms", "Room|Seats\nHall|80\nAttic|20"],
        ),
        (
            "Item,Price,,Item,Price\nTea,2.5,,Cake,4\nCoffee,3.2,,Scone,3\n",
            ["Item|Price\nTea|2.5\nCoffee|3.2", "Item|Price\nCake|4\nScone|3"],
        ),
        ("Item,Price,,Maker\nTea,2.5,,Acme\nMilk,1.1,,\n", ["Item|Price|Maker\nTea|2.5|Acme\nMilk|1.1|"]),
        (
            "Invoice,17,,Bill to,Acme\nPaid,3 May,,City,Leeds\n,,,,\nItem,Qty,Price,,\nBolt,20,1.5,,\nNut,40,.5,,\n",
            ["- Invoice: 17\n- Paid: 3 May\n- Bill to: Acme\n- City: Leeds", "Item|Qty|Price\nBolt|20|1.5\nNut|40|.5"],
        ),
        ("Hall hire,120\nDeposit,50\nCleaning,none\n", ["- Hall hire: 120\n- Deposit: 50\n- Cleaning: none"]),
        ("Town,2024\nBern,14\nChur,12\n", ["Town|2024\nBern|14\nChur|12"]),
        ("Item,2025 price\nTea,2\nMilk,1\n", ["Item|2025 price\nTea|2\nMilk|1"]),
        ("Club,2023/24,Note\nAjax,3,new\nBohs,4,old\n", ["Club|2023/24|Note\nAjax|3|new\nBohs|4|old"]),
        ("Event,Date\nFair,2024-05-12\nMarket,Saturdays\n", ["Event|Date\nFair|2024-05-12\nMarket|Saturdays"]),
        ("Who,Contact\nAnn,a@x.example\nBo,the office\n", ["Who|Contact\nAnn|a@x.example\nBo|the office"]),
        ("Name:,Ann,,by hand\nAge:,3,Room:,4\n", ["- Name: Ann\n- by hand\n- Age: 3\n- Room: 4"]),
        ("Item,Jan,,Jan,Feb\nRent,5,,7,8\nHeat,1,,3,4\n", ["Item|Jan|Jan|Feb\nRent|5|7|8\nHeat|1|3|4"]),
        ("Room,Size,,By,Phone\nA,1,,Ann,9\nB,2,,Bo,8\nC,3,,,\n", ["Room|Size|By|Phone\nA|1|Ann|9\nB|2|Bo|8\nC|3||"]),
        (
            "Item,Price,,,Room,Seats\nTea,2,,,Hall,80\nMilk,1,,,Bar,9\n",
            ["Item|Price\nTea|2\nMilk|1", "Room|Seats\nHall|80\nBar|9"],
        ),
        (
            "Desk,Ann,100,hall\nYard,Bo,214,pier\nLab,Cy,238,attic\n",
            ["- Desk: Ann, 100, hall\n- Yard: Bo, 214, pier\n- Lab: Cy, 238, attic"],
        ),
        (
            "Stop,07:10,08:10\nPier,07:20,08:20\nHill,07:30,08:30\n",
            ["Stop|07:10|08:10\nPier|07:20|08:20\nHill|07:30|08:30"],
        ),
        (
            "Contact,Ann\nE-mail,ann@a.example\nLead time,9 days\n",
            ["- Contact: Ann\n- E-mail: ann@a.example\n- Lead time: 9 days"],
        ),
    ],
)
def test_tables_beside_each_other_and_without_a_header(content: str, blocks: list[str], tmp_path: Path) -> None:
    """Each has its own header; a label with its value is no header, a year is."""
    assert read(content, tmp_path / "a.csv") == blocks

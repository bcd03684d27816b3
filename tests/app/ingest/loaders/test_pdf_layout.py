"""PDF pages by the position of their words: record pages, running lines, columns, hyphens, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from app.ingest.documents import LoadedDocument
from tests.app.ingest.conftest import load_one, texts

Drawn = tuple[float, float, str]
"""Points from the left and from the top of an A4 page, and the text of one line."""
LEFT = [
    "The boiler must be switched off before",
    "the cover is opened. Wait until the pres-",
    "sure gauge shows zero. The well-",
    "known fault is a stuck valve, which is",
    "freed with a hammer. A state-of-the-",
    "art sensor warns of frost in the pipes.",
]
RIGHT = [
    "Visitors wear a helmet in hall 3. The crane",
    "may lift at most 1.2 tonnes. Food is not",
    "allowed near the machines. Every visi-",
    "tor signs the book at the gate and re-",
    "turns the badge in the evening. Photo-",
    "graphs need the permission of the owner.",
]
COLUMNS = [
    (
        "The boiler must be switched off before the cover is opened. Wait until the pressure gauge shows zero. "
        "The well-known fault is a stuck valve, which is freed with a hammer. "
        "A state-of-the-art sensor warns of frost in the pipes."
    ),
    (
        "Visitors wear a helmet in hall 3. The crane may lift at most 1.2 tonnes. Food is not allowed near the "
        "machines. Every visitor signs the book at the gate and returns the badge in the evening. "
        "Photographs need the permission of the owner."
    ),
]
PARTS = [
    ["Part", "Size", "Stock", "Price"],
    ["Hinge", "40 mm", "", "3.20"],
    ["Lock", "", "12", "18.00"],
    ["Handle", "110 mm", "7", ""],
    ["Spring", "", "", "1.75"],
]


def loaded(path: Path, *pages: Iterable[Drawn], size: float = 11) -> LoadedDocument:
    """The document of a PDF whose pages hold lines drawn one by one."""
    from fpdf import FPDF

    document = FPDF(unit="pt")
    for page in pages:
        document.add_page()
        document.set_font("Helvetica", size=size)
        for left, top, text in page:
            document.text(left, top, text)
    path.write_bytes(bytes(document.output()))
    return load_one(path)


def down(lines: Iterable[str], left: float = 60, top: float = 60, apart: float = 14) -> list[Drawn]:
    """Lines below one another."""
    return [(left, top + apart * at, line) for at, line in enumerate(lines)]


def table_lines(rows: Iterable[Sequence[str]]) -> str:
    """A table as it is stored."""
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def test_what_varies_with_the_page_is_content(tmp_path: Path) -> None:
    """Numbered first and last lines of one record a page stay, though they differ in their numbers alone."""
    codes = [4402, 8170, 2956, 1198]
    pages = [
        down([f"Locker {number}", f"The code is {code}.", "It is changed every quarter.", f"Sheet {2 * number}"])
        for number, code in enumerate(codes, 11)
    ]
    whole = "\n".join(texts(document := loaded(tmp_path / "a.pdf", *pages)))
    assert all(f"Locker {number} The code is {code}." in whole for number, code in enumerate(codes, 11))
    assert "Sheet 28" in whole
    assert document.notes == ()


def test_records_of_one_line_are_no_scan(tmp_path: Path) -> None:
    """Pages with nothing but a line that differs in its number are read."""
    document = loaded(tmp_path / "a.pdf", *(down([f"Ticket {number}"]) for number in (7, 8, 9)))
    assert texts(document) == ["Ticket 7", "Ticket 8", "Ticket 9"]


def test_running_lines_are_dropped_and_reported(tmp_path: Path) -> None:
    """Page numbers in sequence and the same small line at the same position go; the notes count and name them."""
    from fpdf import FPDF

    document = FPDF(unit="pt")
    for number, name in enumerate(["Apples", "Pears", "Plums", "Figs", "Limes"], 1):
        document.add_page()
        document.set_font("Helvetica", size=8)
        document.text(60, 30, "House rules, edition 3")
        document.text(500 if number % 2 else 60, 810, f"- {number + 16} -")
        document.set_font("Helvetica", size=11)
        document.text(60, 90, f"{name} ripen in week {number + 30}.")
        document.text(60, 104, f"Row {number} of the orchard.")
    (path := tmp_path / "a.pdf").write_bytes(bytes(document.output()))
    loaded_one = load_one(path)
    assert texts(loaded_one)[0] == "Apples ripen in week 31. Row 1 of the orchard."
    assert len(loaded_one.blocks) == 5
    (note,) = loaded_one.notes
    assert "left out: 10 (" in note
    assert "“House rules, edition 3”" in note


def test_a_recurring_line_in_the_type_of_the_text_stays_once(tmp_path: Path) -> None:
    """The letterhead of form letters is read on the first page."""
    pages = [down(["Water Works Nordhausen", f"Dear customer {name},"]) for name in ("Weber", "Kahn", "Unger", "Roth")]
    whole = " ".join(texts(loaded(tmp_path / "a.pdf", *pages)))
    assert whole.count("Water Works Nordhausen") == 1
    assert whole.count("Dear customer") == 4


def test_a_header_of_two_pages_is_read_once(tmp_path: Path) -> None:
    """The same line at the top of both pages is text of the first alone, and no part of the sentence below it."""
    below = [
        "The pumps are looked after by the night shift, which keeps its book",
        "in the hut beside the lower lock. The book is read every Monday.",
        "Nobody opens the lower lock while a barge is under the bridge.",
    ]
    document = loaded(tmp_path / "a.pdf", *(down(["Canal rules of Osterby", *lines]) for lines in (below, below[::-1])))
    assert texts(document) == ["Canal rules of Osterby", " ".join(below), " ".join(below[::-1])]
    assert "left out: 1 (“Canal rules of Osterby”)" in document.notes[0]
    records = [down(["Locker key", f"Number {number} fits.", "It is kept at the gate."]) for number in (31, 57)]
    assert "".join(texts(loaded(tmp_path / "b.pdf", *records))).count("It is kept at the gate.") == 2


@pytest.mark.parametrize("drawn", ["line by line", "by columns", "with other leading"])
def test_columns_are_read_one_after_the_other(tmp_path: Path, drawn: str) -> None:
    """However they are drawn, a column ends before the next begins; a hyphen goes where the word has none."""
    left = down(LEFT)
    right = down(RIGHT, 320, 57, 12.5) if drawn == "with other leading" else down(RIGHT, 320)
    page = [*left, *right] if drawn == "by columns" else sorted([*left, *right], key=lambda word: word[1])
    assert texts(loaded(tmp_path / "a.pdf", page, size=10)) == COLUMNS


def test_three_columns_drawn_line_by_line_are_no_table(tmp_path: Path) -> None:
    """Columns of running text whose lines are level with each other are read one after the other."""
    columns = [
        ["Tents: pitch them on the", "lower meadow only. The", "ground is firm there. A", "tent costs 24 euros."],
        ["Caravans: use rows B and", "C. Every place has its own", "tap. Leave the tap closed", "at night, please."],
        ["Cabins: keys are at the", "office until nine. Later", "arrivals find them in box", "44 beside the gate."],
    ]
    page = [
        (60.0 + 180 * at, 60.0 + 14 * n, text)
        for n, row in enumerate(zip(*columns, strict=True))
        for at, text in enumerate(row)
    ]
    assert texts(loaded(tmp_path / "a.pdf", page, size=10)) == [" ".join(column) for column in columns]


def test_columns_of_short_sections_are_no_table(tmp_path: Path) -> None:
    """Headings and last lines are short, so most rows are: columns that are drawn one after the other stay columns."""
    left = [
        "Mill",
        "The mill grinds rye from the first of May,",
        "wheat from the middle of August and",
        "oats in winter.",
    ]
    left += ["Barn", "The barn holds the hay of the east field and", "the straw of the others."]
    right = ["Pond", "The pond is drained for the carp in October,", "without any of its boats."]
    right += [
        "Yard",
        "Carts are kept in the yard by night, below a",
        "roof that is made of reeds, and",
        "horses beside.",
    ]
    loaded_texts = texts(loaded(tmp_path / "a.pdf", [*down(left), *down(right, left=320)]))
    assert " ".join(loaded_texts) == " ".join([*left, *right])


def test_rows_below_a_header_of_two_lines_stay_apart(tmp_path: Path) -> None:
    """Rows that are empty in turns are not put together because the header is higher than they are."""
    lines = [
        ["Hall", "Seats", "Rent per", "Deposit"],
        ["", "", "evening", ""],
        ["Linden Hall", "240", "410 EUR", "500 EUR"],
        ["Maple Hall", "60", "", "150 EUR"],
        ["Music Room", "", "80 EUR", ""],
    ]
    page = [
        (60.0 + 110 * at, 60.0 + 15 * n, text) for n, row in enumerate(lines) for at, text in enumerate(row) if text
    ]
    document = loaded(tmp_path / "a.pdf", page, size=10)
    rows = [["Hall", "Seats", "Rent per evening", "Deposit"], *lines[2:]]
    assert [block.text for block in document.blocks] == [table_lines(rows)]


def test_a_sentence_goes_on_in_the_next_column(tmp_path: Path) -> None:
    """A paragraph that the foot of a column divides is one; a title above both columns comes first."""
    page = [
        (60.0, 30.0, "Rules that hold for all who work in the hall or visit it, on any day of the whole year"),
        *down(LEFT[:5]),
        *down(["art sensor warns of frost in the pipes.", *RIGHT], 320),
    ]
    first, second = texts(loaded(tmp_path / "a.pdf", page, size=10))
    assert first.startswith("Rules that hold")
    assert "A state-of-the-art sensor warns of frost in the pipes. Visitors wear a helmet" in second


def test_hyphens_follow_the_words_of_the_document(tmp_path: Path) -> None:
    """A hyphen at the end of a line stays where the document writes the word with one, or a list of words goes on."""
    lines = [
        "The re-entry permit costs nine euros at the front desk.",
        "Anybody who has lost the re-",
        "entry permit, and holders of two-",
        "and three-day passes, pay twice for the gas-",
        "kets.",
    ]
    (text,) = texts(loaded(tmp_path / "a.pdf", down(lines)))
    assert "lost the re-entry permit, and holders of two- and three-day passes, pay twice for the gaskets." in text


@pytest.mark.parametrize("aligned", ["left", "right"])
@pytest.mark.parametrize("order", ["rows", "columns"])
def test_a_table_without_rules_keeps_its_columns(tmp_path: Path, aligned: str, order: str) -> None:
    """An empty cell stays empty, in whatever order the cells are drawn and wherever they are aligned."""
    from fpdf import FPDF

    measure = FPDF(unit="pt")
    measure.set_font("Helvetica", size=11)
    cells = [
        (
            60.0 + 80 * column - (measure.get_string_width(text) if aligned == "right" and column else 0),
            90.0 + 16 * row,
            text,
        )
        for row, line in enumerate(PARTS)
        for column, text in enumerate(line)
        if text
    ]
    if order == "columns":
        cells.sort()
    document = loaded(tmp_path / "a.pdf", [*down(["The store keeps these parts."]), *cells])
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("prose", "The store keeps these parts."),
        ("table", table_lines(PARTS)),
    ]


def test_cells_of_several_lines_are_one_row(tmp_path: Path) -> None:
    """A wrapped cell is joined in its own row, beside empty and shorter ones."""
    rows = [
        ["Room", "Use", "Key"],
        ["101", "Archive of the plans from the years before the fire", "Adler"],
        ["102", "", "Brandt"],
        ["103", "Workshop for repairs of the tools that are lent", ""],
    ]
    page = [
        (60, 60, "Room"),
        (110, 60, "Use"),
        (260, 60, "Key"),
        (60, 80, "101"),
        (110, 80, "Archive of the plans from"),
        (110, 93, "the years before the fire"),
        (260, 80, "Adler"),
        (60, 113, "102"),
        (260, 113, "Brandt"),
        (60, 133, "103"),
        (110, 133, "Workshop for repairs of the"),
        (110, 146, "tools that are lent"),
    ]
    assert texts(loaded(tmp_path / "a.pdf", [(float(x), float(y), text) for x, y, text in page])) == [table_lines(rows)]


CLUBS = [
    ["Club", "Leader", "What it does"],
    ["Rowing", "Hanna Lowell", "Trips on the lake from May to October and the repair of the old boats in the winter"],
    ["Chess", "Omar Vint", "Evenings in the library with a match each month"],
    ["Embroidery and Lacework", "Lise Bram", "Samplers and borders for beginners"],
    ["Carpentry", "Theo Galle", "Shelves and stools of spruce, larch and old doors, for the youth club"],
]


@pytest.mark.parametrize(("rules", "aligned"), [("ALL", "TOP"), ("NONE", "TOP"), ("ALL", "MIDDLE")])
def test_rows_stay_apart_where_lines_are_as_far_from_each_other(tmp_path: Path, rules: str, aligned: str) -> None:
    """Rows end at rules, or where the first column goes on, though one cell is wrapped and others are centred on it."""
    from fpdf import FPDF

    rows = CLUBS if rules == "ALL" else [row for row in CLUBS if "Lacework" not in row[0]]
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=11)
    with document.table(col_widths=(25, 35, 60), borders_layout=rules, v_align=aligned, text_align="LEFT") as table:
        for cells in rows:
            table.row(cells)
    (path := tmp_path / "a.pdf").write_bytes(bytes(document.output()))
    assert texts(load_one(path)) == [table_lines(rows)]


@pytest.mark.parametrize("apart", [32.0, 50.0])
def test_a_table_with_roomy_rows_is_one(tmp_path: Path, apart: float) -> None:
    """Rows far from each other are a table by their columns; a line of text above is none of it."""
    rows = [["Boat", "Seats", "Fee"], ["Heron", "4", "12 EUR"], ["Teal", "2", "7 EUR"], ["Grebe", "6", "18 EUR"]]
    cells = [(60.0 + 110 * at, 90.0 + apart * n, text) for n, row in enumerate(rows) for at, text in enumerate(row)]
    page = [(60.0, 60.0, "These boats are for hire."), *cells]
    assert texts(loaded(tmp_path / "a.pdf", page)) == ["These boats are for hire.", table_lines(rows)]


def test_a_table_of_sentences_keeps_its_rows(tmp_path: Path) -> None:
    """Cells that are whole sentences, one line each, are no columns of text."""
    rows = [
        ["Who opens the gate?", "The porter opens it at six."],
        ["Who feeds the dog?", "Ms Adler feeds it at noon."],
        ["Who waters the plants?", "Nobody does in the winter."],
    ]
    page = [*down([left for left, _ in rows]), *down([right for _, right in rows], 240)]
    assert texts(loaded(tmp_path / "a.pdf", page)) == [table_lines(rows)]


def test_a_table_goes_on_on_the_next_page(tmp_path: Path) -> None:
    """Its rows there stand below the header again."""
    pages = [
        [
            (60.0 + 80 * column, 60.0 + 16 * row, text)
            for row, line in enumerate(part)
            for column, text in enumerate(line)
            if text
        ]
        for part in (PARTS[:3], PARTS[3:])
    ]
    document = loaded(tmp_path / "a.pdf", *pages)
    assert texts(document) == [table_lines(PARTS[:3]), table_lines([PARTS[0], *PARTS[3:]])]


def test_a_list_is_no_table(tmp_path: Path) -> None:
    """Markers with white space behind them, and numbers at the start of a line of text, make no columns."""
    items = ["Close the gate.", "Lock the shed.", "Call the porter."]
    page = [
        word
        for at, item in enumerate(items, 1)
        for word in ((60.0, 50.0 + 20 * at, f"{at}."), (90.0, 50.0 + 20 * at, item))
    ]
    assert [block.kind for block in loaded(tmp_path / "a.pdf", page).blocks] == ["list"] * 3
    (text,) = texts(
        loaded(tmp_path / "b.pdf", down(["Nobody works without a helmet in hall", "3. The crane lifts 1.2 tonnes."]))
    )
    assert text == "Nobody works without a helmet in hall 3. The crane lifts 1.2 tonnes."


def test_a_number_beside_text_is_no_page_number(tmp_path: Path) -> None:
    """Numbers that count up by one a page stay where they are the number of a record."""
    pages = [
        [(60.0, 60.0, "Room"), (120.0, 60.0, f"{number}"), (60.0, 80.0, "It is locked at six.")]
        for number in (101, 102, 103)
    ]
    whole = " ".join(texts(loaded(tmp_path / "a.pdf", *pages)))
    assert all(number in whole for number in ("101", "102", "103"))


def test_a_turned_page_is_read(tmp_path: Path) -> None:
    """A page whose lines run from bottom to top is read like any other."""
    from fpdf import FPDF

    document = FPDF(unit="pt")
    document.add_page()
    document.set_font("Helvetica", size=11)
    for left, line in zip(
        (80, 94, 108), ("Carts stop at the line.", "Drivers wait for the", "green light."), strict=True
    ):
        with document.rotation(90, left, 700):
            document.text(left, 700, line)
    (path := tmp_path / "a.pdf").write_bytes(bytes(document.output()))
    assert " ".join(texts(load_one(path))) == "Carts stop at the line. Drivers wait for the green light."


@pytest.mark.parametrize("together", [True, False])
def test_a_note_mark_is_no_digit_of_its_number(tmp_path: Path, together: bool) -> None:
    """What is raised and smaller is a superscript, whether it is written with its line or as a text of its own."""
    from fpdf import FPDF

    document = FPDF(unit="pt")
    document.add_page()
    document.set_font("Helvetica", size=11)
    for text, mark in (
        ("The pass costs $410", "2"),
        (" and 7 m", "2"),
        (" hold 10", "6"),
        (" seeds.", "13"),
        (" H2O", ""),
    ):
        document.write(14, text)
        if together:
            document.char_vpos = "SUP"
            document.write(14, mark)
            document.char_vpos = "LINE"
        elif mark:
            document.set_font(size=7)
            document.text(document.get_x() - 1, document.get_y() + 7, mark)
            document.set_x(document.get_x() + document.get_string_width(mark))
            document.set_font(size=11)
    (path := tmp_path / "a.pdf").write_bytes(bytes(document.output()))
    assert texts(load_one(path)) == ["The pass costs $410² and 7 m² hold 10⁶ seeds.¹³ H2O"]


def test_columns_of_short_sections_are_read_one_after_the_other(tmp_path: Path) -> None:
    """Drawn column by column and level with each other; a note below both, drawn last, ends neither."""
    left = [
        "Grease the guide rails every 250",
        "operating hours with lithium soap.",
        "Keep the pit dry at all times and",
        "free of oil.",
    ]
    right = [
        "Replace a rope when six of its wires",
        "are broken.",
        "Clean the sills weekly. The gap must",
        "stay below 6 millimetres.",
    ]
    page = [*down(left), *down(right, 320), *down(["The fitter is reached under 3370."], top=200)]
    assert " ".join(texts(loaded(tmp_path / "a.pdf", page, size=10))) == " ".join(
        [*left, *right, "The fitter is reached under 3370."]
    )


def test_a_list_beside_running_text_is_read_apart_from_it(tmp_path: Path) -> None:
    """A sidebar of short lines, drawn after the text, is none of its lines."""
    side = ["Phone", "0555 0142", "Hours", "10 to 18", "Fees", "7 euros"]
    page = [*down(LEFT), *down(side, 320)]
    assert texts(loaded(tmp_path / "a.pdf", page, size=10)) == [COLUMNS[0], " ".join(side)]


def test_a_heading_between_two_bands_of_columns_parts_them(tmp_path: Path) -> None:
    """All above it is drawn before, all below after: no column goes on past it."""
    bands = [*down(LEFT), *down(RIGHT, 320), (60, 150, "HEAD"), *down(RIGHT, 60, 180), *down(LEFT, 320, 180)]
    from fpdf import FPDF

    document = FPDF(unit="pt")
    document.add_page()
    for x, top, text in bands:
        document.set_font("Helvetica", size=16 if text == "HEAD" else 10)
        document.text(x, top, text)
    document.output(str(path := tmp_path / "a.pdf"))
    assert (load_one(path).title, texts(load_one(path))) == ("HEAD", [*COLUMNS, *COLUMNS[::-1]])


def test_a_foot_of_two_pages_parts_no_sentence(tmp_path: Path) -> None:
    """It stays on the second, as a header stays on the first."""
    first = [*down(["The log is kept for six years and a copy of it, signed by"]), (60, 790, "Harrow Lift manual OM-7")]
    second = [*down(["the foreman, goes to the insurer every quarter."]), (60, 790, "Harrow Lift manual OM-7")]
    sentence, foot = texts(loaded(tmp_path / "a.pdf", first, second))
    assert sentence.endswith("signed by the foreman, goes to the insurer every quarter.")
    assert foot == "Harrow Lift manual OM-7"


def test_paragraphs_of_one_line_stay_apart(tmp_path: Path) -> None:
    """A letter has more blank lines than lines that go on: its usual distance is that of the latter."""
    letter = [
        (60.0, 60.0, "Replacement of the windows"),
        (60.0, 86.0, "Dear Mrs Whitcombe,"),
        (60.0, 112.0, "The windows of your flat will be replaced in the second week of November. The"),
        (60.0, 126.0, "fitters will need access to every room."),
        (60.0, 152.0, "The rent does not change, and nothing is charged for the work itself."),
        (60.0, 178.0, "Yours sincerely,"),
    ]
    assert [text.split()[0] for text in texts(loaded(tmp_path / "a.pdf", letter))] == [
        "Replacement",
        "Dear",
        "The",
        "The",
        "Yours",
    ]


def test_a_number_whose_unit_is_wrapped_is_one_cell(tmp_path: Path) -> None:
    """Rules end the rows, as a browser prints them; a code divided at its hyphen has no space in it."""
    from fpdf import FPDF

    document = FPDF(unit="pt")
    document.add_page()
    document.set_font("Helvetica", size=11)
    rows = [
        ["Code", "Task", "Interval"],
        ["A-\n101", "Replace the cartridge", "24\nmonths"],
        ["A-\n102", "Drain", "3 days"],
    ]
    top = 60.0
    for row in rows:
        height = 14.0 * max(cell.count("\n") + 1 for cell in row) + 6
        for left, width, cell in zip((60, 110, 260), (50, 150, 50), row, strict=True):
            document.rect(left, top, width, height)
            for number, line in enumerate(cell.split("\n")):
                document.text(left + 3, top + 14 + 14 * number, line)
        top += height
    document.output(str(path := tmp_path / "a.pdf"))
    assert "| A-101 | Replace the cartridge | 24 months |\n| A-102 | Drain | 3 days |" in texts(load_one(path))[0]


def test_a_table_of_contents_is_left_out(tmp_path: Path) -> None:
    """Its entries lead to pages by dots; what stands below its heading besides them is read."""
    from fpdf import FPDF

    document = FPDF(unit="pt")
    document.add_page()
    entries = ["1 Use", "1.1 Switching on", "1.2 Ash box", "2 Care", "2.1 Cleaning"]
    for number, (size, text) in enumerate(
        [
            (24, "Boiler manual"),
            (18, "Contents"),
            *((11, f"{entry} {'. ' * 30}{at + 3}") for at, entry in enumerate(entries)),
            (11, ""),
            (11, "Keep this manual near the boiler and pass it on to the next owner of the house."),
            (18, "1 Use"),
            (11, "The ash box holds 18 litres and is emptied by the operator every other week."),
        ]
    ):
        document.set_font("Helvetica", size=size)
        document.text(60, 60 + 16 * number, text)
    document.output(str(path := tmp_path / "a.pdf"))
    found = " ".join(texts(load_one(path)))
    assert "Switching on" not in found
    assert "Keep this manual" in found
    assert "The ash box holds 18 litres" in found

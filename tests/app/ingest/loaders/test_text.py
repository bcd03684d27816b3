"""Plain text keeps what its layout says."""

from __future__ import annotations

from pathlib import Path

import pytest

from answering.text.sentences import sentence_spans
from tests.app.ingest.conftest import load_one, places, split_one, texts

NOTES = """\
Cart Notes

These notes are for technicians who look after carts at
customer sites, wherever they are.

Daily check

The operator tests the brakes
every morning.

  1. Measure the tread. Replace both
     wheels when worn.
  2. Tighten the bolts.

Lights

  Solid blue       ready
  Blinking amber   blocked
"""


def test_structure_of_text(tmp_path: Path) -> None:
    """Short lines of their own are headings, the first one the title."""
    (path := tmp_path / "notes.txt").write_text(NOTES)
    document = load_one(path)
    assert document.title == "Cart Notes"
    assert [block.section for block in document.blocks] == [None, "Daily check", "Daily check", "Lights"]


def test_wrapped_lines_are_joined(tmp_path: Path) -> None:
    """A wrapped paragraph is one line, an item is one line, aligned columns stay lines."""
    (path := tmp_path / "notes.txt").write_text(NOTES)
    opening, brakes, steps, lights = texts(load_one(path))
    assert opening == "These notes are for technicians who look after carts at customer sites, wherever they are."
    assert brakes == "The operator tests the brakes every morning."
    assert steps == "  1. Measure the tread. Replace both wheels when worn.\n  2. Tighten the bolts."
    assert lights == "  Solid blue       ready\n  Blinking amber   blocked"


def test_underlined_headings_and_pages(tmp_path: Path) -> None:
    """Ruled lines are headings by their rule; form feeds count pages from 1."""
    text = "=====\nTitle\n=====\n\nOne\n---\nText one.\n\fText two.\n"
    (path := tmp_path / "a.txt").write_text(text)
    document = load_one(path)
    assert document.title == "Title"
    assert places(document) == [(None, "One", 1, "Text one."), (None, "One", 2, "Text two.")]


def test_headings_between_marks(tmp_path: Path) -> None:
    """As wikis and minutes write them; a sum or a rule is none."""
    text = "= Club =\n\n=== Meeting of 11 May ===\nRent is 54.\n\n=== Meeting of 13 June ===\n\n7 = 7\n\n=====\n"
    (path := tmp_path / "a.txt").write_text(text)
    document = load_one(path)
    assert document.title == "Club"
    assert [(section, shown) for _, section, _, shown in places(document)] == [
        ("Meeting of 11 May", "Rent is 54."),
        ("Meeting of 13 June", "7 = 7"),
        ("Meeting of 13 June", "====="),
    ]


def test_lines_in_a_row_are_no_headings(tmp_path: Path) -> None:
    """Short lines that follow each other are lines, each a sentence of its own; the first is the title."""
    lines = ["Reception 555 0100", "Security 555 0199", "Nurse 555 0123"]
    (path := tmp_path / "a.txt").write_text("\n\n".join(["Contacts", *lines, "Call security first in an emergency."]))
    (chunk,) = split_one(document := load_one(path)).chunks
    assert (document.title, chunk.section) == ("Contacts", None)
    assert [chunk.text[start:end] for start, end in chunk.spans][:3] == lines


def test_a_heading_below_the_title_is_one(tmp_path: Path) -> None:
    """The line that opens a document is its title, and the one below it, before text, a heading."""
    (path := tmp_path / "a.txt").write_text("Notes\n\nDaily check\n\nThe operator tests the brakes.\n")
    document = load_one(path)
    assert document.title == "Notes"
    assert places(document) == [(None, "Daily check", None, "The operator tests t")]


def test_a_heading_without_text_keeps_its_page(tmp_path: Path) -> None:
    """A heading with nothing below it is text of the page it stands on."""
    (path := tmp_path / "a.txt").write_text("Title\n=====\n\nText one.\n\fOne\n---\n\nTwo\n---\n\nText two.\n")
    assert places(load_one(path))[1:] == [(None, None, 2, "One"), (None, "Two", 2, "Text two.")]


def _page(number: int, text: str) -> str:
    """A page as text formatters print it: header, lines, foot with the number of the page."""
    head = "Spec 12                     The Frame Rules                  May 2011\n\n\n" if number > 1 else ""
    return f"{head}{text}\n\n\n\nDoe & Roe              Rules Track                     [Page {number}]"


SPEC = [
    """\
Working Group                                                   J. Doe
Category: Rules                                               May 2011


                            The Frame Rules

Abstract

   This text says how frames are built and
   what may stand in them.""",
    """\
Table of Contents

   1.  Introduction . . . . . . . . . . . . .  3
     1.1.  Background . . . . . . . . . . . .  3
   2.  Frames . . . . . . . . . . . . . . . .  3""",
    """\
1.  Introduction

1.1.  Background

   Frames were long, and the first of
   them were costly.

2.  Frames

   A frame has a head of two bytes, which every reader has to""",
    """\
   understand, and a body.

   o  The head comes
      first.
   o  The body follows.

        HEAD two
        BODY many""",
]


@pytest.mark.parametrize("between", ["\n\f\n", "\n\n"], ids=["form feeds", "numbered feet"])
def test_page_headers_and_feet_are_left_out(tmp_path: Path, between: str) -> None:
    """What recurs at the edges of pages is no text, and the paragraph that a page break cut is one again."""
    (path := tmp_path / "rules.txt").write_text(between.join(_page(n, page) for n, page in enumerate(SPEC, 1)))
    document = load_one(path)
    whole = "\n".join(texts(document))
    assert "[Page" not in whole
    assert "Rules Track" not in whole
    assert "Spec 12" not in whole
    assert "A frame has a head of two bytes, which every reader has to understand, and a body." in texts(document)


def test_numbered_sections_of_text(tmp_path: Path) -> None:
    """Numbers before headings say how deep they are; the centred line is the title; the contents list is left out."""
    (path := tmp_path / "rules.txt").write_text("\n\f\n".join(_page(n, page) for n, page in enumerate(SPEC, 1)))
    document = load_one(path)
    assert document.title == "The Frame Rules"
    assert [place[:3] for place in places(document)] == [
        (None, None, 1),
        ("Abstract", "Abstract", 1),
        ("1. Introduction", "1.1. Background", 3),
        ("2. Frames", "2. Frames", 3),
        ("2. Frames", "2. Frames", 4),
        ("2. Frames", "2. Frames", 4),
    ]
    assert texts(document)[-2:] == [
        "   - The head comes first.\n   - The body follows.",
        "        HEAD two\n        BODY many",
    ]


def test_lines_with_dot_leaders_that_are_no_contents_stay(tmp_path: Path) -> None:
    """A price list has dot leaders too: only entries that stand as headings elsewhere are contents."""
    (path := tmp_path / "a.txt").write_text("Prices\n\nSoup ........ 4\nTea ......... 2\nCake ........ 3\n")
    assert "Tea: 2" in texts(load_one(path))[0]


def test_a_first_number_opens_an_item_where_text_has_no_margin(tmp_path: Path) -> None:
    """Short numbered lines of a text without a margin are steps, not sections."""
    (path := tmp_path / "a.txt").write_text(
        "Care\n\nDo this daily.\n\n1. Check the oil\n\n2. Check the belt\n\nDone so.\n"
    )
    assert {block.section for block in load_one(path).blocks} == {None}


def test_a_short_line_ends_above_its_paragraph(tmp_path: Path) -> None:
    """A line far shorter than the text is wide is a sentence of its own, and so are lines "Label: value"."""
    (path := tmp_path / "2026-10-20_minutes-of-round.txt").write_text(
        "20 October 2026\nPresent: Ann Lee (chair), Bob Moss, Cleo Dunn, Dan Fry (minutes)\nApologies: Eva Ray\n\n"
        "2. Launch of the ferry\nBob reported that the hull is four weeks late. The launch was moved from May to the\n"
        "15th of June.\n"
    )
    document = load_one(path)
    (chunk,) = split_one(document).chunks
    assert document.title == "2026-10-20 minutes of round"
    assert [chunk.text[start:end] for start, end in chunk.spans] == [
        "20 October 2026",
        "Present: Ann Lee (chair), Bob Moss, Cleo Dunn, Dan Fry (minutes)",
        "Apologies: Eva Ray",
        "Launch of the ferry",
        "Bob reported that the hull is four weeks late.",
        "The launch was moved from May to the 15th of June.",
    ]


def test_one_record_a_page_of_text(tmp_path: Path) -> None:
    """Numbered first lines and repeated sentences of records are text, whatever their position on the page."""
    pages = [
        f"Room {n}\n\nThe safe of room {n} is {safe}.\n\nIts key hangs at the reception."
        for n, safe in enumerate(SAFES)
    ]
    (path := tmp_path / "rooms.txt").write_text("\f".join(pages))
    whole = " ".join(texts(document := load_one(path)))
    assert document.title == "Room 0"
    assert [block.section for block in document.blocks][2::2] == ["Room 1", "Room 2", "Room 3"]
    assert whole.count("Its key hangs at the reception.") == len(SAFES)
    assert document.notes == ()


SAFES = ["Alder", "Birch", "Cedar", "Maple"]


MINUTES = """\
Minutes of 4 March

1. Roof, block C
   Three offers were opened on the day. The roof of block C goes to the firm
   of Hartwell, which begins in May.

2. Bicycle cellar
   Tags ran out.

3. Bring your own cup to the meeting and rinse it after the meeting, please,
   for there is nobody who does it for you.
"""


def test_a_short_numbered_line_heads_what_is_indented_below_it(tmp_path: Path) -> None:
    """As in minutes; an item that is wrapped is none."""
    (path := tmp_path / "minutes.txt").write_text(MINUTES)
    sections = [block.section for block in load_one(path).blocks]
    assert sections == ["1. Roof, block C", "2. Bicycle cellar", "2. Bicycle cellar"]


PRICES = """\
Lido

TICKETS
  Adults .............................. 6.80
  Children under 4 .................... free

HIRE (per day, deposit in brackets)
  Deckchair ........................... 3.00     (8.00)
  Early swimmers (Tuesdays and Thursdays,
  with season ticket) ................. from 6:30
  Closed on Mondays.
"""


def test_dots_lead_from_a_label_to_its_value(tmp_path: Path) -> None:
    """Each line is an item of its own, also one with a wrapped label; the line above them is their heading."""
    (path := tmp_path / "prices.txt").write_text(PRICES)
    tickets, hire = load_one(path).blocks
    assert (tickets.section, hire.section) == ("TICKETS", "HIRE (per day, deposit in brackets)")
    assert tickets.text == "- Adults: 6.80\n- Children under 4: free"
    swimmers = "Early swimmers (Tuesdays and Thursdays, with season ticket): from 6:30"
    assert hire.text == f"- Deckchair: 3.00 (8.00)\n- {swimmers}\n\nClosed on Mondays."


def test_a_heading_above_its_clauses_is_no_item(tmp_path: Path) -> None:
    """ "2. Keys" above "2.1 …" is a heading, with or without a blank line; a Roman number opens an item of its own."""
    (path := tmp_path / "a.txt").write_text(
        "RULES OF THE BOAT HOUSE\n\n1. Boats\n\n1.1 Boats are hired out from May on.\n1.2 A boat comes back\n"
        "    (i) before dark; or\n    (ii) when the bell rings.\n2. Keys\n2.1 Keys hang behind the door.\n"
    )
    document = load_one(path)
    assert [(block.section, block.text[:12]) for block in document.blocks] == [
        ("1. Boats", "1.1 Boats ar"),
        ("2. Keys", "2.1 Keys han"),
    ]
    items = document.blocks[0].text
    found = [items[start:end] for start, end in sentence_spans(items)]
    assert found[-2:] == ["before dark; or", "(ii) when the bell rings."]


COMMITTEE = """NORTHSIDE ROWING CLUB - COMMITTEE
Tuesday 14 May 2024, boathouse

Present: Ann, Bo, Cleo.

1. Boats
The double scull has a new seat. It is kept on rack 4 from now on, and Bo has the key of the shed.

2. Summer party
2024's party will be held on 5 July. Everybody brings a salad, and the club pays for the drinks.

WHAT IS LEFT
- The roof still leaks above the ergometers.
"""


def test_a_heading_right_above_its_text_is_one(tmp_path: Path) -> None:
    """In capitals, or numbered where the numbers count up from 1; the first one is the title."""
    (path := tmp_path / "minutes.txt").write_text(COMMITTEE)
    document = load_one(path)
    assert document.title == "NORTHSIDE ROWING CLUB - COMMITTEE"
    assert [(block.section, block.text[:10]) for block in document.blocks] == [
        (None, "Tuesday 14"),
        (None, "Present: A"),
        ("1. Boats", "The double"),
        ("2. Summer party", "2024's par"),
        ("WHAT IS LEFT", "- The roof"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. Open the lid and\ntake out the filter, which is blue and has a small handle on its left side.",
        "4. Boats\nThe double scull has a new seat, and Bo has the key of the shed behind the boathouse.",
        "STOP\nGO\nSTOP\nGO",
        "1. Boats\n2. Oars\n3. Seats",
    ],
)
def test_what_is_no_heading_right_above_its_text(text: str, tmp_path: Path) -> None:
    """A step that goes on in small letters, a number that counts from elsewhere, capitals above capitals, a list."""
    (path := tmp_path / "a.txt").write_text(f"Notes of the harbour.\n\n{text}\n")
    assert {block.section for block in load_one(path).blocks} == {None}


def test_a_word_divided_at_the_end_of_a_line_is_put_together(tmp_path: Path) -> None:
    """As in a PDF: without its hyphen where the word has none."""
    (path := tmp_path / "a.txt").write_text(
        "Vessels longer than 24 metres must give no-\ntice of arrival to the well-\nknown master, in ad-\nvance."
    )
    assert texts(load_one(path)) == [
        "Vessels longer than 24 metres must give notice of arrival to the well-known master, in advance."
    ]


def test_numbered_headings_without_blank_lines(tmp_path: Path) -> None:
    """Each stands right below the end of a sentence and right above its text; the file names the document."""
    (path := tmp_path / "house.txt").write_text(
        "1. Quiet hours\nQuiet hours are from 10 pm to 6 am, on Sundays until 9 am.\n"
        "2. Laundry room\nTokens cost 1.50 pounds.\n3. Parking\nVisitors park in the bays marked V, for a day.\n"
    )
    document = load_one(path)
    assert document.title == "house"
    assert [block.section for block in document.blocks] == ["1. Quiet hours", "2. Laundry room", "3. Parking"]


@pytest.mark.parametrize("line", ["some words that go on", "word abcdefgh-", "a" * 500])
def test_a_long_paragraph_is_joined(line: str, tmp_path: Path) -> None:
    """Also where every line ends with a divided word: what is joined already is not gone through again."""
    (path := tmp_path / "a.txt").write_text("\n".join([line] * 40_000))
    (block,) = load_one(path).blocks
    assert block.text.startswith(line.removesuffix("-"))


@pytest.mark.parametrize(
    "lines",
    [
        ["[05.05.31, 15:49:30] ~ Idris: I can.", "[06.05.31, 08:03:19] Petra: The stage comes at 07:30"],
        ["14:03 <petra> the stage comes at 07:30", "14:04 <idris> ok"],
        ["00:01:23 Speaker 1 The stage comes at 07:30", "00:01:59 Speaker 2 Good"],
        ["2031-05-05 15:49 Idris: I can", "2031-05-05 15:52 Petra: the stage comes at 07:30"],
        ["05/05/2031, 15:49 - Idris: I can", "05/05/2031, 15:52 - Petra: Petrol is on me"],
    ],
)
def test_each_message_of_a_chat_stands_by_itself(lines: list[str], tmp_path: Path) -> None:
    """A line that opens with its time, below one that does too, is no part of that one; what follows it is."""
    (path := tmp_path / "chat.txt").write_text("\n".join([*lines, "and the tables too."]), encoding="utf-8")
    assert texts(load_one(path)) == [*lines[:-1], f"{lines[-1]} and the tables too."]

"""What a message quotes of earlier ones stands below a heading of its own."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from app.ingest.documents import LoadedDocument
from tests.app.ingest.conftest import load_one
from tests.app.ingest.loaders.test_eml import message

EARLIER = "Quoted from an earlier message"
FIELDS = "From: Ann Lee <ann@example.org>\nSent: Friday, 1 May 2026 15:12\nTo: Bob\nSubject: Crane\n"
HTML_FIELDS = "<b>From:</b> Ann Lee &lt;ann@example.org&gt;<br><b>Sent:</b> 1 May 2026<br><b>Subject:</b> Crane"

GMAIL_OPENING = "On 1 May 2026, Ann Lee wrote:<br>"
GMAIL_QUOTE = "<blockquote class=gmail_quote><p>At nine.</p></blockquote>"


def sections(made: EmailMessage, tmp_path: Path) -> list[tuple[str | None, str]]:
    """The blocks of a message below its head, each with its section."""
    return [(block.section, block.text) for block in read(made, tmp_path).blocks[1:]]


def read(made: EmailMessage, tmp_path: Path) -> LoadedDocument:
    (path := tmp_path / "a.eml").write_bytes(made.as_bytes())
    return load_one(path)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("At ten.\n\n> At nine.\n", EARLIER),
        (
            "At ten.\n\nOn Fri, 1 May 2026 at 15:12, Ann Lee\n<ann@example.org> wrote:\n\n> At nine.\n",
            f"{EARLIER}: Fri, 1 May 2026 at 15:12, Ann Lee",
        ),
        ("At ten.\n\nAnn Lee schrieb am 1. Mai:\n> At nine.\n", f"{EARLIER}: Ann Lee am 1. Mai"),
        ("At ten.\n\nOn 1 May 2026 Ann Lee wrote:\n\nAt nine.\n", f"{EARLIER}: 1 May 2026 Ann Lee"),
        (
            f"At ten.\n\n-----Original Message-----\n{FIELDS}\nAt nine.\n",
            f"{EARLIER}: Ann Lee, Friday, 1 May 2026 15:12",
        ),
        (f"At ten.\n\n{FIELDS}\nAt nine.\n", f"{EARLIER}: Ann Lee, Friday, 1 May 2026 15:12"),
        (
            f"At ten.\n\n---------- Forwarded message ---------\n{FIELDS}\nAt nine.\n",
            "Forwarded message: Ann Lee, Friday, 1 May 2026 15:12",
        ),
    ],
)
def test_quoted_text_is_a_section(text: str, label: str, tmp_path: Path) -> None:
    """Behind the mark ``>``, below "Ann wrote:" and below the head of a message stands what another one said."""
    made = message()
    made.set_content(text)
    found = sections(made, tmp_path)
    assert (found[0], found[-1]) == ((None, "At ten."), (label, "At nine."))


def test_answers_between_quoted_lines(tmp_path: Path) -> None:
    """Words between quoted lines are the sender's; a quotation within a quotation is told from it."""
    made = message()
    made.set_content("> When?\nAt ten.\n> Where?\n>> On 1 May 2026 Cy wrote:\n>> In the hall.\nAt the dock.\n")
    of_cy = f"{EARLIER}: 1 May 2026 Cy"
    assert sections(made, tmp_path) == [
        (EARLIER, "When?"),
        (None, "At ten."),
        (EARLIER, "Where?"),
        (of_cy, "On 1 May 2026 Cy wrote:"),
        (of_cy, "In the hall."),
        (None, "At the dock."),
    ]


@pytest.mark.parametrize(
    "text", ["From: Oslo\nTo: Bergen\nDate: 5 May\n\nBring tea.", "In her note Ann wrote:\n\nTea."]
)
def test_what_only_looks_quoted(text: str, tmp_path: Path) -> None:
    """A journey has no subject, and who wrote what without a day quotes no message."""
    made = message()
    made.set_content(text)
    assert {section for section, _ in sections(made, tmp_path)} == {None}


@pytest.mark.parametrize(
    ("html", "label"),
    [
        ("<p>At ten.</p><blockquote type=cite><h2>Crane</h2><p>At nine.</p></blockquote>", EARLIER),
        (
            f"<p>At ten.</p><div class=gmail_quote><div>{GMAIL_OPENING}</div>{GMAIL_QUOTE}</div>",
            f"{EARLIER}: 1 May 2026, Ann Lee",
        ),
        (
            f"<div><p>At ten.</p><div style='border:none'><p>{HTML_FIELDS}</p></div><p>At nine.</p></div>",
            f"{EARLIER}: Ann Lee, 1 May 2026",
        ),
    ],
)
def test_quoted_html_is_a_section(html: str, label: str, tmp_path: Path) -> None:
    """So it is by the elements and classes that mail programs mark quotations with; its headings are paragraphs."""
    made = message()
    made.set_content(html, subtype="html")
    found = sections(made, tmp_path)
    assert (found[0], found[-1]) == ((None, "At ten."), (label, "At nine."))


def test_what_an_attached_message_says_is_read_once(tmp_path: Path) -> None:
    """A quotation of the message that is attached as well is left out."""
    made, attached = message(), message("Crane")
    attached.set_content("The crane comes at nine.\n")
    made.set_content("At ten.\n\n> The crane comes\n> at nine.\n")
    made.add_attachment(attached)
    assert [text for _, text in sections(made, tmp_path)][::2] == ["At ten.", "The crane comes at nine."]


@pytest.mark.parametrize(
    ("text", "html", "read_last", "noted"),
    [
        (
            "The gate moves to the north in June.",
            "<p>The gate moves to the north in June.<p>Code 4471.",
            "Code 4471.",
            False,
        ),
        ("The gate 12 moves to the north in June.", "<p>The gate moves to the north in June.<p>Code 4471.", None, True),
    ],
)
def test_html_that_says_more(text: str, html: str, read_last: str | None, noted: bool, tmp_path: Path) -> None:
    """HTML that has a number beyond the text is read in its place; where both have one, a note tells of the HTML."""
    made = message()
    made.set_content(text)
    made.add_alternative(html, subtype="html")
    document = read(made, tmp_path)
    assert document.blocks[-1].text == (read_last or text)
    assert document.notes == (('HTML of the message that its text lacks is not read: "code 4471"',) if noted else ())


def test_who_gets_a_copy(tmp_path: Path) -> None:
    """The head of a message names who gets a copy."""
    made = message()
    made["Cc"] = "cy@example.org"
    made.set_content("At ten.")
    assert "To: bob@example.org · Cc: cy@example.org · Date: " in read(made, tmp_path).blocks[0].text

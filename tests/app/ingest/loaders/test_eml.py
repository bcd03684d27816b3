"""E-mail is read for its text; what is attached is read or named."""

from __future__ import annotations

from base64 import b64encode
from email.message import EmailMessage
from pathlib import Path

import pytest

from app.ingest.documents import LoadedDocument
from tests.app.ingest.conftest import load_one, places, skipped, texts

HEAD = "From: Ann Lee <ann@example.org> · To: bob@example.org · Date: Mon, 04 May 2026 09:00:00 +0200"


def message(subject: str = "Güterzug: new times") -> EmailMessage:
    """A message without a body."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ann Lee <ann@example.org>", "bob@example.org", subject
    made["Date"] = "Mon, 04 May 2026 09:00:00 +0200"
    return made


def test_mail_as_text(tmp_path: Path) -> None:
    """The subject is the title; sender and date stay; plain text is preferred; what is attached is read or named."""
    made = message()
    made.set_content("Hello Bob\n\nThe train leaves at 6:40 – not\nat 7.\n\n- track 2\n- track 3\n")
    made.add_alternative("<p>Other words.</p>", subtype="html")
    made.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="times.pdf")
    made.add_attachment("Secret notes.", filename="notes.txt")
    (path := tmp_path / "a.eml").write_bytes(made.as_bytes())
    document = load_one(path)
    assert document.title == "Güterzug: new times"
    assert texts(document) == [
        HEAD,
        "Hello Bob",
        "The train leaves at 6:40 – not at 7.",
        "- track 2\n- track 3",
        "Secret notes.",
        "Attachments (not read): times.pdf",
    ]


def test_mail_as_html(tmp_path: Path) -> None:
    """Where the text is missing or blank, HTML is read with its headings and tables; no picture is fetched."""
    made = message("Prices")
    made.set_content(" \n")
    made.add_alternative(
        '<html><head><style>p{}</style></head><body><h2>May</h2><p>New prices.<img src="https://x.invalid/p.gif"></p>'
        "<h2>June</h2><table><tr><th>Part</th><th>Price</th></tr><tr><td>Bolt</td><td>2</td></tr></table></body></html>",
        subtype="html",
    )
    (path := tmp_path / "a.eml").write_bytes(made.as_bytes())
    assert places(load_one(path)) == [
        (None, None, None, HEAD[:20]),
        (None, "May", None, "New prices."),
        (None, "June", None, "| Part | Price |\n| B"),
    ]


def test_charsets_of_mail(tmp_path: Path) -> None:
    """A declared charset is kept; one that is missing, unknown or wrong is found from the bytes."""
    path = tmp_path / "a.eml"
    for charset, codec in [("iso-2022-jp", "iso-2022-jp"), ("utf-8", "utf-8"), ("x-made-up", "utf-8"), ("", "utf-8")]:
        declared = f"Content-Type: text/plain; charset={charset}\n" if charset else ""
        path.write_bytes(f"Subject: A\n{declared}\n".encode() + "日本語の文章です。".encode(codec))
        assert texts(load_one(path))[-1] == "日本語の文章です。"
    path.write_bytes("Subject: A\nContent-Type: text/plain; charset=ascii\n\nGrüße aus Köln.".encode("cp1252"))
    assert texts(load_one(path)) == ["Grüße aus Köln."]


def test_mail_without_a_subject_is_named_after_its_file(tmp_path: Path) -> None:
    """The title is made from the file name."""
    (path := tmp_path / "re_times.eml").write_text("From: a@example.org\n\nText.\n")
    assert load_one(path).title == "re times"


def test_mail_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Plain text, binary data and encrypted messages each say what is wrong."""
    path = tmp_path / "a.eml"
    path.write_text("Just some text.\n\nMore of it.\n")
    assert skipped(path).reason == "not an e-mail message (no sender, date or subject)"
    path.write_bytes(bytes(range(256)) * 20)
    assert skipped(path).reason
    path.write_text('From: a@example.org\nContent-Type: multipart/encrypted; boundary="b"\n\n--b\n\nx\n--b--\n')
    assert skipped(path).reason.startswith("encrypted")


def test_short_lines_and_quoted_mail_stand_apart(tmp_path: Path) -> None:
    """A greeting ends with its line; quoted mail is paragraphs of its own, without the marks before its lines."""
    made = message()
    made.set_content(
        "The crane that lifts the new chiller onto the roof arrives early on Friday.\n\nCheers\nImke\n-- \nImke Vos\n"
        "> Please make sure\n> that the gate is open.\n>\n> Thanks\n"
    )
    (path := tmp_path / "a.eml").write_bytes(made.as_bytes())
    assert texts(load_one(path))[2:] == [
        "Cheers",
        "Imke",
        "Imke Vos",
        "Please make sure that the gate is open.",
        "Thanks",
    ]


def read(made: EmailMessage, tmp_path: Path) -> LoadedDocument:
    (path := tmp_path / "a.eml").write_bytes(made.as_bytes())
    return load_one(path)


@pytest.mark.parametrize(
    "stub",
    [
        "Please view this message in a browser.",
        "https://news.example.org/view?id=4711",
        "See below",
    ],
)
def test_the_fuller_part_is_read(stub: str, tmp_path: Path) -> None:
    """A text that only points to the HTML is not read in its place, whatever its words."""
    made = message()
    made.set_content(stub)
    made.add_alternative("<h2>Trains</h2><p>From Monday on the train leaves at 6:40 from track 2, not 3.</p>", "html")
    assert texts(read(made, tmp_path))[1:] == ["From Monday on the train leaves at 6:40 from track 2, not 3."]


def test_neither_part_is_lost(tmp_path: Path) -> None:
    """Where text and HTML of like length say different things, neither is taken for a stub: both are read."""
    made = message()
    made.set_content("This message is in HTML format, and your mail program shows only its text.")
    made.add_alternative("<p>From Monday on the train leaves at 6:40 from track 2, not 3.</p>", subtype="html")
    assert texts(read(made, tmp_path))[-1] == "From Monday on the train leaves at 6:40 from track 2, not 3."


def test_the_text_is_read_where_both_say_the_same(tmp_path: Path) -> None:
    """An HTML part with a few more words, such as a footer, does not displace the text; nor does a stub of HTML."""
    for rich in (
        "<p>The train leaves at 6:40 from track 2.</p><p>Sent from my phone</p>",
        "<p>No text?</p>",
    ):
        made = message()
        made.set_content("The train leaves at 6:40 from track 2.\n")
        made.add_alternative(rich, subtype="html")
        assert texts(read(made, tmp_path))[1:] == ["The train leaves at 6:40 from track 2."]


def test_forwarded_messages_are_sections(tmp_path: Path) -> None:
    """A message attached to a message is read below its subject, with its sender, and so is one within that."""
    innermost, inner, made = message("Track"), message("Times"), message("Fwd: Times")
    innermost.set_content("It leaves from track 2.\n")
    inner.set_content("The train leaves at 6:40.\n")
    inner.add_attachment(innermost)
    made.set_content("See below.\n")
    made.add_attachment(inner)
    assert [(block.section, block.text) for block in read(made, tmp_path).blocks] == [
        (None, HEAD),
        (None, "See below."),
        ("Forwarded: Times", HEAD),
        ("Forwarded: Times", "The train leaves at 6:40."),
        ("Forwarded: Track", HEAD),
        ("Forwarded: Track", "It leaves from track 2."),
    ]


def test_an_encoded_forward_is_read(tmp_path: Path) -> None:
    """A forwarded message in base64, which no standard allows and some programs write, is read."""
    inner = b64encode(b"From: c@example.org\nSubject: Times\n\nIt leaves at 6:40.\n").decode()
    (path := tmp_path / "a.eml").write_text(
        "From: a@example.org\nSubject: Fwd\nContent-Type: message/rfc822\n"
        f"Content-Transfer-Encoding: base64\n\n{inner}\n"
    )
    assert [(block.section, block.text) for block in load_one(path).blocks][1:] == [
        ("Forwarded: Times", "From: c@example.org"),
        ("Forwarded: Times", "It leaves at 6:40."),
    ]


def test_all_texts_of_a_message_are_read(tmp_path: Path) -> None:
    """Text after a picture is text of the message too."""
    made = message()
    made.set_content("Above the picture.\n")
    made.make_mixed()
    for part, kind, subtype in ((b"GIF89a", "image", "gif"), (b"Below it.\n", "text", "plain")):
        inner = EmailMessage()
        inner.set_content(part, maintype=kind, subtype=subtype, disposition="inline")
        made.attach(inner)
    assert texts(read(made, tmp_path))[1:3] == ["Above the picture.", "Below it."]


def test_attachments_are_read_or_named(tmp_path: Path) -> None:
    """A table attached is a section of its own; a file that no loader reads is named in the text and in a note."""
    made = message()
    made.set_content("Prices attached.\n")
    made.add_attachment("Part;Price\nBolt;2\n", filename="prices.csv")
    made.add_attachment(b"MZ", maintype="application", subtype="octet-stream", filename="setup.exe")
    document = read(made, tmp_path)
    assert [(block.section, block.text) for block in document.blocks][1:] == [
        (None, "Prices attached."),
        ("Attachment: prices.csv", "| Part | Price |\n| Bolt | 2 |"),
        (None, "Attachments (not read): setup.exe"),
    ]
    assert document.notes == ("attachment setup.exe is not read: no loader reads .exe",)

"""The metadata that filters use: a file's folder, type and days, and its front matter."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.fields import own_fields
from app.ingest.loaders.markdown import load
from app.ingest.loaders.table import load_file

FRONT = b"""---
title: Leave
author: Kim
date: 2024-03-01
reviewed: 2024-03-02T10:00:00Z
draft: false
version: 1.5
tags: [leave, 7, {deep: 1}, null]
source: elsewhere.md
nested: {a: 1}
a.b: dotted
huge: 123456789012345678901234567890
type: policy
---
# Leave

There are 25 days.
"""


def test_front_matter_is_kept_as_json_values() -> None:
    """Text, numbers, booleans, days as ISO text, and lists of them; a name that is taken, nested fields, dotted names
    and what JSON cannot hold are left out."""
    assert load(FRONT, "leave.md").metadata == {
        "author": "Kim",
        "date": "2024-03-01",
        "reviewed": "2024-03-02",
        "draft": False,
        "version": 1.5,
        "tags": ["leave", 7],
        "type": "policy",
    }


@pytest.mark.parametrize("fields", [{7: "x"}, {"x" * 101: 1}, {"x": "y" * 501}, {"x": float("nan")}, {"x": "\ud800"}])
def test_what_cannot_be_stored_is_left_out(fields: dict[Any, Any]) -> None:
    """So is a name or a text that is too long."""
    assert own_fields(fields) == {}


def test_every_file_has_folder_type_and_day(tmp_path: Path) -> None:
    """The folders above it, its suffix, and the day of its last change; its own front matter counts before these."""
    (path := tmp_path / "leave.md").write_bytes(FRONT)
    (plain := tmp_path / "notes.TXT").write_text("There are 25 days.")
    os.utime(plain, (1_700_000_000, 1_700_000_000))
    (loaded,) = load_file(path, "hr/policies/leave.md")
    assert isinstance(loaded, LoadedDocument)
    assert (loaded.metadata["folder"], loaded.metadata["type"]) == ("hr/policies", "policy")
    (other,) = load_file(plain, "notes.TXT")
    assert isinstance(other, LoadedDocument)
    assert other.metadata == {"folder": "", "type": "txt", "modified": "2023-11-14"}


@pytest.mark.parametrize(
    ("name", "text", "dated"),
    [
        ("minutes_2025-04-08.txt", "It is so.", "2025-04-08"),
        ("rules-2024.txt", "It is so.", "2024"),
        ("minutes.txt", "ROWING CLUB\nMinutes of the meeting on 8 April 2025\n\nIt is so.", "2025-04-08"),
        ("news.md", "# News, May 2025\n\nIt is so.", "2025-05"),
        ("rules.md", "---\ndate: 2024-03-01\n---\n# Rules of 2023\n\nIt is so.", "2024-03-01"),
        ("hello.eml", "Subject: Hello\nDate: Tue, 8 Apr 2025 10:00:00 +0000\n\nIt is so.\n", "2025-04-08"),
        ("HL-2040 manual.txt", "It is so.", None),
        ("club.txt", "The club was founded on 3 May 1912.\n\nIt is so.", None),
        ("a.txt", "Of 5.13.2025 or 3 May 2025.", "2025-05-03"),
        ("rules.txt", "It is so. " * 30 + "Since 3 May 2020 it is.", None),
    ],
)
def test_a_document_has_the_date_that_it_says(name: str, text: str, dated: str | None, tmp_path: Path) -> None:
    """In its front matter, its name or title, or its first lines; not what is said further down."""
    (path := tmp_path / name).write_text(text)
    (loaded,) = load_file(path, name)
    assert isinstance(loaded, LoadedDocument)
    assert loaded.metadata.get("dated") == dated


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: Walk\nstarts: 18:30\nguides: [Ann, Bo]\nfee: 4.20\ntags: [x]\ntoc: true\nmap: {a: 1}\n---\n",
        '+++\ntitle = "Walk"\nstarts = 18:30:00\nguides = ["Ann", "Bo"]\nfee = 4.20\n[map]\na = 1\n+++\n',
    ],
)
def test_front_matter_is_text_as_written(front: str) -> None:
    """What a reader may ask for is a list at the head, a time and a price as they stand there; YAML and TOML."""
    document = load(f"{front}The walk is long.\n".encode(), "walk.md")
    assert document.title == "Walk"
    listed, text = document.blocks
    assert (listed.text.replace("18:30:00", "18:30"), text.text) == (
        "- starts: 18:30\n- guides: Ann, Bo\n- fee: 4.20",
        "The walk is long.",
    )


@pytest.mark.parametrize(
    ("name", "text", "dated"),
    [
        ("fees_2026_DRAFT.md", "# Fees 2026\n\nEach hour costs 16 euros.", "~2026"),
        ("archive/fees_2024.md", "# Fees 2024\n\nEach hour costs 12 euros.", "~2024"),
        ("adr-3.md", "# ADR 3: RabbitMQ\n\n- Status: superseded by ADR 11\n\nWe use RabbitMQ.", "~"),
        ("rules_v2 (old).txt", "Safety rules of 15 March 2019\n\nOutings end at sunset.", "~2019-03-15"),
        ("old_mill.txt", "Mill rules of 15 March 2019\n\nIt turns.", None),
        ("policy.md", "# Policy\n\nThis policy has been replaced by that of 2025.\n\nUp to 90 euros.", "~"),
        ("guide.md", "---\nstatus: obsolete\n---\n# Guide\n\nPress start.", "~"),
        ("policy_v1.md", "# Travel policy (draft, not in force)\n\nUp to 90 euros.", "~"),
    ],
)
def test_a_document_says_that_it_is_not_in_force(name: str, text: str, dated: str | None, tmp_path: Path) -> None:
    """In its name, its folder, its title, its status or its first lines; "old" before a noun says nothing."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    (document,) = load_file(path, name)
    assert isinstance(document, LoadedDocument)
    expected = dated or "2019-03-15"
    assert document.metadata["dated"] == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("beer.md", "# Beers on tap\n\nThe draught lager costs 4 euros."),
        ("rules.md", "# Rules\n\nDrafts of papers are sent to Ida. The old shed is closed."),
        ("beers.md", "# Draft beer prices\n\nLager 4 euros."),
        ("pills.md", "# Expired medication policy\n\nBring them back."),
        ("mail.md", "# Archived mail\n\nPress Restore."),
        ("order.md", "# Orders\n\nIf the order shows status: rejected, call us."),
        ("ticket.md", "# Ticket 12\n\n- Status: expired\n- Owner: Ann"),
        ("note.md", "# Note\n\nThis document is obsolete only if the board says so."),
        ("log.md", "# Changes\n\n- The flag --fast is deprecated."),
        ("archive-sync.txt", "Archive sync\n\nThe archive is copied at night."),
    ],
)
def test_what_speaks_of_drafts_is_in_force(name: str, text: str, tmp_path: Path) -> None:
    """A word of the text, or of another thing, says nothing of the document."""
    (path := tmp_path / name).write_text(text, encoding="utf-8")
    (document,) = load_file(path, name)
    assert isinstance(document, LoadedDocument)
    assert "dated" not in document.metadata


def test_an_amendment_has_the_last_date_of_its_head(tmp_path: Path) -> None:
    """It names the day of what it changes, too."""
    text = "Rules of 1 January 2024 - Amendment No. 1\nMeeting of 24 May 2025\n\n§ 3 is replaced by:\n\nOpen to 21:00."
    (path := tmp_path / "Amendment_1.txt").write_text(text, encoding="utf-8")
    (document,) = load_file(path, path.name)
    assert isinstance(document, LoadedDocument)
    assert document.metadata["dated"] == "2025-05-24"

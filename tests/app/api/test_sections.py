"""A section asked for by its number is quoted, in every way that a document numbers its sections."""

from __future__ import annotations

import httpx
import pytest

from tests.support.calling import upload

STATUTES = """# Statutes

## Article 3 Fees

The yearly fee is set by the general meeting. Students pay half.

## Article 4 Board

The board has five members. It is elected for two years.

## Article 14 Seat

The club has its seat in Harrow.
"""
HANDBOOK = """# Handbook

## 2 Absence

### 2.1 Leave

Everybody has 28 days of leave a year.

### 2.10 Sabbatical

After five years a sabbatical may be taken.

## Appendix B Contacts

The works council is reached on extension 440.

## 7. Pay

7.1 Pay is monthly.

7.2 The firm may deduct loans. It tells you first.

7.3 Reviews are in April.
"""
RELEASES = """# Quill release notes

## 2.3.1 (22 August)

### Fixed
- A crash with many images.

## 2.3.0 (30 June)

### Added
- Shared glossaries.

### Removed
- The built-in FTP client. A new one is planned for 2.4.1.
"""


@pytest.fixture
async def client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """A caller on this machine, over the statutes of a club, a handbook and release notes."""
    await upload(client, "statutes.md", STATUTES.encode())
    await upload(client, "handbook.md", HANDBOOK.encode())
    await upload(client, "releases.md", RELEASES.encode())
    return client


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("What does article 4 say?", ["The board has five members.", "It is elected for two years."]),
        ("What does Article 3 of the statutes say?", ["set by the general meeting.", "Students pay half."]),
        ("section 2.1", ["Everybody has 28 days of leave a year."]),
        ("What is in § 2.10?", ["After five years a sabbatical may be taken."]),
        ("What does chapter 2 cover?", ["28 days", "sabbatical may be taken."]),
        ("What does appendix B contain?", ["extension 440."]),
        ("What does clause 7.2 say?", ["7.2 The firm may deduct loans.", "It tells you first."]),
        ("What was fixed in 2.3.1?", ["A crash with many images."]),
        ("What's new in Quill 2.3?", ["Shared glossaries."]),
    ],
)
async def test_a_section_is_quoted_by_its_number(client: httpx.AsyncClient, question: str, quotes: list[str]) -> None:
    """All of it, each sentence with its citation, and nothing of another section."""
    body = (await client.post("/query", json={"query": question, "includeEvidence": True})).json()
    assert [quote in row["quote"] for quote, row in zip(quotes, body["evidence"], strict=True)] == [True] * len(quotes)


@pytest.mark.parametrize(
    "question",
    [
        "What does article 9 say?",
        "What does article 4 of the handbook say?",
        "What does clause 7.4 say?",
        "What was fixed in 2.2.1?",
    ],
)
async def test_a_section_that_is_not_there_is_declined(client: httpx.AsyncClient, question: str) -> None:
    """No other section stands in for it."""
    body = (await client.post("/query", json={"query": question})).json()
    assert body["citedDocuments"] == []

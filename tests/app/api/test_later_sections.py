"""Of dated sections of one document a later one may take back what an earlier one says: it is quoted too."""

from __future__ import annotations

import httpx
import pytest

from tests.support.calling import upload

MINUTES = """ALLOTMENT ASSOCIATION

=== Meeting of 11 February 2025 ===

Rents. The rent of a full plot is raised from 48 to 54 pounds a year.

Open day. The open day will be held on 21 June.

Water. The water is turned on from 1 April to 31 October.

=== Meeting of 13 May 2025 ===

Rents. The decision of February on rents was withdrawn. The rent of a full plot will be 51 pounds a year.

Open day. As there is no marquee on 21 June, the open day is moved to 5 July.

Keys. A deposit of 10 pounds for gate keys was rejected.
"""


@pytest.fixture
async def client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """A caller on this machine, over the minutes of two meetings."""
    await upload(client, "minutes.txt", MINUTES.encode())
    return client


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the rent of a full plot a year?", "51 pounds"),
        ("When is the open day?", "5 July"),
        ("When is the water turned on?", "1 April"),
    ],
)
async def test_what_was_decided_last_is_told(client: httpx.AsyncClient, question: str, told: str) -> None:
    """Whatever the earlier section says; where the later one says nothing of it, that one answers alone."""
    body = (await client.post("/query", json={"query": question, "includeEvidence": True})).json()
    assert any(told in row["quote"] for row in body["evidence"])

"""Questions about a thing that the documents name and do not tell this of: declined, with the closest passages."""

from __future__ import annotations

import httpx
import pytest

from tests.support.calling import upload

HOSTEL = """# Ferncliff hostel

The walk to the village takes forty minutes. The river can be seen from the terrace.
The day room is open until midnight. The laundry costs 4 pounds, and the attic is used for linen.

A bicycle costs 15 pounds a day; the canoes may be used by members alone.

Rupert Hale keeps the boats. Abigail Hale teaches the climbing course on Mondays.
"""

CLINIC = """# Westerly Road clinic

The dog vaccination costs 46 pounds and lasts for one year. Students may borrow up to three cages.
The deposit for a basket is 12 pounds.

The handset of the night nurse must be charged for two hours.

Fenwick station is the older of the two and stands on a hill. Its larger dish is 13 metres across.
"""


@pytest.fixture
async def client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """A caller on this machine, over a page of a hostel."""
    await upload(client, "hostel.md", HOSTEL.encode())
    return client


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How long does the walk to the village take?", "forty minutes"),
        ("How long does the walk to the river take?", ""),
        ("How much does a bicycle cost a day?", "15 pounds"),
        ("How much do the canoes cost a day?", ""),
        ("Until when is the day room open?", "midnight"),
        ("Until when is the attic open?", ""),
        ("What does Abigail Hale teach?", "climbing"),
        ("What does Rupert Hale teach?", ""),
    ],
)
async def test_what_is_told_of_one_thing_is_no_answer_for_another(
    client: httpx.AsyncClient, question: str, answer: str
) -> None:
    """The one is answered; for the other the page is shown as the closest passage, and nothing is cited."""
    body = (await client.post("/query", json={"query": question, "includeEvidence": True})).json()
    if answer:
        assert answer in body["answer"]
        assert body["metadata"]["answeredBy"] == "passages"
    else:
        assert body["citedDocuments"] == []
        assert [passage["documentId"] for passage in body["closest"]] == ["hostel.md"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much does the dog vaccination cost?", "46 pounds"),
        ("How much does the cat vaccination cost?", ""),
        ("How many cages may students borrow?", "three"),
        ("How many cages may visitors borrow?", ""),
        ("How much is the deposit for a basket?", "12 pounds"),
        ("How much is the deposit for a blanket?", ""),
        ("How large is the larger dish of Fenwick station?", "13 metres"),
        ("How large is the larger dish of Marrick station?", ""),
        ("How long must the phone of the night nurse be charged?", "two hours"),
    ],
)
async def test_what_is_told_of_a_rival_is_no_answer_where_the_thing_is_nowhere(
    client: httpx.AsyncClient, question: str, answer: str
) -> None:
    """A thing that no document names is not its relative; the same thing in another word is."""
    await upload(client, "clinic.md", CLINIC.encode())
    body = (await client.post("/query", json={"query": question, "includeEvidence": True})).json()
    assert (answer in body["answer"]) if answer else body["citedDocuments"] == []

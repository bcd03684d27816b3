"""Questions that count, over HTTP: the number with its rows, or why there is none."""

from __future__ import annotations

from io import BytesIO

import httpx
import pytest
from fpdf import FPDF
from openpyxl import Workbook

from graph.nodes.answer import NOT_COUNTED
from tests.support.calling import upload

STATES = ("closed", "open", "waiting for parts")
TICKETS = "Ticket;Assignee;State\n" + "\n".join(f"{7000 + n};Piet Bakker;{STATES[n % 3]}" for n in range(60))
BEDS = "# Beds\n\n| Bed | Crop |\n|---|---|\n| A1 | tomato |\n| A2 | leek |\n| A3 | tomato |\n"
LOANS = (
    "<title>Loans</title><table><tr><th>Loan</th><th>Borrower</th><th>State</th></tr>"
    "<tr><td>1</td><td>Ada</td><td>late</td></tr><tr><td>2</td><td>Bo</td><td>late</td></tr>"
    "<tr><td>3</td><td>Cy</td><td>returned</td></tr></table>"
)
VANS = [
    ("Plate", "Fuel", "Home"),
    ("K 11", "diesel", "Oslo"),
    ("K 12", "electric", "Oslo"),
    ("K 13", "electric", "Hamar"),
]
CRANES = [
    ("Inspection", "Crane", "Result"),
    ("101", "North", "passed"),
    ("102", "South", "failed"),
    ("103", "East", "passed"),
]


def workbook() -> bytes:
    book, out = Workbook(), BytesIO()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Vans"
    for row in VANS:
        sheet.append(row)
    book.save(out)
    return out.getvalue()


def pdf() -> bytes:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=11)
    with document.table() as table:
        for cells in CRANES:
            row = table.row()
            for cell in cells:
                row.cell(cell)
    return bytes(document.output())


FILES = {
    "tickets.csv": TICKETS.encode(),
    "beds.md": BEDS.encode(),
    "loans.html": LOANS.encode(),
    "vans.xlsx": workbook(),
    "cranes.pdf": pdf(),
}


@pytest.fixture
async def client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """A caller on this machine, over the tables of five makers."""
    for name, content in FILES.items():
        await upload(client, name, content)
    return client


async def test_rows_are_counted_in_the_tables_of_five_makers(client: httpx.AsyncClient) -> None:
    """The answer is the number, then the rows, each cited; also of a table of several chunks."""
    for question, count in {
        "How many tickets are closed?": 20,
        "How many beds have tomato?": 2,
        "How many loans are late?": 2,
        "How many electric vans are in Hamar?": 1,
        "How many inspections passed?": 2,
    }.items():
        body = (await client.post("/query", json={"query": question, "includeEvidence": True})).json()
        first, *_ = body["answer"].split("\n")
        assert first == (f"{count} rows match:" if count > 1 else "One row matches:"), question
        assert len(body["evidence"]) == count + 1, question  # and the header
        assert body["metadata"]["answeredBy"] == "passages"


async def test_a_count_that_is_not_certain_is_declined_and_says_why(client: httpx.AsyncClient) -> None:
    """The reason is the answer, and the table is among the closest passages."""
    body = (
        await client.post("/query", json={"query": "How many tickets are not closed?", "includeEvidence": True})
    ).json()
    assert (body["answer"], body["citedDocuments"]) == (NOT_COUNTED, [])
    assert "tickets.csv" in {passage["documentId"] for passage in body["closest"]}


async def test_a_count_stands_apart_from_the_rest_of_an_answer(client: httpx.AsyncClient) -> None:
    """The rows of another part of the question are not among those counted; a low limit keeps the number and a row."""
    question = {"query": "How many loans are late, and which crane failed the inspection?"}
    counted, *_ = (await client.post("/query", json=question)).json()["answer"].split("\n\n| Inspection")
    assert counted.startswith("2 rows match:")
    assert "South" not in counted
    short = (await client.post("/query", json={"query": "How many loans are late?", "maxTokens": 8})).json()["answer"]
    assert short == "2 rows match:\n\n| 1 | Ada | late [1] |"

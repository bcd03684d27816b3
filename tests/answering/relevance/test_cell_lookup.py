"""A cell is looked up: its row by what the question names, its column by the reader, with the real weights."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from answering.relevance.cell_lookup import look_up, named_rows
from answering.relevance.counted_rows import count_rows
from answering.relevance.features import read_best
from answering.text.amounts import in_full
from answering.text.sentences import sentence_spans
from answering.types import About, Chunk, SubqueryResults
from app.providers.rerank.reader import OnnxReader

BUSES = """| Bus | Line name | Built | Seats | Length (m) | Fuel | Driver this week | Last service |
|---|---|---|---|---|---|---|---|
| 7 | Harbour shuttle | 2014 | 31 | 10.4 | diesel | Marek Dolan | 3 May 2026 |
| 9 | School run | 2019 | 54 | 12.1 | biogas | Ines Prado | 11 June 2026 |
| 12 | Night bus | 2021 | 47 | 11.8 | electric | Tove Lind |  |"""
PAINTS = """| Paint | Finish | Colour | Litres per tin | Price (£) | Shelf |
|---|---|---|---|---|---|
| Barn paint | matt | red | 5 | 38.50 | C2 |
| Barn paint | gloss | red | 5 | 41.00 | C3 |
| Barn paint | matt | green | 10 | 69.90 | C4 |
| Floor varnish | gloss | clear | 2.5 | 27.40 | D1 |"""
STOCK = """| Item | Size | Colour | Qty |
|---|---|---|---|
| Fleece | M | grey | 14 |
| Fleece | L | grey |  |
| Fleece | L | blue | 6 |
| Apron | L | blue | 9 |"""

BOILER = """| Item | PB 16 | PB 24 |
|---|---|---|
| Nominal output | 16 kW | 24 kW |
| Minimum output | 4.8 kW | 7.2 kW |
| Maximum operating pressure | 3 bar | 3 bar |
| Capacity of ash box | 18 litres | 24 litres |"""


@pytest.fixture(scope="module")
def reader() -> Iterator[OnnxReader]:
    reader = OnnxReader()
    yield reader
    reader.close()


def chunk_of(name: str, text: str, dated: str = "") -> Chunk:
    spans = sentence_spans(text)
    return Chunk(
        name, name, name, text, dated=dated, similarity=0.5, spans=spans, span_similarities=(0.4,) * len(spans)
    )


CHUNKS = [chunk_of("Bus fleet", BUSES), chunk_of("Paint store", PAINTS), chunk_of("Work clothes", STOCK)]


def rows_marked(chunks: list[Chunk]) -> list[str]:
    return [
        text
        for chunk in chunks
        for text, about in zip(chunk.sentences, chunk.about, strict=False)
        if about is About.LOOKED_UP
    ]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("How many people fit in bus 9?", "| 9 |"),
        ("How many metres long is the night bus?", "| 12 |"),
        ("what does the school run bus run on", "| 9 |"),
        ("Who drives the harbour shuttle?", "| 7 |"),
        ("When was bus 7 built?", "| 7 |"),
        ("Where do I find the green barn paint?", "| Barn paint | matt | green"),
        ("What do I pay for barn paint in red with a gloss finish?", "| Barn paint | gloss | red"),
        ("How many fleeces do we have in M and grey?", "| Fleece | M | grey"),
        ("When was the last maintenance service of the harbour shuttle?", "| 7 |"),
    ],
)
async def test_a_cell_is_looked_up(reader: OnnxReader, question: str, row: str) -> None:
    """The row that the question names, by its first cell, its description or two of its cells; in other words than its
    column's, or by its unit.
    """
    (found,) = rows_marked(await look_up(reader, question, CHUNKS))
    assert found.startswith(row)


@pytest.mark.parametrize(
    "question",
    [
        "How many people fit in bus 8?",  # no such row
        "How heavy is bus 9?",  # no such column
        "When was the night bus last serviced?",  # an empty cell
        "How many fleeces do we have in L and grey?",
        "How many people fit in two of the 9 metre buses?",  # a number that is no name
        "What do I pay for barn paint in red?",  # two rows
        "What do I pay for barn paint in blue?",
        "Does the night bus run on diesel?",
    ],
)
async def test_what_is_not_in_the_table_is_not_looked_up(reader: OnnxReader, question: str) -> None:
    """No row, no column, no value, or more rows than one: nothing is certain. Nor is what asks for a yes or no."""
    assert not await look_up(reader, question, CHUNKS)


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What is the nominal output of the PB 24?", "| Nominal output"),
        ("What is the maximum operating pressure of the boiler?", "| Maximum operating pressure"),
        ("ash box capacity PB 16", "| Capacity of ash box"),
        ("How much is the minimum output of the PB 16?", "| Minimum output"),
        ("Where is the ash box?", None),
        ("Who empties the ash box?", None),
        ("What is the nominal output of the turbine?", None),
        ("Which inspector certified the guarantee of the PB 24's nominal output in Hamburg?", None),
    ],
)
async def test_a_property_of_several_models_is_looked_up(reader: OnnxReader, question: str, row: str | None) -> None:
    """Where each row is a property, and each column a model; a place, a person or another thing is none of them."""
    boiler = chunk_of("Manual of the boiler PB 16 and PB 24", BOILER)
    assert [text.startswith(row or "") for text in rows_marked(await look_up(reader, question, [boiler]))] == [True] * (
        row is not None
    )


async def test_a_value_that_is_part_of_the_name_is_read_too(reader: OnnxReader) -> None:
    """Of boat 22, which has 2 seats; its maker, who has no number, is none of how many."""
    boats = "| Boat | Maker | Seats |\n|---|---|---|\n| 22 | Ashbury | 2 |\n| 31 | Tarn | 4 |"
    (row,) = rows_marked(await look_up(reader, "How many people fit in boat 22?", [chunk_of("Boats", boats)]))
    assert row.startswith("| 22 |")
    unseated = boats.replace("| Seats |", "| Colour |").replace("| 2 |", "| red |").replace("| 4 |", "| blue |")
    assert not await look_up(reader, "How many people fit in boat 22?", [chunk_of("Boats", unseated)])


async def test_of_two_versions_of_a_table_the_later_is_looked_up(reader: OnnxReader) -> None:
    """Both name the paint; what was superseded is not even read."""
    question = "What do I pay for floor varnish?"
    old = chunk_of("Prices 2024", PAINTS.replace("27.40", "24.80"), "2024-01-01")
    new = chunk_of("Prices 2026", PAINTS, "2026-01-01")
    draft = chunk_of("Prices 2027", PAINTS, "~2027-01-01")
    assert [chunk.title for chunk in await look_up(reader, question, [old, new, draft])] == ["Prices 2026"]
    assert [row.chunk.title for row in named_rows(question, [old, draft])] == ["Prices 2024"]


async def test_a_cell_is_looked_up_where_nothing_answers(reader: OnnxReader) -> None:
    """Then the row is the sentence that answers best; the chunk of another table is read and does not answer."""
    (results,) = await read_best(reader, [SubqueryResults("How many people fit in bus 9?", tuple(CHUNKS))])
    readings = [chunk.reading for chunk in results.chunks]
    assert [reading is not None and max(reading.sentences) > reading.null for reading in readings] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("Weight (kg)", "Weight (kilograms)"),
        ("size m2", "size square metres"),
        ("Speed [kn]", "Speed [knots]"),
        ("rent gbp", "rent pounds"),
        ("No.", "No."),
        ("Kind (a to f)", "Kind (a to f)"),
        ("m", "m"),
    ],
)
def test_units_in_the_names_of_columns_are_written_in_full(name: str, full: str) -> None:
    """In brackets or at the end, as a question writes them; a name of nothing else stays."""
    assert in_full(name) == full


@pytest.mark.parametrize(
    ("question", "count"),
    [("How many fleeces in L are there?", 0), ("How many rows of grey clothes are there?", 2)],
)
def test_rows_of_what_is_in_stock_are_not_counted(question: str, count: int) -> None:
    """Each says how many there are: two rows are not two fleeces. Rows that are asked for are counted all the same."""
    stock = chunk_of("Work clothes", STOCK)
    found = count_rows(question, [Chunk("c", "d", stock.title, STOCK, chunk_index=0, spans=stock.spans)])
    assert sum(len(part.numbers) for part in found) == count

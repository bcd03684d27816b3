"""Questions for the highest or lowest value of a table, over the chunks of one document."""

from __future__ import annotations

import pytest

from answering.relevance.extremes import ASKS_EXTREME, extreme_rows, may_compare
from answering.text.sentences import sentence_spans
from answering.types import Chunk

HEAD = "| Van | Payload | Service interval (km) | Depot |"
VANS = [
    f"{HEAD}\n| Otter | 900 kg | 30,000 | Sund |\n| Heron | 1.2 tonnes | 20,000 | Aal |",
    f"{HEAD}\n| Tern | 850 kg | n/a | Sund |\n| Rail | 1.1 tonnes | 30,000 | Aal |",
]
TICKETS = "| Ticket | Price | Valid for |\n| Day | €9.50 | 1 day |\n| Week | €31 | 7 days |\n| Total | €40.50 | |"
TRAINS = "| Train | Day | Departs |\n| R1 | Sunday | 06:10 |\n| R2 | Sunday | 05:50 |\n| R3 | Monday | 04:30 |"
SERVERS = "| id | ram_gb | disks |\n| falcon | 64 | 4 |\n| raven | 256 | 2 |"
MENU = "| Dish |  | Price |\n| Soup | Starters | €6 |\n| Dumplings | Mains | €16 |\n| Stew | Mains | €19 |"
MIXED = "| Roll | Length |\n| A | 3 spans |\n| B | 2 rods |"
WORDS = "| Trail | Length |\n| A | 3 km |\n| B | about an hour, by boat |"


def chunks_of(title: str, *texts: str) -> list[Chunk]:
    return [Chunk(str(n), "d", title, text, chunk_index=n, spans=sentence_spans(text)) for n, text in enumerate(texts)]


def rows(question: str, chunks: list[Chunk]) -> list[str]:
    found = extreme_rows(question, chunks)
    return [sentences.chunk.sentences[n].split(" | ")[0].strip("| ") for sentences in found for n in sentences.numbers]


@pytest.mark.parametrize(
    ("question", "title", "texts", "found"),
    [
        ("Which van has the highest payload?", "Vans", VANS, ["Heron"]),
        ("Which van has the lowest payload?", "Vans", VANS, ["Tern"]),
        ("Which vans have the longest service interval?", "Vans", VANS, ["Otter", "Rail"]),
        ("Which van of the depot Sund has the highest payload?", "Vans", VANS, ["Otter"]),
        ("Which ticket is the cheapest?", "Tickets", [TICKETS], ["Day"]),
        ("Which is the most expensive ticket?", "Tickets", [TICKETS], ["Week"]),
        ("Which ticket costs the most?", "Tickets", [TICKETS], ["Week"]),
        ("Which server has the most RAM?", "Servers", [SERVERS], ["raven"]),
        ("Which hive gave the most honey?", "Hives", ["| Hive | Honey |\n| 1 | 12 kg |\n| 2 | 31 kg |"], ["2"]),
        ("Which main course is the cheapest?", "Menu", [MENU], ["Dumplings"]),
        ("Which train departs earliest on Sunday?", "Trains", [TRAINS], ["R2"]),
    ],
)
def test_the_row_with_the_extreme_value_is_found(question: str, title: str, texts: list[str], found: list[str]) -> None:
    """Over all chunks of the table, in any unit of one kind, of the rows that the question names; equal ones all."""
    assert ASKS_EXTREME.search(question)
    assert rows(question, chunks_of(title, *texts)) == found


LOOP = "## Duration\n\n- Ferry loop: 45 minutes\n- Island tour: 2 hours\n- Sunset: 90 minutes"


@pytest.mark.parametrize(
    ("question", "title", "text", "found"),
    [
        ("Which ticket is the cheapest?", "Tickets", "- Adults: £6.80\n- Children: £3\n- Under fives: £0.50", "Under"),
        ("What is the cheapest ticket?", "Tickets", "- Adults: £6.80\n- Children: £3\n- Dogs: free", "Dogs"),
        ("Which trip is the longest?", "Duration of the trips", LOOP, "Island"),
        ("Which trip is the cheapest?", "Duration of the trips", LOOP, ""),
    ],
)
def test_lists_of_labels_and_values_are_compared(question: str, title: str, text: str, found: str) -> None:
    """A price list mostly has no header; what is measured stands above it, or is a price."""
    items = rows(question, chunks_of(title, text))
    assert [item.split()[0].strip(":") for item in items] == [found] * bool(found)


def test_where_two_columns_may_be_meant_all_rows_are_shown() -> None:
    """Unless both have their extreme in the same row."""
    fees = "| Member | Annual fee | Joining fee |\n| Adult | £285 | £60 |\n| Social | £45 | £{} |"
    assert rows("Which member pays the cheapest?", chunks_of("Fees", fees.format(10))) == ["Social"]
    assert rows("Which member pays the cheapest?", chunks_of("Fees", fees.format(90))) == ["Adult", "Social"]


@pytest.mark.parametrize(
    ("question", "title", "texts"),
    [
        ("Which van has the highest roof?", "Vans", VANS),
        ("Which electric van has the highest payload?", "Vans", VANS),
        ("Which van has the highest payload below 1 t?", "Vans", VANS),
        ("Which driver has the highest payload?", "Vans", VANS),
        ("What is the longest roll?", "Rolls", [MIXED]),
        ("What is the longest trail?", "Trails", [WORDS]),
        ("Which van has the highest payload?", "Vans", [VANS[0].partition("\n| Heron")[0]]),
    ],
)
def test_in_doubt_no_row_is_chosen(question: str, title: str, texts: list[str]) -> None:
    """Another column or other rows than the table has, values that cannot be compared, a single row."""
    assert rows(question, chunks_of(title, *texts)) == []


def test_a_chunk_alone_tells_whether_its_table_is_compared() -> None:
    """The whole table is read only then."""
    first, second = chunks_of("Vans", *VANS)
    assert may_compare("Which van has the highest payload?", second)
    assert not may_compare("Which van has the highest roof?", first)

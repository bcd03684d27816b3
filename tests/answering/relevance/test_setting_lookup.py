"""A setting is looked up in code and in files of settings, and its line alone is quoted, with the real weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from answering.relevance.setting_lookup import look_up_setting
from answering.text.sentences import sentence_spans
from answering.text.settings import settings_of
from answering.types import About, Chunk
from app.providers.rerank.reader import OnnxReader

OVEN = """The baking program reads this file at its start:

```yaml
oven:
  preheat_minutes: 25        # until the stones are hot
  door_alarm_seconds: 40     # the buzzer sounds when the door stands open for that long
proofer:
  humidity_percent: 78
  # dough that is kept longer is thrown away
  keep_hours: 18
racks:
  tall: { trays: 16, wheels: yes }
```

After a change, restart the program."""
PROXY = """Orders come in through one server.

```nginx
upstream shop {
    server 10.0.4.7:8450;      # the till
}
location /upload/ {
    client_max_body_size 12m;  # pictures of cakes
}
```"""
SCRIPTS = """```sh
# empty the label printer's queue
cancel -a labels-left
pg_dump shop > shop.sql   # every night, before the backup
```"""
SETTINGS = """- delivery.radius.km: 14 – beyond that a courier is paid
- order.cutoff: 16:45
- mail.host: post.example"""


@pytest.fixture(scope="module")
def reader() -> Iterator[OnnxReader]:
    reader = OnnxReader()
    yield reader
    reader.close()


def chunk_of(name: str, text: str, source: str = "notes.md") -> Chunk:
    spans = sentence_spans(text)
    return Chunk(name, name, name, text, source=source, spans=spans, span_similarities=(0.4,) * len(spans))


CHUNKS = [
    chunk_of("Bakery machines", OVEN),
    chunk_of("Web orders", PROXY),
    chunk_of("Commands", SCRIPTS),
    chunk_of("Shop", SETTINGS, "shop.properties"),
]


def sentences(chunk: Chunk) -> list[str]:
    return [setting.sentence for n in range(len(chunk.spans)) for setting in settings_of(chunk, n)]


def test_settings_are_read_as_sentences() -> None:
    """Groups, comments beside or above, braces, directives, commands and items of a list are understood."""
    assert [sentences(chunk) for chunk in CHUNKS] == [
        [
            "The preheat minutes of oven is 25 (until the stones are hot).",
            "The door alarm seconds of oven is 40 (the buzzer sounds when the door stands open for that long).",
            "The humidity percent of proofer is 78.",
            "The keep hours of proofer is 18 (dough that is kept longer is thrown away).",
            "The trays of tall of racks is 16.",
            "The wheels of tall of racks is yes.",
        ],
        [
            "The server of upstream shop is 10.0.4.7:8450 (the till).",
            "The client max body size of location /upload/ is 12m (pictures of cakes).",
        ],
        [
            "empty the label printer's queue: cancel -a labels-left",
            "every night, before the backup: pg_dump shop > shop.sql",
        ],
        [
            "The delivery radius km is 14 (beyond that a courier is paid).",
            "The order cutoff is 16:45.",
            "The mail host is post.example.",
        ],
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Build the page so:\n\n- ```npm run build```", []),
        ("```yaml\nmatrix:\n  - [1, 2]\ntimeout: 5\n```", ["The timeout is 5."]),
        ("```ini\n; Kiln two, ground floor\n\nhold = 20\n```", ["The hold is 20."]),
        ("```ini\n; slow for thick clay\n; rise = 9\nrise = 80\n```", ["The rise is 80."]),
    ],
)
def test_what_only_looks_like_a_part_of_it(text: str, expected: list[str]) -> None:
    """Inline code is no block, a list no section, and a comment belongs to what stands right below it."""
    assert sentences(chunk_of("Notes", text)) == expected


def test_a_list_of_prose_is_no_list_of_settings() -> None:
    """In a document that people wrote, "Tuesday: closed" is read as it stands."""
    assert sentences(replace(CHUNKS[3], source="shop.md")) == []


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (
            "How long may the oven door stand open before the buzzer sounds?",
            "door_alarm_seconds: 40     # the buzzer sounds when the door stands open for that long",
        ),
        (
            "After how many hours is dough thrown away?",
            "# dough that is kept longer is thrown away\n  keep_hours: 18",
        ),
        ("From how many kilometres on is a courier paid?", "delivery.radius.km: 14 – beyond that a courier is paid"),
        ("How do I empty the queue of the label printer?", "# empty the label printer's queue\ncancel -a labels-left"),
    ],
)
async def test_the_line_that_answers_is_marked(question: str, line: str, reader: OnnxReader) -> None:
    """It is one sentence of its chunk, and no other is."""
    (chunk,) = await look_up_setting(reader, question, CHUNKS)
    marked = [text for text, about in zip(chunk.sentences, chunk.about, strict=True) if about is About.LOOKED_UP]
    assert marked == [line]


@pytest.mark.parametrize(
    "question",
    [
        "How long may the freezer door stand open?",
        "How many hours is the shop open on Sundays?",
        "Is the proofer's humidity 78 percent?",
        "How long is rack 9 kept?",
        "Which flour is used for the rolls?",
    ],
)
async def test_what_no_setting_says_is_not_looked_up(question: str, reader: OnnxReader) -> None:
    """Other things, other numbers, and whether something is so, are left to the passages."""
    assert await look_up_setting(reader, question, CHUNKS) == []


@pytest.mark.parametrize(
    "unit", ["a: { ", "[ ", " ", "\n", "x = {a", "  k:", "- ", "# ", "a.b" * 4, "--x ", '"', "{k=v,"]
)
def test_any_code_is_read_in_linear_time(unit: str) -> None:
    """What is written to occupy a parser is read within the time limit of a test, and nothing outside the code."""
    text = f"```\n{unit * (60_000 // len(unit))}\n```"
    found = settings_of(Chunk("c", "c", "c", text, spans=((4, len(text) - 4),)), 0)
    assert all(4 <= setting.start < setting.end <= len(text) - 4 for setting in found)

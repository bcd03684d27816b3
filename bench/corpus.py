"""What every service reads and is asked: chunks and questions, the same ones for all.

Without ``--corpus`` there are 12,000 chunks: the paragraphs of the sample garden's plain files, and invented machines
and buildings, each with eight short chunks about it. A name occurs in no other document, so a question has one right
chunk among thousands of alike ones. Nothing is random from run to run.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CHUNKS = 12_000
QUESTIONS = 240
SHORTEST_PARAGRAPH = 120
"""Characters below which a paragraph of the samples is a heading or a list's beginning."""

KINDS = "pump kiln ferry orchard archive turbine crane greenhouse lighthouse press reservoir observatory".split()
ONSETS = "Vel Tor Mar Ash Bren Cal Dor El Fen Gar Hal Is Kes Lor Mer Nor Or Pel Quin Ros Sel Tam Ul Wes Yar".split()
MIDDLES = "a e i o u an en or il ast".split()
ENDINGS = "min dale wick ford holm stead ton by mere gate".split()
PLACES = "Lisbon Tampere Graz Aarhus Porto Gdansk Turin Cork Leiden Bergen Malmo Ghent Brno Split Basel Lyon".split()
PEOPLE = "Adeyemi Bianchi Castellan Duarte Eriksen Farouk Grzelak Hamasaki Ivanova Jansen Kowal Lindqvist".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday".split()
THINGS = "bronze bearings|oak doors|glass panels|copper pipes|steel cables|clay tiles|brass valves|slate roofs".split(
    "|"
)

ASPECTS = (
    (
        "How often is the {name} {kind} serviced?",
        "The {name} {kind} is serviced every {few} weeks by the {place} workshop.",
    ),
    (
        "Who is in charge of the {name} {kind}?",
        "The person in charge of the {name} {kind} is {person} of the {place} office.",
    ),
    (
        "When was the {name} {kind} built?",
        "The {name} {kind} was built in {year} by a cooperative from {place}.",
    ),
    (
        "On which day is the {name} {kind} closed?",
        "The {name} {kind} is closed to visitors every {day} until {hour} in the afternoon.",
    ),
    (
        "How heavy is the {name} {kind}?",
        "The {name} {kind} weighs {many} tonnes together with its {thing}.",
    ),
    (
        "How much does the {name} {kind} cost in a year?",
        "The {name} {kind} costs {many} thousand euros in a year, most of it spent on {thing}.",
    ),
    (
        "Which alarm code does the {name} {kind} use?",
        "The {name} {kind} uses alarm code {code}, which rings in {place} as well.",
    ),
    (
        "Where do the spare parts of the {name} {kind} come from?",
        "The spare parts of the {name} {kind} come from {place}, mainly {thing}.",
    ),
)
"""A question, and the sentence that answers it."""

REST = (
    "The last inspection found nothing that needed more than a note in the log.",
    "{person} keeps the drawings, and copies of them lie in {place}.",
    "Work on the {thing} was put off twice because the weather turned.",
    "In the winter of {year} it stood still for {few} days.",
    "Visitors from {place} often ask about the {thing}.",
    "A short report goes to {person} every {day}.",
    "Whoever notices a fault writes down the hour, the place and what was heard.",
    "The rules were changed in {year} after a meeting that lasted until {hour}.",
    "Two people are needed for it, and one of them must have done it before.",
    "An older plan, kept in {place}, shows the {thing} on the other side.",
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Rows of ``{chunk_id, document_id, title, text}``, one chunk each, and questions they answer."""

    rows: list[dict[str, str]]
    questions: list[str]

    def digest(self) -> str:
        """A name for exactly these rows."""
        return hashlib.sha256(json.dumps(self.rows).encode()).hexdigest()[:12]

    def write(self, path: Path) -> None:
        """As JSON Lines, a form every service here is given."""
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")


def read_corpus(folder: Path) -> Corpus:
    """A folder with ``corpus.jsonl`` and ``questions.jsonl``; only questions not marked unanswerable are asked."""
    rows = [
        {name: str(row[name]) for name in ("chunk_id", "document_id", "title", "text")}
        for row in _json_lines(folder / "corpus.jsonl")
    ]
    asked = _json_lines(folder / "questions.jsonl")
    return Corpus(rows, [row["question"] for row in asked if row.get("answerable", True)])


def make_corpus(chunks: int = CHUNKS, questions: int = QUESTIONS) -> Corpus:
    """The sample garden, then invented documents up to *chunks*; questions spread evenly over both."""
    rows = list(itertools.islice(sample_rows(), chunks))
    sources = {row["document_id"] for row in rows}
    asked = [
        row["question"]
        for row in _json_lines(ROOT / "knowledge" / "questions.jsonl")
        if row["answerable"] and set(row["expected_sources"]) <= sources
    ]
    invented = list(itertools.islice(invented_rows(), chunks - len(rows)))
    wanted = max(0, questions - len(asked))
    step = max(1, len(invented) // max(1, wanted))
    asked += [question for _, question in invented[step // 2 :: step][:wanted]]
    random.Random(1).shuffle(asked)
    return Corpus(rows + [row for row, _ in invented], asked)


def sample_rows() -> Iterator[dict[str, str]]:
    """The paragraphs of the sample garden's Markdown and text files."""
    for path in sorted([*(ROOT / "knowledge").glob("*.md"), *(ROOT / "knowledge").glob("*.txt")]):
        text = path.read_text(encoding="utf-8")
        title = re.sub(r"^#+\s*", "", text.strip().splitlines()[0])
        for place, paragraph in enumerate(part.strip() for part in re.split(r"\n\s*\n", text)):
            if len(paragraph) >= SHORTEST_PARAGRAPH:
                yield _row(path.name, place, title, paragraph)


def invented_rows() -> Iterator[tuple[dict[str, str], str]]:
    """Chunks about things that do not exist, each with the question it answers."""
    chance = random.Random(0)
    names = ["".join(parts) for parts in itertools.product(ONSETS, MIDDLES, ENDINGS)]
    chance.shuffle(names)
    for name in names:
        kind = chance.choice(KINDS)
        for place, (question, answer) in enumerate(ASPECTS):
            sentences = [answer, *chance.sample(REST, 2)]
            words = " ".join(sentence.format(name=name, kind=kind, **_details(chance)) for sentence in sentences)
            yield _row(f"{name}.md", place, f"The {name} {kind}", words), question.format(name=name, kind=kind)


def _details(chance: random.Random) -> dict[str, object]:
    return {
        "few": chance.randint(2, 19),
        "many": chance.randint(20, 900),
        "year": chance.randint(1871, 2019),
        "hour": f"{chance.randint(2, 6)} o'clock",
        "code": f"{chance.choice('ABCDEFGH')}{chance.randint(100, 999)}",
        "place": chance.choice(PLACES),
        "person": chance.choice(PEOPLE),
        "day": chance.choice(DAYS),
        "thing": chance.choice(THINGS),
    }


def _row(document: str, place: int, title: str, text: str) -> dict[str, str]:
    return {"chunk_id": f"{document}#{place}", "document_id": document, "title": title, "text": text}


def _json_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]

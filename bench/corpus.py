"""Make the chunks and questions that every service is given; the same from run to run.

12,000 chunks: the paragraphs of the sample documents, and invented machines and buildings with eight short chunks
each. A name occurs in no other document, so a question has one right chunk among thousands of alike ones.
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

KINDS = "pump kiln ferry orchard archive turbine crane greenhouse lighthouse press reservoir observatory".split()
ONSETS = "Vel Tor Mar Ash Bren Cal Dor El Fen Gar Hal Is Kes Lor Mer Nor Or Pel Quin Ros Sel Tam Ul Wes Yar".split()
MIDDLES = "a e i o u an en or il ast".split()
ENDINGS = "min dale wick ford holm stead ton by mere gate".split()
PLACES = "Lisbon Tampere Graz Aarhus Porto Gdansk Turin Cork Leiden Bergen Malmo Ghent Brno Split Basel Lyon".split()
PEOPLE = "Adeyemi Bianchi Castellan Duarte Eriksen Farouk Grzelak Hamasaki Ivanova Jansen Kowal Lindqvist".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday".split()
THINGS = "bronze bearings,oak doors,glass panels,copper pipes,steel cables,clay tiles,brass valves,slate roofs".split(
    ","
)

ASPECTS = """
How often is the {it} serviced?|The {it} is serviced every {few} weeks by the {place} workshop.
Who is in charge of the {it}?|The person in charge of the {it} is {person} of the {place} office.
When was the {it} built?|The {it} was built in {year} by a cooperative from {place}.
On which day is the {it} closed?|The {it} is closed to visitors every {day} until {hour} in the afternoon.
How heavy is the {it}?|The {it} weighs {many} tonnes together with its {thing}.
How much does the {it} cost in a year?|The {it} costs {many} thousand euros in a year, most of it spent on {thing}.
Which alarm code does the {it} use?|The {it} uses alarm code {code}, which rings in {place} as well.
Where do the spare parts of the {it} come from?|The spare parts of the {it} come from {place}, mainly {thing}.
"""
"""A question and the sentence that answers it, a line each."""

REST = """
The last inspection found nothing that needed more than a note in the log.
{person} keeps the drawings, and copies of them lie in {place}.
Work on the {thing} was put off twice because the weather turned.
In the winter of {year} it stood still for {few} days.
Visitors from {place} often ask about the {thing}.
A short report goes to {person} every {day}.
Whoever notices a fault writes down the hour, the place and what was heard.
The rules were changed in {year} after a meeting that lasted until {hour}.
Two people are needed for it, and one of them must have done it before.
An older plan, kept in {place}, shows the {thing} on the other side.
"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Rows of ``{chunk_id, document_id, title, text}``, one chunk each, and questions they answer."""

    rows: list[dict[str, str]]
    questions: list[str]

    def digest(self) -> str:
        """Name exactly these rows."""
        return hashlib.sha256(json.dumps(self.rows).encode()).hexdigest()[:12]

    def write(self, path: Path) -> None:
        """Write the rows as JSON Lines."""
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")


def make_corpus(chunks: int = CHUNKS, questions: int = QUESTIONS) -> Corpus:
    """Take the sample documents, then invented ones up to *chunks*; spread questions evenly over both."""
    rows = list(itertools.islice(sample_rows(), chunks))
    sources = {row["document_id"] for row in rows}
    samples = map(json.loads, (ROOT / "knowledge" / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    chosen = [row["question"] for row in samples if row["answerable"] and set(row["expected_sources"]) <= sources]
    invented = list(itertools.islice(invented_rows(), chunks - len(rows)))
    missing = max(0, questions - len(chosen))
    step = max(1, len(invented) // max(1, missing))
    chosen += [question for _, question in invented[step // 2 :: step][:missing]]
    random.Random(1).shuffle(chosen)
    return Corpus(rows + [row for row, _ in invented], chosen)


def sample_rows() -> Iterator[dict[str, str]]:
    """Cut the sample Markdown and text files into paragraphs."""
    for path in sorted([*(ROOT / "knowledge").glob("*.md"), *(ROOT / "knowledge").glob("*.txt")]):
        text = path.read_text(encoding="utf-8")
        title = re.sub(r"^#+\s*", "", text.strip().splitlines()[0])
        for number, paragraph in enumerate(part.strip() for part in re.split(r"\n\s*\n", text)):
            if len(paragraph) >= 120:  # shorter ones are headings and beginnings of lists
                yield _row(path.name, number, title, paragraph)


def invented_rows() -> Iterator[tuple[dict[str, str], str]]:
    """Make chunks about things that do not exist, each with the question it answers."""
    rng = random.Random(0)
    names = ["".join(parts) for parts in itertools.product(ONSETS, MIDDLES, ENDINGS)]
    rng.shuffle(names)
    for name in names:
        it = f"{name} {rng.choice(KINDS)}"
        for number, line in enumerate(ASPECTS.strip().splitlines()):
            question, answer = line.split("|")
            sentences = [answer, *rng.sample(REST.strip().splitlines(), 2)]
            text = " ".join(sentence.format(it=it, **_details(rng)) for sentence in sentences)
            yield _row(f"{name}.md", number, f"The {it}", text), question.format(it=it)


def _details(rng: random.Random) -> dict[str, object]:
    return {
        "few": rng.randint(2, 19),
        "many": rng.randint(20, 900),
        "year": rng.randint(1871, 2019),
        "hour": f"{rng.randint(2, 6)} o'clock",
        "code": f"{rng.choice('ABCDEFGH')}{rng.randint(100, 999)}",
        "place": rng.choice(PLACES),
        "person": rng.choice(PEOPLE),
        "day": rng.choice(DAYS),
        "thing": rng.choice(THINGS),
    }


def _row(document: str, number: int, title: str, text: str) -> dict[str, str]:
    return {"chunk_id": f"{document}#{number}", "document_id": document, "title": title, "text": text}

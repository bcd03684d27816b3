"""Ask a real chat model, and the passages alone, the same questions; print how they end.

    python -m tests.real --python .venv-real/bin/python --model FOLDER [--eval FOLDER] [--limit N]

The questions are those of the sample documents; with ``--eval`` those of that folder: ``questions.jsonl`` with rows
{question, answerable, gold: [{sentence}]} and the documents in ``corpora/``. An answer is right where it, or a quote,
has .6 of the words of a gold sentence.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from answering.text.terms import words_of
from prompts import load_prompt
from tests.real.model import CONTEXT_TOKENS, NAME, get_model, served
from tests.support.command import garden
from tests.support.paths import KNOWLEDGE
from tests.support.process import Service

COVERED = 0.6
"""Share of a gold sentence's words that a right answer has."""
SAMPLES = (".md", ".html", ".txt", ".rst", ".pdf")
RECITED_WORDS = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """How one question ended; ``seconds`` by the clock."""

    answerable: bool
    answered: bool
    right: bool
    by_model: bool
    recites: bool
    seconds: float
    outcome: str


def read_rows(folder: Path | None) -> tuple[list[dict[str, Any]], list[Path]]:
    """Return the questions, each with its gold ``sentences``, and what to ingest."""
    path = (folder or KNOWLEDGE) / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for row in rows:
        row["sentences"] = [gold["sentence"] for gold in row.get("gold", [])] or row.get("answers", [])
    samples = [path for path in sorted(KNOWLEDGE.iterdir()) if path.suffix in SAMPLES]
    return rows, [*sorted((folder / "corpora").iterdir())] if folder else samples


def ask(address: str, row: dict[str, Any], prompt_words: str) -> Asked:
    """Ask one question at the service at *address*."""
    begun = time.monotonic()
    body = {"query": row["question"], "includeEvidence": True}
    reply = httpx.post(f"{address}/query", json=body, timeout=120).json()
    seconds = time.monotonic() - begun
    metadata = reply.get("metadata", {})
    shown = " ".join([reply.get("answer", ""), *(one["quote"] for one in reply.get("evidence") or ())])
    golds = [words_of(sentence) for sentence in row["sentences"]]
    right = any(len(gold & words_of(shown)) >= COVERED * len(gold) for gold in golds if gold)
    answered = bool(metadata.get("answerSynthesized"))
    words = reply.get("answer", "").lower().split()
    runs = (" ".join(words[at : at + RECITED_WORDS]) for at in range(len(words) - RECITED_WORDS + 1))
    recites = any(run in prompt_words for run in runs)
    by_model = metadata.get("answeredBy") == "model"
    outcome = metadata.get("outcome") or reply.get("error", "")
    return Asked(row["answerable"], answered, answered and right, by_model, recites, seconds, outcome)


def summary(name: str, asked: list[Asked]) -> str:
    """Return one row of the table."""
    answerable = [one for one in asked if one.answerable]
    others = [one for one in asked if not one.answerable]
    right = sum(one.right for one in answerable) / max(1, len(answerable))
    wrongly = sum(one.answered for one in others) / max(1, len(others))
    failed = sum(one.outcome.isupper() for one in asked)
    median = statistics.median(one.seconds for one in asked)
    by_model = sum(one.by_model for one in asked)
    recites = sum(one.recites for one in asked)
    cells = [name, f"{right:.3f} of {len(answerable)}", f"{wrongly:.3f} of {len(others)}", f"{median:.2f} s"]
    return f"| {' | '.join([*cells, str(by_model), str(recites), str(failed)])} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, required=True, help="of the environment with llama-cpp-python")
    parser.add_argument("--model", type=Path, required=True, help="folder for the model")
    parser.add_argument("--eval", type=Path)
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    rows, folders = read_rows(arguments.eval)
    prompt_words = " ".join(load_prompt("answer").system.lower().split())
    model = get_model(arguments.model)
    print("| answers by | right | wrongly answered | median | by the model | recite the prompt | failed |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary, served(model, arguments.python) as address:
        data = Path(temporary) / "data"
        if arguments.eval:
            for folder in folders:
                garden("ingest", str(folder), data=data)
        else:
            garden("ingest", *map(str, folders), data=data)
        settings = {"OPENAI_BASE_URL": address, "OLLAMA_CONTEXT_TOKENS": str(CONTEXT_TOKENS), "LOG_FORMAT": "json"}
        for name, chat in (("the passages alone", "extractive"), (NAME, f"openai:{NAME}")):
            service = Service(data, Path(temporary), CHAT_MODEL=chat, **settings)
            try:
                asked = [ask(service.address, row, prompt_words) for row in rows[: arguments.limit]]
            finally:
                service.kill()
            print(summary(name, asked), flush=True)


if __name__ == "__main__":
    main()

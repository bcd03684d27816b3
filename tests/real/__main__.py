"""Ask real chat models, and the passages alone, the same questions; print how they end.

    python -m tests.real --python .venv-real/bin/python --folder FOLDER [--eval FOLDER] [--limit N] [--models NAME …]

The questions are those of the sample documents; with ``--eval`` those of that folder: ``questions.jsonl`` with rows
{question, answerable, gold: [{sentence}]} and the documents in ``corpora/``. An answer is right where it, or a quote,
has .6 of the words of a gold sentence. Answers are streamed, as the page asks for them; ``--out FILE`` keeps them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from answering.text.terms import words_of
from prompts import load_prompt
from tests.real.model import CONTEXT_TOKENS, MODELS, get_model, served
from tests.support.command import garden
from tests.support.paths import KNOWLEDGE
from tests.support.process import Service

COVERED = 0.6
"""Share of a gold sentence's words that a right answer has."""
SAMPLES = (".md", ".html", ".txt", ".rst", ".pdf")
RECITED_WORDS = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """How one question ended; the times are in seconds from asking."""

    answerable: bool
    answered: bool
    right: bool
    by_model: bool
    recites: bool
    seconds: float
    first_token: float | None
    outcome: str
    answer: str


def read_rows(folder: Path | None) -> tuple[list[dict[str, Any]], list[Path]]:
    """Return the questions, each with its gold ``sentences``, and what to ingest."""
    path = (folder or KNOWLEDGE) / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for row in rows:
        row["sentences"] = [gold["sentence"] for gold in row.get("gold", [])] or row.get("answers", [])
    samples = [path for path in sorted(KNOWLEDGE.iterdir()) if path.suffix in SAMPLES]
    return rows, [*sorted((folder / "corpora").iterdir())] if folder else samples


def ask(address: str, row: dict[str, Any], prompt_words: str) -> Asked:
    """Ask one question at the service at *address*, by the stream."""
    begun = time.monotonic()
    body = {"query": row["question"], "includeEvidence": True}
    first_token: float | None = None
    reply: dict[str, Any] = {}
    with httpx.stream("POST", f"{address}/query/stream", json=body, timeout=120) as stream:
        if stream.is_success:
            for line in stream.iter_lines():
                if line == "event: token" and first_token is None:
                    first_token = time.monotonic() - begun
                if line.startswith("data: "):
                    reply = json.loads(line.removeprefix("data: "))  # of the last event: the answer or the error
        else:
            reply = json.loads(stream.read())
    seconds = time.monotonic() - begun
    metadata = reply.get("metadata", {})
    answer = reply.get("answer", "")
    shown = " ".join([answer, *(evidence["quote"] for evidence in reply.get("evidence") or ())])
    golds = [words_of(sentence) for sentence in row["sentences"]]
    right = any(len(gold & words_of(shown)) >= COVERED * len(gold) for gold in golds if gold)
    answered = bool(metadata.get("answerSynthesized"))
    words = answer.lower().split()
    runs = (" ".join(words[at : at + RECITED_WORDS]) for at in range(len(words) - RECITED_WORDS + 1))
    return Asked(
        answerable=row["answerable"],
        answered=answered,
        right=answered and right,
        by_model=metadata.get("answeredBy") == "model",
        recites=any(run in prompt_words for run in runs),
        seconds=seconds,
        first_token=first_token,
        outcome=metadata.get("outcome") or reply.get("error", ""),
        answer=answer,
    )


def summary(name: str, asked: list[Asked]) -> str:
    """Return one row of the table."""
    answerable = [result for result in asked if result.answerable]
    others = [result for result in asked if not result.answerable]
    right = sum(result.right for result in answerable) / max(1, len(answerable))
    wrongly = sum(result.answered for result in others) / max(1, len(others))
    failed = sum(result.outcome.isupper() for result in asked)
    median = statistics.median(result.seconds for result in asked)
    first_tokens = [result.first_token for result in asked if result.first_token is not None]
    first = f"{statistics.median(first_tokens):.2f} s" if first_tokens else "-"
    by_model = sum(result.by_model for result in asked)
    recites = sum(result.recites for result in asked)
    cells = [name, f"{right:.3f} of {len(answerable)}", f"{wrongly:.3f} of {len(others)}", f"{median:.2f} s", first]
    return f"| {' | '.join([*cells, str(by_model), str(recites), str(failed)])} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, required=True, help="of the environment with llama-cpp-python")
    parser.add_argument("--folder", type=Path, required=True, help="for the models")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=[*MODELS])
    parser.add_argument("--eval", type=Path, help="folder with questions.jsonl and corpora/")
    parser.add_argument("--limit", type=int, help="ask the first N questions only")
    parser.add_argument("--out", type=Path, help="file for the answers, JSON Lines")
    arguments = parser.parse_args()
    rows, folders = read_rows(arguments.eval)
    prompt_words = " ".join(load_prompt("answer").system.lower().split())
    print(
        "| answers by | right | wrongly answered | median | first token | by the model | recite the prompt | failed |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        data = Path(temporary) / "data"
        if arguments.eval:
            for folder in folders:
                garden("ingest", str(folder), data=data)
        else:
            garden("ingest", *map(str, folders), data=data)

        def ask_all(name: str, **settings: str) -> None:
            service = Service(data, Path(temporary), **settings)
            try:
                asked = [ask(service.address, row, prompt_words) for row in rows[: arguments.limit]]
            finally:
                service.kill()
            print(summary(name, asked), flush=True)
            if arguments.out:
                with arguments.out.open("a", encoding="utf-8") as out:
                    for row, result in zip(rows, asked, strict=False):
                        print(json.dumps({"by": name, "question": row["question"], **asdict(result)}), file=out)

        ask_all("the passages alone", CHAT_MODEL="extractive")
        for name in arguments.models:
            path = get_model(MODELS[name], arguments.folder)
            with served(name, path, arguments.python) as address:
                settings = {"OPENAI_BASE_URL": address, "OLLAMA_CONTEXT_TOKENS": str(CONTEXT_TOKENS)}
                ask_all(name, CHAT_MODEL=f"openai:{name}", **settings)


if __name__ == "__main__":
    main()

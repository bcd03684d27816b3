"""Read question files: JSON Lines, or a JSON list as in ``sample_queries.json``."""

from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict

from graph.errors import InvalidInput


class EvalQuestion(BaseModel):
    """One question and its expected answer.

    ``gold_chunks`` and ``expected_sources`` (documents or file names) say where the answer is, as far as the file
    tells; ``answers`` holds, per part of the question, the strings any of which answers it.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    answerable: bool
    gold_chunks: tuple[str, ...] = ()
    expected_sources: tuple[str, ...] = ()
    answers: tuple[tuple[str, ...], ...] = ()

    def is_gold(self, chunk_id: str, document_id: str, source: str | None) -> bool:
        """Tell whether a chunk is among the question's gold chunks, or without these its documents."""
        if self.gold_chunks:
            return chunk_id in self.gold_chunks
        return document_id in self.expected_sources or source in self.expected_sources


def read_questions(path: Path) -> list[EvalQuestion]:
    """Read a question file. Raises ``InvalidInput`` that names the row which cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read.", "questions") from error
    if text.lstrip().startswith("["):
        rows = _loads(text, f"{path}")
    else:
        rows = [_loads(line, f"{path}, line {n}") for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    return [_question(row, number, path) for number, row in enumerate(rows, 1)]


def _loads(text: str, where: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise InvalidInput(f"{where} is not valid JSON.", "questions") from None


def _question(row: Any, number: int, path: Path) -> EvalQuestion:
    if not isinstance(row, dict) or not isinstance(row.get("question"), str):
        raise InvalidInput(f"{path}, question {number}: an object with a question is needed.", "questions")
    answerable = row.get("answerable")
    if not isinstance(answerable, bool):
        answerable = bool(row.get("expected_sources")) or row.get("expected_answer") is not None
    sources = row.get("expected_sources") or row.get("gold_documents") or [row.get("gold_document")]
    chunks = row.get("gold_chunks") or [row.get("gold_chunk")]
    answers = row.get("answers") or []
    if not any(isinstance(one, list) for one in answers):  # strings are alternatives; lists are one part each
        answers = [answers] if answers else []
    return EvalQuestion(
        id=str(row.get("id", number)),
        question=row["question"],
        answerable=answerable,
        gold_chunks=tuple(one for one in chunks if one and answerable),
        expected_sources=tuple(str(one) for one in sources if one and answerable),
        answers=tuple(tuple(map(str, one)) if isinstance(one, list) else (str(one),) for one in answers),
    )

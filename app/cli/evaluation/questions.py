"""Question files: JSON Lines as in the sample garden, or a JSON list in door L's shape (``sample_queries.json``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from graph.errors import InvalidInput


class EvalQuestion(BaseModel):
    """One question and what is known of its answer.

    ``gold_chunks`` and ``expected_sources`` (documents or file names) say where the answer is, as far as the file
    tells; ``answers`` holds, per part of the question, the strings any of which answers it; ``gold_sentences`` are the
    sentences that answer, verbatim.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    answerable: bool
    gold_chunks: tuple[str, ...] = ()
    expected_sources: tuple[str, ...] = ()
    answers: tuple[tuple[str, ...], ...] = ()
    gold_sentences: tuple[str, ...] = ()
    expected_citations: int = Field(0, ge=0)


def read_questions(path: Path) -> list[EvalQuestion]:
    """Read a question file. Raises ``InvalidInput`` naming the row that cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read.", "questions") from error
    if path.suffix == ".json":
        rows = _loads(text, f"{path}")
        if not isinstance(rows, list):
            raise InvalidInput(f"{path} must hold a list of questions.", "questions")
    else:
        lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        rows = [_loads(line, f"{path}, line {n}") for n, line in lines]
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
    chunks = row.get("gold_chunks") or [row["gold_chunk"]] if answerable and _has_chunks(row) else []
    return EvalQuestion(
        id=str(row.get("id", number)),
        question=row["question"],
        answerable=answerable,
        gold_chunks=tuple(chunks),
        expected_sources=tuple(row.get("expected_sources") or _documents(row) if answerable else ()),
        answers=_answers(row.get("answers") or []),
        gold_sentences=tuple(row.get("gold_sentences") or ()),
        expected_citations=row.get("expected_citations_count") or 0,
    )


def _has_chunks(row: dict[str, Any]) -> bool:
    return bool(row.get("gold_chunks") or row.get("gold_chunk"))


def _documents(row: dict[str, Any]) -> list[str]:
    documents = row.get("gold_documents") or ([row["gold_document"]] if row.get("gold_document") else [])
    return [str(document) for document in documents]


def _answers(given: list[Any]) -> tuple[tuple[str, ...], ...]:
    """Strings are alternatives of one answer; lists are the answers of one part each."""
    if any(isinstance(one, list) for one in given):
        return tuple(tuple(map(str, one)) if isinstance(one, list) else (str(one),) for one in given)
    return (tuple(map(str, given)),) if given else ()

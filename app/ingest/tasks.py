"""Read tasks from JSON Lines and make documents of one chunk of them (Tasks API)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from answering.text.sentences import sentence_spans
from app.ingest.documents import MAX_CHUNK_CHARS, MAX_ID_CHARS, MAX_TITLE_CHARS, SplitDocument, TextChunk
from app.ingest.loaders.jsonl import parse_row
from graph.errors import InvalidInput

Status = Literal["pending", "in_progress", "completed"]
Priority = Literal["low", "medium", "high", "critical"]
MAX_DESCRIPTION_CHARS = MAX_CHUNK_CHARS - MAX_TITLE_CHARS - 1


class Task(BaseModel):
    """A task of the Tasks API; only ``id`` and ``title`` are required, unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)

    id: str = Field(min_length=1, max_length=MAX_ID_CHARS)
    title: str = Field(min_length=1, max_length=MAX_TITLE_CHARS)
    description: str = Field("", max_length=MAX_DESCRIPTION_CHARS)
    status: Status = "pending"
    priority: Priority = "medium"
    has_attachments: bool = False

    @property
    def document(self) -> str:
        """Return the text of the task: its title, and its description on the next line."""
        return f"{self.title}\n{self.description}" if self.description else self.title


def read_tasks(path: Path) -> Iterator[Task]:
    """Yield the tasks of a JSON Lines file, in file order.

    Raises ``InvalidInput`` for an unreadable file, a duplicate id, or a wrong field, naming the line (1-based).
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeError) as error:
        raise InvalidInput(f"The tasks in {path.name} cannot be read.", field="tasks") from error
    first_at: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        task = parse_row(Task, line)
        if isinstance(task, str) or task.id in first_at:
            what = task if isinstance(task, str) else f"the id {task.id} is that of line {first_at[task.id]}"
            raise InvalidInput(f"{path.name}, line {number}: {what}.", field="tasks", line=number)
        first_at[task.id] = number
        yield task


def task_document(task: Task) -> SplitDocument:
    """Return a task as a document of one chunk under the task's id, filter fields as metadata."""
    text = task.document
    return SplitDocument(
        document_id=task.id,
        source=task.id,
        metadata=task.model_dump(include={"status", "priority", "has_attachments"}),
        chunks=(TextChunk(chunk_id=task.id, chunk_index=0, text=text, spans=sentence_spans(text)),),
    )

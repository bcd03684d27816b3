"""Tasks: what a row may leave out, what is wrong with one, and what is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.ingest.collection_writer import CollectionWriter
from app.ingest.pipeline import ingest_items
from app.ingest.tasks import Task, read_tasks, task_document
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.stores.embedded import EmbeddedStore
from graph.errors import InvalidInput
from tests.app.ingest.conftest import MODEL


def tasks(path: Path, *lines: str) -> list[Task]:
    (path / "tasks.jsonl").write_text("\n".join(lines))
    return list(read_tasks(path / "tasks.jsonl"))


def test_what_may_be_left_out(tmp_path: Path) -> None:
    """Only id and title are needed; other fields are passed over, blank lines too."""
    (task,) = tasks(tmp_path, '{"id": "a", "title": " Fix login ", "owner": "me"}', "")
    assert task == Task(
        id="a", title="Fix login", description="", status="pending", priority="medium", has_attachments=False
    )
    assert task.document == "Fix login"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2: not JSON"),
        ("7", "line 2: not a JSON object"),
        ('{"id": "b"}', "line 2: title: Field required"),
        ('{"id": "b", "title": " "}', "line 2: title: "),
        ('{"id": "b", "title": "T", "status": "done"}', "line 2: status: "),
        ('{"id": "a", "title": "T"}', "line 2: the id a is that of line 1"),
    ],
)
def test_what_is_wrong_is_reported(tmp_path: Path, line: str, says: str) -> None:
    """The error names file, line and field."""
    with pytest.raises(InvalidInput) as failure:
        tasks(tmp_path, '{"id": "a", "title": "T"}', line)
    assert f"tasks.jsonl, {says}" in failure.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is an error, by name."""
    with pytest.raises(InvalidInput, match=r"nowhere\.jsonl cannot be read"):
        list(read_tasks(tmp_path / "nowhere.jsonl"))


async def test_what_is_stored_of_a_task(tmp_path: Path, store: EmbeddedStore, embeddings: MiniLMEmbeddings) -> None:
    """A task is one chunk of its own id, found by meaning, with the fields to filter by; a second run is idle."""
    listed = tasks(
        tmp_path,
        '{"id": "a", "title": "Fix login", "description": "Users cannot sign in.", "priority": "critical"}',
        '{"id": "b", "title": "Water the plants", "status": "completed", "has_attachments": true}',
    )
    writer, found = CollectionWriter(store, embeddings, MODEL), [(tmp_path, task_document(task)) for task in listed]
    assert (await ingest_items(writer, found, 2)).added == 2
    assert (await ingest_items(writer, found, 2)).unchanged == 2
    (hit,) = await store.asimilarity_search("authentication problem", k=1)
    assert (hit.id, hit.page_content) == ("a", "Fix login\nUsers cannot sign in.")
    assert {name: hit.metadata[name] for name in ("status", "priority", "has_attachments")} == {
        "status": "pending",
        "priority": "critical",
        "has_attachments": False,
    }

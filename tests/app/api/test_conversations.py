"""Conversations: follow-up questions over HTTP, and what of them is kept in the data folder."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.bootstrap.compose import build_container
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.query_service.conversations import FILE, Conversations
from app.settings import load_settings
from graph.errors import StoreUnavailable
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC, BrokenStore
from tests.app.api.test_query_stream import events
from tests.peers.ollama_peer import OllamaPeer
from tests.peers.wire import Fault
from tests.support.forked import Forked
from tests.support.samples_service import serve

DAYS = "How many vacation days are there?"
CARRIED = "How many of them can be carried over?"


def ask(http: httpx.Client, conversation: str, query: str, **fields: Any) -> httpx.Response:
    return http.post(f"/api/v1/conversations/{conversation}/query", json={"query": query, **fields})


def understood(response: httpx.Response) -> str | None:
    """The question as it was understood, None where it was left alone."""
    assert response.status_code == 200, response.text
    return next((data["query"] for name, data in events(response) if name == "rewritten"), None)


@pytest.fixture
def folder(sample_data: Path, tmp_path: Path) -> Path:
    """A data folder of its own with the sample documents."""
    return shutil.copytree(sample_data, tmp_path / "data", ignore=shutil.ignore_patterns(f"{FILE}*"))


def stored(folder: Path, statement: str) -> list[Any]:
    """What *statement* returns from the file of conversations."""
    with closing(sqlite3.connect(folder / FILE)) as connection, connection:
        return connection.execute(statement).fetchall()


def test_a_follow_up_is_answered_as_the_complete_question(http: httpx.Client) -> None:
    """The question as understood comes first, then the events of /query/stream for that very question."""
    talk = uuid4().hex
    first = ask(http, talk, "What must be worn when handling chemicals?")
    assert understood(first) is None
    follow_up = events(ask(http, talk, "And where are they stored?", includeEvidence=True))
    complete = follow_up[0][1]["query"]
    assert [name for name, _ in follow_up[:2]] == ["rewritten", "retrieval"]
    assert "chemicals" in complete
    alone = events(http.post("/query/stream", json={"query": complete, "includeEvidence": True}))
    assert follow_up[1] == alone[0]
    assert follow_up[-1][1]["answer"] == alone[-1][1]["answer"]
    assert follow_up[-1][1].keys() == alone[-1][1].keys()
    assert follow_up[-1][1]["metadata"].keys() == alone[-1][1]["metadata"].keys()


def test_an_answer_for_employees_is_none_for_contractors(embedding: EmbeddingModel, tmp_path: Path) -> None:
    """A follow-up that names somebody else is answered from what is said of them, and declined where nothing is."""
    (path := tmp_path / "handbook.md").write_text(
        "# Handbook\n\n## Home office\n\nEmployees can work from home two days a week. Wednesdays are office days.\n\n"
        "## Sick pay\n\nContractors get no sick pay.\n\n## Trainees\n\nTrainees can work from home one day a week.\n"
    )
    settings = load_settings(data_dir=tmp_path / "data")

    async def fill() -> None:
        filled = build_container(settings, embedding=embedding)
        await ingest_into(filled.writer, [path], manifest=IngestManifest(tmp_path / "manifest", [path]))
        await filled.aclose()

    asyncio.run(fill())
    talk, first = uuid4().hex, "How many days a week can employees work from home?"
    questions = (first, "and for trainees?", "and for contractors?", "and on Wednesdays?")
    container = build_container(settings, embedding=embedding)
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as http:
        answers = [events(ask(http, talk, query))[-1][1] for query in questions]
    assert [one["answer"].startswith(who) for one, who in zip(answers, ("Employees", "Trainees"), strict=False)] == [
        True
    ] * 2
    assert [answer["metadata"]["answerSynthesized"] for answer in answers] == [True, True, False, False]


def test_a_complete_question_and_another_conversation_owe_nothing_to_it(http: httpx.Client) -> None:
    """A complete question is left alone; a follow-up under another id, or to /query, is asked as it stands."""
    talk = uuid4().hex
    ask(http, talk, CHEMICALS)
    whole = events(ask(http, talk, OFF_TOPIC))
    assert whole[0][0] == "retrieval"
    assert whole[-1][1]["metadata"]["answerSynthesized"] is False
    assert understood(ask(http, uuid4().hex, "And for visitors?")) is None
    names = [name for name, _ in events(http.post("/query/stream", json={"query": "And for visitors?"}))]
    assert "rewritten" not in names


def test_errors_are_those_of_the_stream(http: httpx.Client) -> None:
    """Invalid input is 400 and does not end the conversation; an id that could be guessed, or is too long, is 400."""
    talk = uuid4().hex
    ask(http, talk, CHEMICALS)
    refused = ask(http, talk, " ")
    assert (refused.status_code, refused.json()["details"]) == (400, {"field": "query"})
    assert understood(ask(http, talk, "And for visitors?")) is not None
    for wrong in ("short", "x" * 65, "a b" * 8, "%2e%2e" * 8):
        assert ask(http, wrong, CHEMICALS).json()["error"] == "VALIDATION_ERROR", wrong
        assert http.delete(f"/api/v1/conversations/{wrong}").status_code == 400


def test_a_store_that_is_down_has_its_status(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """A retrieval failure is 503 before the stream, for a follow-up too."""
    store = BrokenStore(StoreUnavailable("It is down."))
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding, store=store)  # type: ignore[arg-type]
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as http:
        for query in (CHEMICALS, "And for visitors?"):
            response = ask(http, "conversation-number-1", query)
            assert (response.status_code, response.json()["error"]) == (503, "RETRIEVAL_FAILED")


def test_a_key_is_wanted(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """With API_KEYS, conversations want a key."""
    container = build_container(load_settings(data_dir=tmp_path, api_keys="sesame"), embedding=embedding)
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as http:
        assert ask(http, uuid4().hex, CHEMICALS).json()["error"] == "UNAUTHORIZED"
        assert http.delete(f"/api/v1/conversations/{uuid4().hex}").status_code == 401


def test_a_conversation_outlives_the_server_until_it_is_deleted(folder: Path, embedding: EmbeddingModel) -> None:
    """Another server over the same folder goes on with it; once deleted, nothing of it is stored."""
    settings, talk = load_settings(data_dir=folder), uuid4().hex
    with (
        serve(build_container(settings, embedding=embedding)) as address,
        httpx.Client(base_url=address, timeout=30) as http,
    ):
        for query in (DAYS, CHEMICALS, CHEMICALS):
            ask(http, talk, query)
        ((kept, questions),) = stored(folder, "SELECT id, questions FROM conversations")
        assert kept == talk
        assert json.loads(questions)[-1] == CHEMICALS
        assert len(questions) < 1000
        assert {file.stat().st_mode & 0o077 for file in folder.glob(f"{FILE}*")} == {0}
    with (
        serve(build_container(settings, embedding=embedding)) as address,
        httpx.Client(base_url=address, timeout=30) as http,
    ):
        assert understood(ask(http, talk, "And for visitors?")) == f"{CHEMICALS[:-1]} for visitors?".replace(
            "for handling chemicals ", ""
        )
        assert http.delete(f"/api/v1/conversations/{talk}").json() == {"id": talk}
        assert http.delete(f"/api/v1/conversations/{talk}").json() == {"id": talk}
        assert stored(folder, "SELECT * FROM conversations") == []
        assert understood(ask(http, talk, "And for visitors?")) is None


async def test_old_conversations_make_room(tmp_path: Path) -> None:
    """Past the most that are kept, those that were continued longest ago are deleted."""
    conversations = Conversations(tmp_path, most=5)
    for number in range(12):
        await conversations.keep(str(number % 9), [CHEMICALS])
    kept = stored(tmp_path, "SELECT id FROM conversations ORDER BY continued DESC")
    assert [one for (one,) in kept] == ["2", "1", "0", "8", "7"]


def test_without_a_writable_folder_questions_are_still_answered(folder: Path, embedding: EmbeddingModel) -> None:
    """Where the file cannot be opened, written or read, each question is asked by itself; deleting says so."""
    (folder / FILE).mkdir()
    container = build_container(load_settings(data_dir=folder), embedding=embedding)
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as http:
        talk = uuid4().hex
        for query in (CHEMICALS, "And for visitors?"):
            assert understood(ask(http, talk, query)) is None
        assert events(ask(http, talk, CHEMICALS))[-1][1]["metadata"]["answerSynthesized"]
        assert http.delete(f"/api/v1/conversations/{talk}").json()["error"] == "RETRIEVAL_FAILED"
        (folder / FILE).rmdir()
        ask(http, talk, CHEMICALS)
        full = "CREATE TRIGGER full BEFORE INSERT ON conversations BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        stored(folder, full)
        assert events(ask(http, talk, CHEMICALS))[-1][1]["metadata"]["answerSynthesized"]
        stored(folder, "DROP TABLE conversations")
        stored(folder, "CREATE TABLE conversations (other TEXT)")
        assert events(ask(http, talk, CHEMICALS))[-1][1]["metadata"]["answerSynthesized"]


@pytest.fixture
def chat(folder: Path, embedding: EmbeddingModel) -> Iterator[tuple[OllamaPeer, httpx.Client]]:
    """A chat model, and the sample documents served with it."""
    with OllamaPeer() as peer:
        settings = load_settings(data_dir=folder, chat_model="ollama:llama3.2:1b", ollama_host=peer.url)
        with (
            serve(build_container(settings, embedding=embedding)) as address,
            httpx.Client(base_url=address, timeout=60) as http,
        ):
            yield peer, http


def test_the_chat_model_rewrites_the_follow_up(chat: tuple[OllamaPeer, httpx.Client]) -> None:
    """The model gets the follow-up and the questions before it; what it writes is searched and answered."""
    peer, http = chat
    talk = uuid4().hex
    ask(http, talk, "What must be worn on the construction site?")
    before = len(peer.requests)
    peer.answers = [f'"{CHEMICALS}"\n']
    sent = events(ask(http, talk, "And with chemicals?"))
    assert sent[0] == ("rewritten", {"query": CHEMICALS})
    assert "goggles" in sent[-1][1]["answer"]
    rewriting = peer.requests[before].body
    assert "What must be worn on the construction site?" in str(rewriting["messages"])
    assert "And with chemicals?" in str(rewriting["messages"])


@pytest.mark.parametrize("reply", ["I don't know.", "", "Bananas are yellow."])
def test_a_reply_of_no_use_is_not_asked(chat: tuple[OllamaPeer, httpx.Client], reply: str) -> None:
    """Where the model writes something else, the words of the question before complete the follow-up."""
    peer, http = chat
    talk = uuid4().hex
    ask(http, talk, DAYS)
    peer.answers = [reply]
    assert understood(ask(http, talk, "And for interns?")) == "How many vacation days are there for interns?"


def test_an_outage_while_rewriting_costs_no_follow_up(chat: tuple[OllamaPeer, httpx.Client]) -> None:
    """Where the model drops its reply, the follow-up is completed; that it drops the answer too is a failure."""
    peer, http = chat
    talk = uuid4().hex
    ask(http, talk, DAYS)
    peer.fault = Fault("drop", path="/api/chat")
    sent = events(ask(http, talk, "And for interns?"))
    assert sent[0] == ("rewritten", {"query": "How many vacation days are there for interns?"})
    assert (sent[-1][0], sent[-1][1].get("error")) in (("error", "SYNTHESIS_FAILED"), ("answer", None))


async def test_a_forgotten_conversation_is_not_stored_by_its_last_run(tmp_path: Path) -> None:
    """What a run that was cancelled stores after the deletion is dropped; the same id begins anew."""
    conversations = Conversations(tmp_path)
    await conversations.keep("talk", [DAYS])
    await conversations.forget("talk")
    await conversations.keep("talk", [DAYS, CHEMICALS])
    assert stored(tmp_path, "SELECT * FROM conversations") == []
    assert await conversations.history("talk") == []
    await conversations.keep("talk", [CHEMICALS])
    assert await conversations.history("talk") == [CHEMICALS]


KEEPER = """
    import asyncio, sys
    from pathlib import Path
    from app.query_service.conversations import Conversations

    async def main():
        conversations = Conversations(Path(sys.argv[1]))
        print("ready", flush=True)
        sys.stdin.readline()
        await conversations.keep(sys.argv[2], ["A question?"])
        assert await conversations.history(sys.argv[2]) == ["A question?"]

    asyncio.run(main())
"""


def test_processes_create_the_file_at_once(tmp_path: Path) -> None:
    """Of three processes that open it in the same moment, each keeps its conversation."""
    with ExitStack() as running:
        started = [running.enter_context(Forked(KEEPER, tmp_path, talk)) for talk in "abc"]
        assert [process.line() for process in started] == ["ready"] * 3
        for process in started:
            process.tell()
        assert [process.wait() for process in started] == [0] * 3
    kept = stored(tmp_path, "SELECT id FROM conversations ORDER BY id")
    assert [one for (one,) in kept] == ["a", "b", "c"]

"""What a document, or a caller, can make the service reach: nothing, neither on the network nor on the disk."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from app.api.server import create_app
from app.bootstrap.compose import build_container
from app.ingest.documents import SkippedFile
from app.ingest.find import find_files
from app.ingest.pipeline import ingest_into
from app.settings import load_settings
from tests.peers import OllamaPeer
from tests.support.two_facts import serve_here


class Trap:
    """A listener that counts who comes."""

    def __init__(self) -> None:
        self.visits = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                visitor, _ = self._listening.accept()
            except OSError:
                return
            self.visits += 1
            visitor.close()

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def trap() -> Iterator[Trap]:
    made = Trap()
    yield made
    made.close()


def documents(folder: Path, trap: str, secret: Path) -> None:
    """One of each format, full of addresses and of file names."""
    (folder / "a.md").write_text(
        f"---\ntitle: Zebra\nurl: {trap}/front\n---\n# Zebra\n\nZebras graze at noon: see {trap}/plain "
        f"[here]({trap}/link) ![picture]({trap}/image) <img src='{trap}/img'> [ref]\n\n[ref]: {trap}/ref\n"
    )
    (folder / "b.html").write_text(
        f"<html><head><base href='{trap}/'><link rel=stylesheet href='{trap}/css'><meta http-equiv=refresh content='0;"
        f"url={trap}/refresh'><script src='{trap}/js'></script></head><body><p>Zebras graze at dusk.</p>"
        f"<img src='{trap}/img'><iframe src='{trap}/frame'></iframe>"
        f"<object data='{trap}/object'></object></body></html>"
    )
    (folder / "c.rst").write_text(
        f"Zebra\n=====\n\nZebras graze at dawn, `so`_.\n\n.. _so: {trap}/target\n.. image:: {trap}/image\n"
        f".. include:: {secret}\n.. raw:: html\n   :url: {trap}/raw\n.. csv-table::\n   :url: {trap}/csv\n"
        f".. literalinclude:: {secret}\n"
    )
    (folder / "d.jsonl").write_text(
        f'{{"document_id": "d", "title": "Zebra", "text": "Zebras graze at night: {trap}/text", "url": "{trap}/row"}}\n'
        f'{{"document_id": "file://{secret}", "title": "Z", "text": "Zebras.", "url": "{trap}/other"}}\n'
    )
    (folder / "e.txt").write_text(f"Zebras graze always. {trap}/text file://{secret} {secret} \\\\{trap[7:]}\\share\n")


def test_addresses_in_documents_are_never_fetched(tmp_path: Path, embedding: Any, two_facts: Path, trap: Trap) -> None:
    """Links, pictures, includes and redirects of every format: neither ingest nor a question, answered by the sentences
    themselves or by a chat model, opens a connection or another file."""
    (secret := tmp_path / "secret.txt").write_text("The passphrase of the vault is chrysanthemum.")
    (folder := tmp_path / "docs").mkdir()
    documents(folder, trap.url, secret)

    async def ingest() -> str:
        container = build_container(load_settings(data_dir=tmp_path / "data"), embedding=embedding)
        await ingest_into(container.writer, [folder])
        stored = [await container.store.asimilarity_search(question, k=20) for question in ("zebras", "the passphrase")]
        await container.aclose()
        return str(stored)

    stored = asyncio.run(ingest())
    assert "Zebras graze at noon" in stored
    assert "chrysanthemum" not in stored
    with OllamaPeer() as peer:
        peer.answers = [f"Zebras graze at noon [1]. ![x]({trap.url}/answer) <img src='{trap.url}/answer'>"] * 2
        for more in ({}, {"ollama_host": peer.url, "ollama_model": "llama3.2:1b"}):
            settings = load_settings(data_dir=tmp_path / "data", relevance_threshold=0, **more)
            with serve_here(create_app(build_container(settings, embedding=embedding))) as address:
                for question in ("When do zebras graze?", f"What does {trap.url}/question say?"):
                    assert httpx.post(f"{address}/query", json={"query": question}, timeout=30).status_code == 200
    assert trap.visits == 0


def test_a_caller_makes_the_server_open_nothing(here: tuple[str, Any], tmp_path: Path, trap: Trap) -> None:
    """Paths and addresses in an uploaded document are names and nothing more: they are stored as they are, what they
    name is not read; a file cannot be named by a path."""
    (secret := tmp_path / "secret.txt").write_text("The passphrase of the vault is chrysanthemum.")
    row = {"document_id": str(secret), "title": "Okapi", "text": "Okapis sleep standing.", "url": f"{trap.url}/okapi"}
    upload: dict[str, Any] = {"content": json.dumps(row), "headers": {"Content-Type": "application/octet-stream"}}
    with httpx.Client(base_url=here[0], timeout=30) as http:
        assert http.post("/api/v1/documents", params={"name": "a.jsonl"}, **upload).json()["chunks"] == 1
        found = http.get(f"/api/v1/documents/{quote(str(secret), safe='')}").text
        for name in ("../../etc/a.jsonl", "/etc/passwd", "file:///etc/passwd", f"{trap.url}/a.jsonl", "."):
            assert http.post("/api/v1/documents", params={"name": name}, **upload).status_code == 400
    assert "Okapis" in found
    assert "chrysanthemum" not in found
    assert secret.exists()
    assert trap.visits == 0


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "/etc/passwd", "/proc/self/environ", "/", "loop"])
def test_links_out_of_the_folder_and_devices_are_left_out(tmp_path: Path, target: str) -> None:
    """A link to a device, to a system file, to a folder or to itself is named and not opened, whether it lies in the
    folder that is ingested or is named itself."""
    (folder := tmp_path / "docs").mkdir()
    link = folder / "a.txt"
    link.symlink_to(link if target == "loop" else target)
    assert [type(found) for found in find_files(folder)] in ([SkippedFile], [])
    if target in ("/dev/zero", "/dev/stdin"):
        (found,) = find_files(link)
        assert isinstance(found, SkippedFile)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe without a writer, named itself, is left out at once."""
    os.mkfifo(tmp_path / "a.md")
    (found,) = find_files(tmp_path / "a.md")
    assert isinstance(found, SkippedFile)

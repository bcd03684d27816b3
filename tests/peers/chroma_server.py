"""A real Chroma server in a process of its own, that can be killed and started again on the same port and data."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import httpx

from tests.peers.ports import held_port

_COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"


class ChromaServer:
    """``chroma run`` of this environment. ``with`` starts it and closes it; its port stays its own until then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._holding = ExitStack()
        self.port = self._holding.enter_context(held_port())
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(self.folder)]
        self._process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with httpx.Client(timeout=1, verify=False) as client:  # not httpx.get: it reads all certificates each time
            for _ in range(600):
                try:
                    client.get(f"{self.url}/api/v2/heartbeat").raise_for_status()
                except httpx.HTTPError:
                    assert self._process.poll() is None, "chroma run ended by itself"
                    time.sleep(0.1)
                else:
                    return
        raise AssertionError("chroma run did not answer")

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Kill it for good, and give its port back."""
        self.kill()
        self._holding.close()

    def fill(self, name: str, rows: dict[str, Any], space: str = "l2", **metadata: Any) -> None:
        """A collection as another pipeline makes it: *rows* is the body of Chroma's ``add``."""
        self._post(f"/{self.create(name, space, **metadata)}/add", rows)

    def create(self, name: str, space: str = "l2", **metadata: Any) -> str:
        """An empty collection; returns its id."""
        body = {"name": name, "metadata": metadata or None, "configuration": {"hnsw": {"space": space}}}
        return str(self._post("", body)["id"])

    def describe(self, name: str) -> Any:
        """A collection as the server describes it."""
        return httpx.get(f"{self.url}{_COLLECTIONS}/{name}", timeout=20).json()

    def rows(self, own_id: str) -> Any:
        """What a collection holds, by its id."""
        return self._post(f"/{own_id}/get", {"include": ["metadatas"]})

    def drop(self, name: str) -> None:
        """Delete a collection."""
        httpx.delete(f"{self.url}{_COLLECTIONS}/{name}", timeout=20)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        response = httpx.post(f"{self.url}{_COLLECTIONS}{path}", json=body, timeout=20)
        assert response.is_success, response.text
        return response.json()

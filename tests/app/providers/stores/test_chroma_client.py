"""What chromadb's own client lacks, what ours adds, and a start without the package."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import chromadb
import httpx
import pytest
from chromadb.api.async_fastapi import AsyncFastAPI
from chromadb.config import Settings, System

from app.providers.stores.chroma import ChromaStore
from graph.errors import StoreUnavailable
from tests.contract.vector_store_kit import EMBEDDING, SIZE
from tests.peers import Fault, HttpPeer
from tests.peers.ports import held_port
from tests.peers.wire import Received, Reply
from tests.support.paths import ROOT


async def test_chromadb_alone_still_limits_no_request() -> None:
    """chroma-core/chroma#5805: once this fails, see whether ``ChromaClient`` can go, and the exact pin with it."""
    theirs = AsyncFastAPI(System(Settings(chroma_server_host="localhost", chroma_server_http_port=8000)))
    assert theirs._get_client().timeout == httpx.Timeout(None)
    assert [name for name in Settings.model_fields if name.startswith("chroma_http") and "timeout" in name] == []


async def test_chromadb_alone_still_contacts_the_server_when_a_client_is_made() -> None:
    """Once this fails, ``chromadb.AsyncHttpClient`` no longer needs a server at the start."""
    with held_port() as nobodys, pytest.raises(httpx.ConnectError):
        await chromadb.AsyncHttpClient("127.0.0.1", nobodys)


class Dripping(HttpPeer):
    """Answers everything with a byte now and then, without end."""

    async def respond(self, request: Received) -> Reply:
        async def spaces() -> AsyncIterator[bytes]:
            while True:
                yield b" "
                await asyncio.sleep(0.05)

        return Reply(spaces())


@pytest.mark.parametrize("fault", [None, Fault("silence")])
async def test_a_server_that_never_ends_its_answer_holds_no_connection(fault: Fault | None) -> None:
    """Many calls fail in time, their connections are given up, and the next calls get through."""
    with Dripping() as peer:
        peer.fault = fault
        store = ChromaStore(EMBEDDING, peer.url, "c", SIZE, seconds=0.5)
        failed = await asyncio.gather(*(store.acount() for _ in range(40)), return_exceptions=True)
        assert {type(error) for error in failed} == {StoreUnavailable}
        assert await asyncio.to_thread(peer.wait_until, lambda: peer.connections == 0)
        peer.fault = Fault("status", 401)
        with pytest.raises(StoreUnavailable, match="API key"):
            await store.acount()
        await store.aclose()


@pytest.mark.parametrize("package", ["chromadb"])
def test_without_the_extra_the_start_stops_with_one_line(tmp_path: Path, package: str) -> None:
    """It names the setting and what to install; the exit status is that of a wrong setting."""
    code = f"import sys; sys.modules[{package!r}] = None; from app.cli.main import main; main()"  # as if not installed
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VECTOR_STORE": "chroma", "DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code, "health"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "VECTOR_STORE='chroma' needs a package: pip install 'knowledge-garden[chroma]'" in done.stderr

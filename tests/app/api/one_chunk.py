"""A server over a store of one chunk, for what a test says of the synthesizer alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import httpx

from answering.types import Chunk
from app.bootstrap.compose import AppContainer, build_container
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.hybrid import Candidate, HybridHits
from app.settings import load_settings
from tests.app.api.test_query_api import CHEMICALS
from tests.support.samples_service import serve


@ChunkStore.register
class OneChunkStore:
    """One chunk, found whatever is asked."""

    def __init__(self, http: httpx.Client) -> None:
        body = http.post("/query", json={"query": CHEMICALS, "includeEvidence": True}).json()
        self._stored = http.get(f"/api/v1/chunks/{quote(body['evidence'][0]['chunkId'], safe='')}").json()

    async def ahybrid(self, queries: Any, limit: int, where: Any = None) -> Any:
        chunk = Chunk(*(self._stored[name] for name in ("chunkId", "documentId", "title", "text")))
        return HybridHits([[Candidate(chunk.chunk_id, chunk)] for _ in queries])

    async def acount(self) -> int:
        return 0

    async def aprobe(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


@contextmanager
def served(
    embedding: EmbeddingModel, http: httpx.Client, synthesizer: Any, *, store: Any = None, **settings: Any
) -> Iterator[tuple[AppContainer, str]]:
    """A service whose every question finds that chunk and is answered by *synthesizer*, and the address it serves.

    *store* may be another one.
    """
    with TemporaryDirectory() as folder:
        chosen = load_settings(relevance_threshold=0, data_dir=folder, **settings)
        container = build_container(
            chosen, embedding=embedding, store=store or OneChunkStore(http), synthesizer=synthesizer
        )
        with serve(container) as address:
            yield container, address

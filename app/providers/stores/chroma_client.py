"""chromadb's HTTP client with time limits, and LangChain's store over it.

``chromadb.HttpClient`` gives requests no time limit (chroma-core/chroma#5805 ended in ``timeout=None``), and contacts
the server when it is made. ``_session`` is its base class's private name, so pyproject.toml pins chromadb's version.
"""

import time
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import httpx
from chromadb import Collection, QueryResult
from chromadb.api.fastapi import FastAPI
from chromadb.config import Settings, System
from langchain_chroma import Chroma

from graph.errors import CollectionMissing


class ChromaClient(FastAPI):
    """A client of one collection. Its requests raise ``CollectionMissing``, or errors of ``httpx``."""

    def __init__(self, url: str, collection: str, seconds: float) -> None:
        """*seconds* limits connecting, the wait for an answer, and its transfer. Nothing is contacted."""
        # The port is required, and not read where the host is a whole URL.
        settings = Settings(chroma_server_host=url, chroma_server_http_port=0, anonymized_telemetry=False)
        super().__init__(System(settings))
        self.collection, self.seconds = collection, seconds
        self._session.timeout = httpx.Timeout(seconds)
        self._session.follow_redirects = True
        self._session.event_hooks = {"response": [self._receive]}

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def open_collection(self, *, create: bool = False) -> Collection:
        """Look the collection up; *create* makes it, for cosines, where there is none."""
        cosine: Any = {"hnsw": {"space": "cosine"}}
        name = self.collection
        found = self.get_or_create_collection(name, configuration=cosine) if create else self.get_collection(name)
        return FoundCollection(self, found, embedding_function=None)

    def _receive(self, response: httpx.Response) -> None:
        """Read the answer, whose transfer httpx does not limit, and raise where it is an HTTP error."""
        stream: Any = response.stream
        until, pieces = time.monotonic() + self.seconds, []
        for piece in stream:
            if time.monotonic() > until:
                raise httpx.ReadTimeout("")
            pieces.append(piece)
        stream.close()
        response.stream = httpx.ByteStream(b"".join(pieces))
        if response.status_code == HTTPStatus.NOT_FOUND and b'"NotFoundError"' in response.read():
            raise CollectionMissing(f"The vector store holds no collection named {self.collection!r}.")
        if response.is_error:
            response.raise_for_status()


class FoundCollection(Collection):
    """A collection that gives ``Chroma`` an empty document where there is none; it would leave the chunk out."""

    def query(self, *args: Any, **options: Any) -> QueryResult:
        found = super().query(*args, **options)
        found["documents"] = [[text or "" for text in texts] for texts in found["documents"] or ()]
        return found


def chroma(collection: Collection, **model: Any) -> Chroma:
    """Return LangChain's store; it embeds texts itself, by ``embed_query`` or ``embed_documents`` of *model*."""
    client: Any = SimpleNamespace(get_collection=lambda **_: collection)
    embedding: Any = SimpleNamespace(**model)
    return Chroma(collection.name, embedding, client=client, create_collection_if_not_exists=False)

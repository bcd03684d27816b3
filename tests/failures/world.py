"""Brings a failure of the matrix about: the peers of one case, and the settings that lead to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from langchain_core.embeddings import DeterministicFakeEmbedding

from answering.text.sentences import sentence_spans
from app.providers.embeddings.vectors import unit
from app.providers.stores.layout import Point, indexed_text
from app.providers.stores.qdrant import QdrantStore
from app.settings import load_settings
from tests.failures.table import Case
from tests.peers import CoherePeer, Fault, HttpPeer, OllamaPeer, RerankPeer
from tests.peers.chroma_server import ChromaServer
from tests.peers.qdrant_peer import QdrantPeer
from tests.peers.reading import vector
from tests.peers.wire import FaultKind

QUESTION = "When was the Eiffel Tower finished?"
TEXTS = ["The Eiffel Tower was finished in 1889. It is made of iron.", "Bread needs flour, water, salt and yeast."]
COLLECTION = "facts"
PATHS = {
    "Ollama embeddings": "/api/embed",
    "Cohere embeddings": "/v2/embed",
    "Cohere rerank": "/v2/rerank",
    "TEI rerank": "/rerank",
    "/v1/rerank server": "/v1/rerank",
    "Ollama chat": "/api/chat",
    "Cohere chat": "/v2/chat",
}
KINDS: dict[str, FaultKind] = {
    "hangs up": "hangup",
    "never answers": "silence",
    "answers garbage": "garbage",
    "drips without end": "drip",
    "breaks off": "drop",
    "ends without done": "no_done",
    "reports an error in mid-stream": "error_event",
}


def chunk_points() -> list[Point]:
    """``TEXTS`` as points, with the peers' vectors."""
    points = []
    for at, text in enumerate(TEXTS):
        spans = sentence_spans(text)
        rows = unit(
            [vector(indexed_text({"title": "Facts"}, text)), *(vector(text[start:end]) for start, end in spans)]
        )
        known = {"document_id": f"d{at}", "title": "Facts", "source": f"d{at}", "spans": [list(s) for s in spans]}
        points.append(Point(f"c{at}", text, {"chunk_id": f"c{at}", **known}, rows[0], rows[1:]))
    return points


def steady_store(collection: str = COLLECTION) -> QdrantPeer:
    """A Qdrant that holds ``TEXTS`` in *collection*; running; its ``__exit__`` ends it."""
    peer = QdrantPeer()
    peer.__enter__()

    async def fill() -> None:
        unused = DeterministicFakeEmbedding(size=1)
        settings = load_settings(qdrant_url=peer.url, vector_store_timeout_seconds=30)
        store = QdrantStore(unused, settings, collection)
        await store.aupsert(chunk_points())
        await store.aclose()

    asyncio.run(fill())
    return peer


@contextmanager
def world(case: Case | None, steady: QdrantPeer, chroma: ChromaServer) -> Iterator[dict[str, str]]:
    """The settings under which the failure of *case* happens (None: none does); its peers run meanwhile."""
    provider, failure = (case.provider, case.failure) if case else ("", "")
    with ExitStack() as stack:
        ollama, cohere = stack.enter_context(OllamaPeer()), stack.enter_context(CoherePeer())
        settings = {
            "VECTOR_STORE": "qdrant",
            "VECTOR_STORE_COLLECTION": COLLECTION,
            "QDRANT_URL": steady.url,
            "OLLAMA_HOST": ollama.url,
            "COHERE_BASE_URL": cohere.url,
            "COHERE_API_KEY": cohere.key,
            "EMBEDDING_MODEL": "nomic-embed-text" if provider.startswith(("Ollama emb", "Cohere chat")) else "",
            "CHAT_MODEL": "cohere:command-r7b-12-2024" if provider == "Cohere chat" else "ollama:llama3.2:1b",
            "RERANKER": "cohere:rerank-v3.5" if provider == "Cohere rerank" else "",
            "RELEVANCE_THRESHOLD": "0",
            "MIN_CONFIDENCE_THRESHOLD": "0",
        }
        settings["EMBEDDING_MODEL"] = settings["EMBEDDING_MODEL"] or "embed-english-v3.0"
        if provider == "Cohere rerank":
            settings["EMBEDDING_MODEL"] = "nomic-embed-text"
        peer: HttpPeer = ollama if provider.startswith("Ollama") else cohere
        if provider in ("TEI rerank", "/v1/rerank server"):
            peer = stack.enter_context(RerankPeer())
            settings["RERANKER"] = f"tei:{peer.url}" if provider == "TEI rerank" else f"rerank:m@{peer.url}/v1"
        if provider == "Qdrant":
            peer = stack.enter_context(QdrantPeer())
            settings["QDRANT_URL"] = peer.url
        if provider == "Chroma":
            peer = stack.enter_context(HttpPeer())
            settings |= {"VECTOR_STORE": "chroma", "VECTOR_STORE_URL": peer.url}
        if provider == "Chroma" and "collection" in failure:
            settings["VECTOR_STORE_URL"] = chroma.url
            settings["VECTOR_STORE_COLLECTION"] = "nobodys" if failure.startswith("has no") else "empty"
        if failure in ("never answers", "drips without end"):
            settings |= {"VECTOR_STORE_TIMEOUT_SECONDS": "0.3", "OLLAMA_TIMEOUT_SECONDS": "1"}
            settings |= {"REQUEST_TIMEOUT_SECONDS": "2"} if provider not in ("Ollama chat", "Cohere chat") else {}
        if failure == "is not running":
            peer.refuse()
        elif failure.isdecimal():
            peer.fault = Fault("status", int(failure), path=PATHS.get(provider, "/"))
        elif failure in KINDS:
            peer.fault = Fault(KINDS[failure], path=PATHS.get(provider, "/"))
        yield settings

"""What is embedded of a chunk says where it stands."""

from __future__ import annotations

from pathlib import Path

from langchain_core.embeddings import DeterministicFakeEmbedding
from pydantic import Field

from app.ingest.collection_writer import CollectionWriter
from app.providers.stores.embedded import EmbeddedStore
from tests.app.ingest.conftest import load_one, split_one


class Recorder(DeterministicFakeEmbedding):
    """Keeps what it is asked to embed."""

    asked: list[str] = Field(default_factory=list)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.extend(texts)
        return super().embed_documents(texts)


async def test_a_chunk_is_embedded_with_its_place(tmp_path: Path) -> None:
    """Title, chapter and section stand before the text of a chunk once; its sentences are embedded alone."""
    (path := tmp_path / "a.md").write_text("# Guide\n\n## Install\n\n### Linux\n\nRun it.\n\n## Use\n\nEnjoy it.\n")
    recorder = Recorder(size=8)
    store = EmbeddedStore(recorder, tmp_path / "data", "documents", 8)
    await CollectionWriter(store, recorder, "fake").write([split_one(load_one(path))])
    assert recorder.asked == [
        "Guide. Use\n\nEnjoy it.",
        "Enjoy it.",
        "Guide. Install. Linux\n\nRun it.",
        "Run it.",
    ]
    await store.aclose()

"""Our own index of a corpus, and the vectors of its chunks: ``python -m bench.plant CORPUS DATA_DIR VECTORS``.

Embedding is most of the work of building an index, and how long that takes is not compared. So it is done once; the
peers put the same vectors into their own stores. Questions each service embeds by itself.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.ingest.pipeline import ingest
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.embeddings.vectors import Vectors
from app.providers.embeddings.weights import find_weights
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.layout import indexed_text_of
from app.settings import load_settings


class Remembering(MiniLMEmbeddings):
    """Keeps the vectors of the texts it was told to keep."""

    def keep(self, texts: Sequence[str]) -> None:
        """From now on, the vectors of these."""
        self.kept: dict[str, Vectors] = dict.fromkeys(texts, np.zeros(self.dimension, np.float32))

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """``MiniLMEmbeddings.aembed_documents``, remembered."""
        vectors = await super().aembed_documents(texts)
        rows = zip(texts, vectors, strict=True)
        self.kept.update((text, np.array(row, np.float32)) for text, row in rows if text in self.kept)
        return vectors


async def plant(corpus: Path, texts: Sequence[str], data_dir: Path) -> Vectors:
    """Ingest *corpus* into the collection of the settings' name below *data_dir*; return the texts' vectors."""
    embeddings = Remembering(find_weights())
    embeddings.keep(texts)
    collection = load_settings().vector_store_collection
    store = EmbeddedStore(embeddings, data_dir, collection, embeddings.dimension)
    report = await ingest([corpus], store=store, embeddings=embeddings, model_name=embeddings.model_name)
    await store.aclose()
    if report.skipped:
        raise SystemExit(f"not ingested: {report.skipped}")
    missing = [text for text in texts if not embeddings.kept[text].any()]  # chunks that ingest did not keep whole
    if missing:
        await embeddings.aembed_documents(missing)
    embeddings.close()
    return np.stack([embeddings.kept[text] for text in texts])


def main(corpus: Path, data_dir: Path, vectors: Path) -> None:
    """Write the collection, and float32 [rows, 384] in the order of the rows."""
    rows = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    texts = [indexed_text_of(row, row["text"]) for row in rows]
    np.save(vectors, asyncio.run(plant(corpus, texts, data_dir)))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))

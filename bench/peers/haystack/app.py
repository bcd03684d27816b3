"""Haystack's indexing pipeline over embedded Qdrant; its query pipeline (``pipelines/rag``) is served by Hayhooks.

``python app.py build CORPUS VECTORS FOLDER`` and ``python app.py serve FOLDER PORT``.
"""

import json
import os
import sys
from pathlib import Path


def build(corpus, vectors, folder):
    import numpy as np
    from haystack import Document, Pipeline
    from haystack.components.writers import DocumentWriter
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    rows = [json.loads(line) for line in Path(corpus).read_text(encoding="utf-8").splitlines()]
    documents = [
        Document(content=row["text"], meta={"source": row["document_id"], "title": row["title"]}, embedding=vector)
        for row, vector in zip(rows, np.load(vectors).tolist(), strict=True)
    ]
    pipeline = Pipeline()
    store = QdrantDocumentStore(path=folder, index="documents", embedding_dim=384, progress_bar=False)
    pipeline.add_component("writer", DocumentWriter(document_store=store))
    pipeline.run({"writer": {"documents": documents}})


def serve(folder, port):
    pipelines = Path(__file__).parent / "pipelines"
    hayhooks = Path(sys.executable).parent / "hayhooks"
    quiet = {"LOG": "WARNING", "HAYHOOKS_TRACING_ENABLED": "false", "HAYHOOKS_MONITORING_ENABLED": "false"}
    arguments = ["run", "--host", "127.0.0.1", "--port", port, "--pipelines-dir", str(pipelines)]
    os.execve(hayhooks, ["hayhooks", *arguments], {**os.environ, **quiet, "BENCH_FOLDER": folder})


if __name__ == "__main__":
    (build if sys.argv[1] == "build" else serve)(*sys.argv[2:])

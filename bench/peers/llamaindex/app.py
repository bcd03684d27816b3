"""LlamaIndex's query engine over a Faiss index, behind FastAPI.

``python app.py build CORPUS VECTORS FOLDER`` and ``python app.py serve FOLDER PORT``.
"""

import json
import os
import sys
from pathlib import Path

import faiss
import numpy as np
import torch
from llama_index.core import Settings, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.schema import TextNode
from llama_index.embeddings.huggingface import HuggingFaceEmbedding
from llama_index.llms.ollama import Ollama
from llama_index.vector_stores.faiss import FaissVectorStore


def configure():
    Settings.embed_model = HuggingFaceEmbedding(model_name=os.environ["BENCH_WEIGHTS"])
    url = os.environ["BENCH_MODEL_URL"]
    Settings.llm = Ollama(model="llama3.2:1b", base_url=url, request_timeout=60.0, context_window=4096)


def build(corpus, vectors, folder):
    configure()
    rows = [json.loads(line) for line in Path(corpus).read_text(encoding="utf-8").splitlines()]
    nodes = [
        TextNode(id_=row["chunk_id"], text=row["text"], metadata={"title": row["title"]}, embedding=vector)
        for row, vector in zip(rows, np.load(vectors).tolist(), strict=True)
    ]
    vector_store = FaissVectorStore(faiss_index=faiss.IndexFlatL2(384))
    index = VectorStoreIndex(nodes, storage_context=StorageContext.from_defaults(vector_store=vector_store))
    index.storage_context.persist(folder)


def serve(folder, port):
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import StreamingResponse
    from pydantic import BaseModel

    class Question(BaseModel):
        question: str

    torch.set_num_threads(1)
    configure()
    vector_store = FaissVectorStore.from_persist_dir(folder)
    index = load_index_from_storage(StorageContext.from_defaults(vector_store=vector_store, persist_dir=folder))
    top_k = int(os.environ["BENCH_TOP_K"])
    engine = index.as_query_engine(similarity_top_k=top_k)
    streaming = index.as_query_engine(similarity_top_k=top_k, streaming=True)
    app = FastAPI()

    @app.post("/query")
    async def query(question: Question):
        return {"answer": str(await engine.aquery(question.question))}

    @app.post("/stream")
    async def stream(question: Question):
        response = await streaming.aquery(question.question)
        return StreamingResponse(response.async_response_gen(), media_type="text/plain")

    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)


if __name__ == "__main__":
    (build if sys.argv[1] == "build" else serve)(*sys.argv[2:])

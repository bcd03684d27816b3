"""txtai's RAG pipeline over its embeddings database, the model called through LiteLLM, behind FastAPI.

``python app.py build CORPUS VECTORS FOLDER`` and ``python app.py serve FOLDER PORT``.
"""

import json
import os
import sys
from pathlib import Path
from threading import Lock

import numpy as np
import torch
from txtai import LLM, RAG, Embeddings

TEMPLATE = """Answer the following question using only the context below. Only include information specifically
discussed.

question: {question}
context: {context} """


def build(corpus, vectors, folder):
    rows = [json.loads(line) for line in Path(corpus).read_text(encoding="utf-8").splitlines()]
    known = {row["text"]: vector for row, vector in zip(rows, np.load(vectors), strict=True)}
    transform = lambda texts: np.stack([known[text] for text in texts])  # noqa: E731
    embeddings = Embeddings(method="external", transform=transform, content=True)
    embeddings.index((row["chunk_id"], {"text": row["text"], "title": row["title"]}, None) for row in rows)
    del embeddings.config["transform"]
    embeddings.config.update(path=os.environ["BENCH_WEIGHTS"], method="transformers")
    embeddings.save(folder)


def serve(folder, port):
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import StreamingResponse
    from pydantic import BaseModel

    class Question(BaseModel):
        question: str

    torch.set_num_threads(1)
    embeddings = Embeddings()
    embeddings.load(folder)
    llm = LLM("ollama_chat/llama3.2:1b", method="litellm", api_base=os.environ["BENCH_MODEL_URL"])
    one_at_a_time = Lock()  # searches share one SQLite cursor: two at once end the process

    def search(queries, limit):
        with one_at_a_time:
            return embeddings.batchsearch(queries, limit)

    rag = RAG(search, llm, template=TEMPLATE, context=int(os.environ["BENCH_TOP_K"]), output="flatten")
    app = FastAPI()

    @app.post("/query")
    def query(question: Question):
        return {"answer": rag(question.question)}

    @app.post("/stream")
    def stream(question: Question):
        return StreamingResponse(rag(question.question, stream=True), media_type="text/plain")

    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)


if __name__ == "__main__":
    (build if sys.argv[1] == "build" else serve)(*sys.argv[2:])

"""LangChain's RAG chain over embedded Qdrant, served by LangServe.

``python app.py build CORPUS VECTORS FOLDER`` and ``python app.py serve FOLDER PORT``.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import torch
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_ollama import ChatOllama
from langchain_qdrant import QdrantVectorStore

TEMPLATE = """You are an assistant for question-answering tasks. Use the following pieces of retrieved context to answer
the question. If you don't know the answer, just say that you don't know.
Context: {context}
Question: {question}
Answer:"""


class Known(Embeddings):
    """Vectors made before; a text that has none is what the store asks for to learn their size."""

    def __init__(self, vectors):
        self._vectors = vectors
        self._size = len(next(iter(vectors.values())))

    def embed_documents(self, texts):
        return [self._vectors.get(text) or [0.0] * self._size for text in texts]

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def build(corpus, vectors, folder):
    rows = [json.loads(line) for line in Path(corpus).read_text(encoding="utf-8").splitlines()]
    documents = [Document(row["text"], metadata={"source": row["document_id"], "title": row["title"]}) for row in rows]
    known = {row["text"]: vector for row, vector in zip(rows, np.load(vectors).tolist(), strict=True)}
    store = QdrantVectorStore.from_documents(documents, Known(known), path=folder, collection_name="documents")
    store.client.close()


def serve(folder, port):
    import uvicorn
    from fastapi import FastAPI
    from langserve import add_routes

    torch.set_num_threads(1)
    normalized = {"normalize_embeddings": True}
    embeddings = HuggingFaceEmbeddings(model_name=os.environ["BENCH_WEIGHTS"], encode_kwargs=normalized)
    store = QdrantVectorStore.from_existing_collection("documents", embeddings, path=folder)
    retriever = store.as_retriever(search_kwargs={"k": int(os.environ["BENCH_TOP_K"])})
    model = ChatOllama(model="llama3.2:1b", base_url=os.environ["BENCH_MODEL_URL"])
    chain = (
        {"context": retriever | format_docs, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template(TEMPLATE)
        | model
        | StrOutputParser()
    ).with_types(input_type=str, output_type=str)
    app = FastAPI()
    add_routes(app, chain, path="/rag")
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)


def format_docs(docs):
    return "\n\n".join(doc.page_content for doc in docs)


if __name__ == "__main__":
    (build if sys.argv[1] == "build" else serve)(*sys.argv[2:])

"""Vendors and models, one package per role; the only importer of vendor packages.

embeddings/   ``models.py`` is the table; the embedded MiniLM, Ollama, Cohere, any LangChain ``Embeddings``
stores/       ``make.py`` is the table; embedded, Qdrant, Chroma
chat/         ``models.py`` is the table; Ollama, Cohere, any LangChain chat model
rerank/       ``models.py`` is the table; Cohere, ONNX folders, HTTP servers; the shipped reader
blocking.py   the synchronous methods of LangChain's interfaces, over the asynchronous ones
http/         connections, retries, error mapping
cohere.py     what embeddings and chat share of Cohere; its reranker is one over HTTP
"""

import os

os.putenv("ORT_DISABLE_TELEMETRY", "1")
"""ONNX Runtime from 1.31 on keeps a device id in the home folder, and sends events to its maker, unless it is told not
to before it is loaded."""

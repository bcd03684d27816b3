"""One table per role, name -> maker; vendor SDKs are imported here, when chosen, and nowhere else.

embeddings.py      minilm*.py, weights.py, encoder_queue.py: the embedded model on ONNX Runtime
stores/            the embedded store, Qdrant, Chroma; layout.py, payloads.py: what a chunk looks like in every store
rerankers.py       *_reranker.py: Cohere's, a cross-encoder in a folder, a server of the user's own
chat_models.py     Ollama, Cohere, and any LangChain ``provider:model``
"""

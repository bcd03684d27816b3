"""Advice by type of error, for the log and for readiness.

Settings are named without their values: readiness is open to everybody, and an address may hold a key.
"""

PROVIDER = "check that the provider named in {} can be reached from here, and that its key is valid"
CHAT = f"{PROVIDER.format('CHAT_MODEL')}; for Ollama see OLLAMA_HOST, ollama list and ollama pull"

ADVICE = {
    "StoreUnavailable": "check that the store of VECTOR_STORE can be reached (QDRANT_URL and QDRANT_API_KEY, or "
    "VECTOR_STORE_URL), or that DATA_DIR can be written and the disk is not full",
    "StoreDamaged": "run the command that the message names; docs/backup.md says what is restored",
    "CollectionMissing": "fill it (garden ingest), or correct VECTOR_STORE_COLLECTION",
    "ConfigurationError": "correct the setting it names, and restart",
    "EmbeddingUnavailable": PROVIDER.format("EMBEDDING_MODEL"),
    "RerankFailed": f"{PROVIDER.format('RERANKER')}; RERANKER=local needs no provider",
    "ModelUnavailable": CHAT,
    "ModelLoading": "wait; if it lasts, look into the log of the model's server, or choose a smaller model",
    "SynthesisFailed": CHAT,
    "SynthesisTimeout": "choose a faster model, or raise OLLAMA_TIMEOUT_SECONDS and REQUEST_TIMEOUT_SECONDS",
    "Overloaded": "add replicas, choose a faster model, or raise MAX_CONCURRENT_REQUESTS",
}

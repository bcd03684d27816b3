"""What a person should do about a failure, by the kind of error: for the log and for readiness.

Settings are named, their values are not: readiness is open to everybody, and an address may hold a key.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.settings import Settings

STORES = {
    "embedded": "see that DATA_DIR can be read and written, and has room left",
    "qdrant": "see that Qdrant runs at QDRANT_URL, can be reached from here, and accepts QDRANT_API_KEY",
    "chroma": "see that Chroma runs at VECTOR_STORE_URL and can be reached from here",
}
OLLAMA = "see that Ollama runs at OLLAMA_HOST and has the model (ollama list, ollama pull)"
REMOTE = "see that the provider named in {setting} can be reached from here, and that its key is valid"


def advice_of(settings: Settings) -> Mapping[str, str]:
    """Error type -> what to do, for the parts these *settings* choose."""
    chat = OLLAMA if settings.chat.startswith("ollama:") else REMOTE.format(setting="CHAT_MODEL")
    return {
        "StoreUnavailable": STORES[settings.vector_store],
        "StoreDamaged": "run the command that the message names; docs/backup.md says what comes back",
        "CollectionMissing": "fill it (garden ingest), or name the one that is meant in VECTOR_STORE_COLLECTION",
        "ConfigurationError": "mend the setting it names, and restart",
        "EmbeddingUnavailable": REMOTE.format(setting="EMBEDDING_MODEL"),
        "RerankFailed": f"{REMOTE.format(setting='RERANKER')}; RERANKER=local needs no provider",
        "ModelUnavailable": chat,
        "SynthesisFailed": f"{chat}; its own log says more",
        "SynthesisTimeout": "choose a quicker model, or raise OLLAMA_TIMEOUT_SECONDS and REQUEST_TIMEOUT_SECONDS",
        "Overloaded": "add replicas, choose a quicker model, or raise MAX_CONCURRENT_REQUESTS",
    }

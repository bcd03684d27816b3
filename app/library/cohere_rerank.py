"""The one call of ``validate_retrieval`` to Cohere's reranker, and its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from langchain_core.documents import Document

from app.providers.embeddings.vectors import valid_unicode
from app.providers.http.error_mapping import Fault, fault_of
from app.providers.rerank.models import make_reranker
from app.providers.rerank.scores import SCORE
from app.settings import Settings
from graph.errors import RerankFailed
from graph.state import Chunk

if TYPE_CHECKING:
    from app.providers.rerank.cohere import CohereReranker

MODEL = "cohere:rerank-v3.5"
"""The reranker where ``RERANKER`` names none."""

SENT_CHARS = 16_000
"""Characters sent of one chunk; Cohere reads about as many (docs.cohere.com, "Rerank": 4,096 tokens)."""

_REASONS = {
    401: "invalid API key",
    403: "access denied",
    404: "model not found",
    429: "rate limit exceeded",
}


class CohereAPIError(RerankFailed):
    """Cohere did not rerank; ``details["status"]`` is the HTTP status, where there was one."""


def chosen_reranker(settings: Settings) -> CohereReranker | None:
    """Make Cohere's reranker if its key is set and ``RERANKER`` is not ``local``; it is not contacted."""
    if not settings.cohere_api_key.get_secret_value() or settings.reranker == "local":
        return None
    named = settings.reranker if settings.reranker.startswith("cohere:") else MODEL
    return cast("CohereReranker", make_reranker(settings.model_copy(update={"reranker": named})))


async def rerank_once(reranker: CohereReranker, query: str, chunks: Sequence[Chunk]) -> dict[str, float]:
    """Return Cohere's score in [0, 1] by chunk id, from exactly one request, and close the connection.

    Raises ``CohereAPIError``, or ``TimeoutError`` when the connection timed out.
    """
    documents = [
        Document(
            valid_unicode(f"{chunk.title}\n{chunk.text[:SENT_CHARS]}".strip()), metadata={"chunk_id": chunk.chunk_id}
        )
        for chunk in chunks
    ]
    try:
        scored = await reranker.acompress_documents(documents, valid_unicode(query))
    except Exception as error:  # noqa: BLE001 - raised anew without its cause: a traceback shows no vendor's words
        raise _error(fault_of(error)) from None
    finally:
        await reranker.aclose()
    return {document.metadata["chunk_id"]: float(document.metadata[SCORE]) for document in scored}


def _error(fault: Fault) -> Exception:
    if fault.kind == "late":
        return TimeoutError()
    if fault.kind == "unreachable":
        return CohereAPIError("Cohere rerank API could not be reached")
    if fault.status is None:
        return CohereAPIError("Cohere rerank API returned an unexpected response")
    reason = _REASONS.get(fault.status, "server error" if fault.status >= 500 else "request rejected")
    return CohereAPIError(f"Cohere rerank API returned {fault.status} ({reason})", status=fault.status)

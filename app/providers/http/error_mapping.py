"""Map any vendor's exception to an error of ``graph.errors``.

Vendors' exceptions share no root, so they are read by what they carry: a status code, headers, or an ``httpx`` or
operating system error among their causes. No message of ours repeats their text; ``cause_text``, for
terminal and log, has what ``provider_text`` finds fit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import httpx

from app.providers.http.provider_text import provider_text
from graph.errors import (
    EmbeddingUnavailable,
    ModelUnavailable,
    RAGError,
    RerankFailed,
    StoreUnavailable,
    SynthesisFailed,
    SynthesisTimeout,
)

Kind = Literal["unreachable", "late", "unauthorized", "missing", "limited", "broken", "rejected", "unknown"]
"""Not reached; no reply in time; 401 or 403; 404; 429; 5xx; another 4xx; anything else."""
_UNREACHABLE = (httpx.NetworkError, httpx.ProxyError, httpx.RemoteProtocolError, httpx.ConnectTimeout, ConnectionError)
_LATE = (httpx.TimeoutException, TimeoutError)
_BY_STATUS: dict[int, Kind] = {401: "unauthorized", 403: "unauthorized", 404: "missing", 429: "limited"}


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """What kind of error an exception is. ``retry_after`` is in seconds, as the server asked."""

    kind: Kind
    status: int | None = None
    retry_after: float | None = None

    @property
    def transient(self) -> bool:
        """Whether a retry may succeed: connection errors, 429 and 5xx, nothing else."""
        return self.kind in ("unreachable", "limited", "broken")


def classify_error(error: BaseException) -> ErrorInfo:
    """Classify *error* by itself and its causes; ``unknown`` when nothing is recognised."""
    causes = list(_causes(error))
    status = next(filter(None, map(_status, causes)), None)
    retry_after = next((seconds for seconds in map(_retry_after, causes) if seconds is not None), None)
    network = next((cause for cause in causes if isinstance(cause, _UNREACHABLE + _LATE)), None)
    kind: Kind = "unknown" if network is None else "unreachable" if isinstance(network, _UNREACHABLE) else "late"
    if status:
        kind = _BY_STATUS.get(status, "broken" if status >= 500 else "rejected")
    return ErrorInfo(kind, status, retry_after)


_TEXTS: dict[Kind, str] = {
    "unreachable": "{part} cannot be reached.",
    "unauthorized": "{part} rejected the API key (HTTP {status}).",
    "missing": "{part} was not found (HTTP {status}).",
    "late": "{part} timed out.",
    "limited": "{part}'s rate limit was reached (HTTP {status}).",
    "broken": "{part} reported a server error (HTTP {status}).",
    "rejected": "{part} rejected the request (HTTP {status}).",
    "unknown": "{part} failed.",
}


def _text(info: ErrorInfo, part: str) -> str:
    return _TEXTS[info.kind].format(part=part, status=info.status)


def chat_error(error: BaseException, model: str, *, begun: bool = False) -> SynthesisFailed:
    """Return the error for a chat model's failure; *begun*: part of the answer had arrived.

    It is ``ModelUnavailable`` (not reached, 401, 403, 404), ``SynthesisTimeout`` or ``SynthesisFailed``.
    """
    info = classify_error(error)
    failed = SynthesisFailed(_text(info, "The chat model"))
    if info.kind == "late":
        failed = SynthesisTimeout(_text(info, "The chat model"))
    elif begun:
        failed = SynthesisFailed("The chat model's answer was interrupted.")
    elif info.kind == "missing":
        failed = ModelUnavailable(_text(info, f"The chat model {model}"), model=model)
    elif info.kind in ("unreachable", "unauthorized"):
        failed = ModelUnavailable(_text(info, "The chat model"))
    failed.cause_text = provider_text(_causes(error))
    return failed


def _failure(kind: type[RAGError], part: str, error: BaseException, address: str = "") -> RAGError:
    """Return the error for the failure of *part*, at *address* where *error* does not say where.

    ``details["status"]`` is the HTTP status, if any.
    """
    info = classify_error(error)
    failed = kind(_text(info, part), **({"status": info.status} if info.status else {}))
    failed.cause_text = provider_text(_causes(error), address)
    return failed


rerank_error = partial(_failure, RerankFailed, "The reranker")
embedding_error = partial(_failure, EmbeddingUnavailable, "The embedding model")
store_error = partial(_failure, StoreUnavailable, "The vector store")


def _causes(error: BaseException) -> Iterator[object]:
    """Yield *error* and its causes, contexts and wrapped ``source`` (qdrant-client).

    Behind each comes the response that it carries, if any.
    """
    current: BaseException | None = error
    while current is not None:
        yield current
        yield getattr(current, "response", None)
        if isinstance(current, httpx.TransportError):
            return  # what it stands for may carry a status that no server sent
        wrapped = getattr(current, "source", None)
        current = wrapped if isinstance(wrapped, BaseException) else current.__cause__ or current.__context__


def _status(cause: object) -> int | None:
    if hasattr(cause, "retry_after_s"):  # qdrant-client's own error for HTTP 429 lacks the status
        return 429
    status = getattr(cause, "status_code", None) or getattr(cause, "code", None)
    return status if type(status) is int and 400 <= status <= 599 else None


def _retry_after(cause: object) -> float | None:
    """Seconds from a ``Retry-After`` header; a date is ignored, as no vendor sends one."""
    headers = getattr(cause, "headers", None)
    value = httpx.Headers(headers).get("retry-after", "") if isinstance(headers, Mapping) else ""
    value = str(getattr(cause, "retry_after_s", value))
    return float(value) if value.isdecimal() else None

"""What went wrong outside, read from any vendor's exception, and said in our words.

Vendors' exceptions share no root, so they are read by what they carry: a status code, headers, or an ``httpx`` or
operating system error among their causes. Of their text nothing is kept: it may hold addresses, headers and keys.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import httpx

from graph.errors import (
    EmbeddingUnavailable,
    ModelUnavailable,
    RerankFailed,
    StoreUnavailable,
    SynthesisFailed,
    SynthesisTimeout,
)

Kind = Literal["unreachable", "late", "unauthorized", "missing", "limited", "broken", "rejected", "unknown"]
"""Not reached; no reply in time; 401 or 403; 404; 429; 5xx; another 4xx; anything else."""

_DEEPEST = 8
_UNREACHABLE = (httpx.NetworkError, httpx.ProxyError, httpx.RemoteProtocolError, httpx.ConnectTimeout, ConnectionError)
_LATE = (httpx.TimeoutException, TimeoutError)


@dataclass(frozen=True, slots=True)
class Fault:
    """What an exception says. ``retry_after`` is in seconds, as the server asked."""

    kind: Kind
    status: int | None = None
    retry_after: float | None = None

    @property
    def transient(self) -> bool:
        """Whether the same call may well succeed in a moment: connection errors, 429 and 5xx, nothing else."""
        return self.kind in ("unreachable", "limited", "broken")


def fault_of(error: BaseException) -> Fault:
    """Read *error* and its causes; total, ``unknown`` when nothing is recognised."""
    status = retry_after = None
    kind: Kind = "unknown"
    for cause in _causes(error):
        status = status or _status(cause)
        retry_after = _retry_after(cause) if retry_after is None else retry_after
        if kind == "unknown" and isinstance(cause, _UNREACHABLE):
            kind = "unreachable"
        elif kind == "unknown" and isinstance(cause, _LATE):
            kind = "late"
    return Fault(_kind_of(status) if status else kind, status, retry_after)


def chat_error(error: BaseException, model: str, *, begun: bool = False) -> SynthesisFailed:
    """Our error for a chat model's; *begun* says that part of an answer had come.

    Gives ``ModelUnavailable`` (not reached, 401, 403, 404), ``SynthesisTimeout`` or ``SynthesisFailed``.
    """
    kind = fault_of(error).kind
    if begun and kind != "late":
        return SynthesisFailed("The chat model broke off its answer.")
    match kind:
        case "unreachable":
            return ModelUnavailable("The chat model cannot be reached.")
        case "unauthorized":
            return ModelUnavailable("The chat model's server does not accept the key.")
        case "missing":
            return ModelUnavailable(f"The chat model {model} is not there.", model=model)
        case "late":
            return SynthesisTimeout("The chat model did not answer in time.")
        case "limited":
            return SynthesisFailed("The chat model takes no more requests at the moment.")
        case "rejected":
            return SynthesisFailed("The chat model did not accept the request.")
        case _:
            return SynthesisFailed("The chat model failed.")


def rerank_error(error: BaseException) -> RerankFailed:
    """Our error for a reranker's; ``details["status"]`` is the HTTP status where there was one."""
    fault = fault_of(error)
    said = {
        "unreachable": "The reranker cannot be reached.",
        "unauthorized": "The reranker does not accept the key.",
        "missing": "The reranking model is not there.",
        "late": "The reranker did not answer in time.",
        "limited": "The reranker takes no more requests at the moment.",
        "rejected": "The reranker did not accept the request.",
    }.get(fault.kind, "The reranker failed.")
    return RerankFailed(said, **({"status": fault.status} if fault.status else {}))


def embedding_error(error: BaseException) -> EmbeddingUnavailable:
    """Our error for an embedding model's; ``details["status"]`` is the HTTP status where there was one."""
    fault = fault_of(error)
    said = {
        "unreachable": "The embedding model cannot be reached.",
        "unauthorized": "The embedding model's server does not accept the key.",
        "missing": "The embedding model is not there.",
        "late": "The embedding model did not answer in time.",
        "limited": "The embedding model takes no more requests at the moment.",
        "rejected": "The embedding model did not accept the request.",
    }.get(fault.kind, "The embedding model failed.")
    return EmbeddingUnavailable(said, **({"status": fault.status} if fault.status else {}))


def store_error(error: BaseException) -> StoreUnavailable:
    """Our error for a vector store's; ``details["status"]`` is the HTTP status where there was one."""
    fault = fault_of(error)
    said = {
        "unreachable": "The vector store cannot be reached.",
        "unauthorized": "The vector store does not accept the key.",
        "missing": "The vector store does not know this request: is its address right?",
        "late": "The vector store did not answer in time.",
        "limited": "The vector store takes no more requests at the moment.",
        "rejected": "The vector store did not accept the request.",
    }.get(fault.kind, "The vector store failed.")
    return StoreUnavailable(said, **({"status": fault.status} if fault.status else {}))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """*error*, then what it was raised from or while handling, or wraps as ``source`` (as qdrant-client does)."""
    current: BaseException | None = error
    for _ in range(_DEEPEST):
        if current is None:
            return
        yield current
        wrapped = getattr(current, "source", None)
        current = wrapped if isinstance(wrapped, BaseException) else current.__cause__ or current.__context__


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None) or getattr(holder, "code", None)
        if type(status) is int and 400 <= status <= 599:
            return status
    return None


def _retry_after(error: BaseException) -> float | None:
    """Seconds from a ``Retry-After`` header, given as a number or as a date (RFC 9110, section 10.2.3)."""
    for holder in (error, getattr(error, "response", None)):
        headers = getattr(holder, "headers", None)
        if not isinstance(headers, Mapping):
            continue
        value = next((str(v) for k, v in headers.items() if str(k).lower() == "retry-after"), "").strip()
        if value.isdecimal():
            return float(value)
        if value and (date := email.utils.parsedate_tz(value)):
            return max(0.0, email.utils.mktime_tz(date) - time.time())
    return None


def _kind_of(status: int) -> Kind:
    if status in (401, 403):
        return "unauthorized"
    if status == 404:
        return "missing"
    if status == 429:
        return "limited"
    return "broken" if status >= 500 else "rejected"

"""What goes over a peer's wire, and what can go wrong on it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FaultKind = Literal[
    "status",  # answers with ``status``, and ``Retry-After: retry_after``
    "hangup",  # closes the connection before the first byte
    "silence",  # takes the request and never answers
    "garbage",  # 200, and a body that is not what was asked for
    "huge",  # 200, and a body of many megabytes
    "drip",  # a piece of the answer now and then, without end
    "drop",  # closes the connection in the middle of the answer
    "no_done",  # ends the stream as if all were well, without its last event
    "length",  # stops in mid-sentence and says that the limit of tokens is reached
    "load",  # Ollama: says that the model is loaded, and nothing else
    "error_event",  # reports an error in the middle of the stream
]
SECRET = "vendor-secret-8f1c"
"""In every error body and header of a peer: no message or log of ours may hold it."""


@dataclass(slots=True)
class Fault:
    """A fault on requests whose path starts with ``path``; ``times`` says on how many (None: until taken off)."""

    kind: FaultKind
    status: int = 500
    retry_after: str | None = None
    times: int | None = None
    path: str = "/"


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came; ``body`` is its JSON, None when there is none."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(slots=True)
class Reply:
    """What a peer answers: bytes at once, or a stream of them, sent chunked."""

    body: bytes | AsyncIterator[bytes]
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


class Hangup(Exception):
    """Raised by a reply to close the connection where it is."""


def refusal(status: int, headers: Mapping[str, str] | None = None) -> Reply:
    """An error as vendors send it: with words, and a header, that are not for others."""
    body = json.dumps({"error": f"broken: {SECRET}", "message": f"broken: {SECRET}"}).encode()
    return Reply(body, status, headers={"X-Vendor": SECRET, **(headers or {})})

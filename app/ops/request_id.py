"""Make the request id and hold it in the request's context."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

request_id_var: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the current request; empty outside of one."""

_PRINTABLE = re.compile(r"[\x20-\x7e]{1,128}")


def new_request_id() -> str:
    """Make a request id."""
    return f"req_{uuid.uuid4().hex}"


def request_id_from(header: str) -> str:
    """Return the client's own id if it is printable ASCII of at most 128 characters, else a new one."""
    header = header.strip()
    return header if _PRINTABLE.fullmatch(header) else new_request_id()


def current_request_id() -> str:
    """Return the id of the current request, or a new one outside of any."""
    return request_id_var.get() or new_request_id()

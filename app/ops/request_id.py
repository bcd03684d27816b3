"""The request id: made once at the door, and at hand wherever the request's context goes."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

request_id_var: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that this context works for; empty outside of one."""

_PRINTABLE = re.compile(r"[\x20-\x7e]{1,128}")


def new_request_id() -> str:
    """A fresh request id, unique without coordination."""
    return f"req_{uuid.uuid4().hex}"


def request_id_from(given: str) -> str:
    """A client's own id if it is printable ASCII of at most 128 characters, else a new one (contract, Door Q)."""
    given = given.strip()
    return given if _PRINTABLE.fullmatch(given) else new_request_id()


def current_request_id() -> str:
    """The id of the current request, or a new one outside of any."""
    return request_id_var.get() or new_request_id()

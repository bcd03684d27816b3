"""Who may bring documents through the browser, how large they may be and what they may be called."""

from __future__ import annotations

from collections.abc import Sized
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request

from app.ingest.loaders.table import LOADERS
from graph.errors import InvalidInput

PATH = "/api/v1/documents"
MAX_UPLOAD = 32 * 1024 * 1024
"""Largest file in bytes; it is held in memory while it comes in."""

MAX_NAME_BYTES = 200
"""Longest file name, in UTF-8: file systems take 255, and leave some of it to nobody."""


def may_upload(request: Request, keys: Sized) -> bool:
    """Whether this request may bring documents.

    With keys, having shown one is enough, and ``app.api.middleware`` has seen to that. Without, the caller must be on
    this machine and address it by a name of its own (else a foreign name that resolves to loopback would do).
    """
    if keys:
        return True
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname
    return _is_loopback(request.client.host if request.client else None) and _is_loopback(host)


def check_name(name: str) -> None:
    """Raise ``InvalidInput`` unless *name* is a plain file name with a suffix that is read."""
    if not name.strip() or name.startswith(".") or any(sign in name for sign in "/\\") or not name.isprintable():
        raise InvalidInput("The name must be a plain file name, without folders.", "name")
    if len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
        raise InvalidInput(f"The name must be at most {MAX_NAME_BYTES} bytes long.", "name")
    if Path(name).suffix.lower() not in LOADERS:
        raise InvalidInput(f"The name must end in one of {', '.join(sorted(LOADERS))}.", "name")


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False

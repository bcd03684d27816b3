"""Addresses of servers, as the settings take them."""

from __future__ import annotations

from urllib.parse import urlsplit

OLLAMA_PORT = 11434
"""Ollama's own, where its address names none."""


def is_address(value: str) -> bool:
    """Whether *value* is an HTTP address with a host, and a port that is one, if any."""
    if any(letter.isspace() or not letter.isprintable() for letter in value):
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def ollama_address(value: str) -> str:
    """*value*, completed where it is written as for Ollama itself, ``HOST`` or ``HOST:PORT``; else as it is."""
    address = f"http://{value}"
    if "://" in value or not is_address(address):
        return value
    return address if urlsplit(address).port else f"{address.rstrip('/')}:{OLLAMA_PORT}"

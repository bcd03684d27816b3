"""Configure uvicorn: bounded headers, and the one error body for a request that cannot be parsed."""

from __future__ import annotations

from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.api.errors import error_response
from app.ops.traffic import new_request_id

MAX_HEADER_BYTES = 64 * 1024
"""Longest request line and headers together. A query of 2000 characters, percent-encoded, takes 24 kB."""


class Http(H11Protocol):
    """uvicorn's h11 protocol, which bounds headers as httptools does not."""

    def send_400_response(self, msg: str) -> None:
        """Answer an invalid or too long request head, and close the connection."""
        headers = {"X-Request-ID": new_request_id(), "Connection": "close"}
        response = error_response(400, "This is not a valid HTTP request, or its headers are too long.", headers)
        lines = [b"HTTP/1.1 400 Bad Request", *(name + b": " + value for name, value in response.raw_headers)]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + bytes(response.body))
        self.transport.close()


def server_config(app: Any) -> uvicorn.Config:
    """Return the configuration for *app*; a reverse proxy bounds the time of slow clients (docs/security.md)."""
    return uvicorn.Config(
        app,
        http=Http,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
    )

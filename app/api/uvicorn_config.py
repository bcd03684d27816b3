"""How uvicorn serves the application: its fast parser, bounded, and no log of its own."""

from __future__ import annotations

from typing import Any

import uvicorn

from app.settings import Settings

KEEP_ALIVE_SECONDS = 5
"""Longest rest of a connection between two requests."""


def server_config(app: Any, settings: Settings) -> uvicorn.Config:
    """uvicorn's configuration for *app*; the socket is given to ``run``."""
    return uvicorn.Config(
        app,
        http=_protocol(settings.read_timeout_seconds),
        ws="none",
        log_config=None,
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        server_header=False,
    )


def _protocol(read_seconds: float) -> Any:
    """Our bounded protocol; on a Python without httptools, uvicorn's own over h11, which bounds headers by itself."""
    try:
        from app.api.bounded_http import bounded_http
    except ImportError:
        return "h11"
    return bounded_http(read_seconds)

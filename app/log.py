"""JSON logs, one line an event, with the request id; never a question or an answer unless asked for."""

from __future__ import annotations

import logging
import sys

from pythonjsonlogger.json import JsonFormatter

from app.request_id import request_id_var


class _RequestIdFilter(logging.Filter):
    """Puts the request id of the current context on every record that does not bring its own."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request_id") and (request_id := request_id_var.get()):
            record.request_id = request_id
        return True


def set_up_logging(level: str) -> None:
    """Send everything from *level* up to stderr as JSON. Called once, by the process that serves."""
    handler = logging.StreamHandler(sys.stderr)
    names = {"levelname": "level", "name": "logger", "message": "event"}
    handler.setFormatter(JsonFormatter("{levelname}{name}{message}", style="{", timestamp="time", rename_fields=names))
    handler.addFilter(_RequestIdFilter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.INFO, logging.getLevelName(level)))
    logging.getLogger("garden").setLevel(level)
    for chatty in ("httpx", "httpcore", "uvicorn.access", "langsmith"):
        logging.getLogger(chatty).setLevel(logging.WARNING)

"""Write logs as JSON, one event per line with the request id; questions only on request."""

import logging
import sys

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from app.ops.traffic import request_id_var


def _add_request_id(record: logging.LogRecord) -> bool:
    if not hasattr(record, "request_id") and (request_id := request_id_var.get()):
        record.request_id = request_id
    vars(record).pop("color_message", None)  # uvicorn's message again, for terminals
    return True


class _TextFormatter(logging.Formatter):
    """Formats a line for people: time, level, logger, event, then the other fields as ``name=value``."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's own name
        more = {name: value for name, value in vars(record).items() if name not in RESERVED_ATTRS}
        return " ".join([super().formatMessage(record), *(f"{name}={value}" for name, value in more.items())])


def set_up_logging(level: str, form: str = "json") -> None:
    """Log to stderr from *level* up, as "json", "text" or "auto" (text on a terminal)."""
    handler = logging.StreamHandler(sys.stderr)
    names = {"levelname": "level", "name": "logger", "message": "event"}
    as_json = JsonFormatter("{levelname}{name}{message}", style="{", timestamp="time", rename_fields=names)
    as_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    for_people = _TextFormatter("{asctime} {levelname:<7} {name} {message}", style="{")
    handler.setFormatter(for_people if as_text else as_json)
    handler.addFilter(_add_request_id)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.INFO, logging.getLevelName(level)))
    logging.getLogger("garden").setLevel(level)
    for chatty in ("httpx", "httpcore", "uvicorn.access", "langsmith", "mcp"):
        logging.getLogger(chatty).setLevel(logging.WARNING)

"""A body that is taken for JSON only where its sender says that it is."""

from __future__ import annotations

from starlette.requests import Request

from graph.errors import InvalidInput


def require_json(request: Request) -> None:
    """Raise ``InvalidInput`` for any other content type, or none (contract, Door Q).

    A page of another site may send forms and plain text without asking first; JSON it may not.
    """
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json":
        raise InvalidInput("Content-Type must be application/json.", "Content-Type")

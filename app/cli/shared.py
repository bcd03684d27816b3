"""What several commands need: the open service, JSON output, and errors with advice."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import orjson
from rich.console import Console
from rich.text import Text

from app.ops.advice import ADVICE
from app.settings import Settings

if TYPE_CHECKING:
    from app.bootstrap.compose import AppContainer
    from app.providers.embeddings.models import EmbeddingModel

OK, FAILED, USAGE = 0, 1, 2
"""Exit statuses: done; a part failed or nothing was found; a wrong argument, setting or input."""


@asynccontextmanager
async def open_container(settings: Settings, embedding: EmbeddingModel | None = None) -> AsyncGenerator[AppContainer]:
    """Build the service that *settings* describe, and close it at the end."""
    from app.bootstrap.compose import build_container

    container = build_container(settings, embedding=embedding)
    try:
        yield container
    finally:
        await container.aclose()


def print_json(content: dict[str, Any]) -> None:
    """Print *content* on stdout as indented JSON."""
    sys.stdout.buffer.write(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()


def print_error(message: str, error_type: str) -> None:
    """Print one line on stderr, with advice; red on a terminal unless ``NO_COLOR`` is set."""
    Console(stderr=True, soft_wrap=True).print(Text(f"garden: {advised(message, error_type)}", style="red"))


def advised(message: str, error_type: str) -> str:
    """Return *message* followed by what to do about an error of that class of ``graph.errors``."""
    if error_type in ("ConfigurationError", "InvalidInput"):  # their messages say what is allowed
        return message
    advice = ADVICE.get(error_type, "see which part is down: garden health")
    return f"{message} {advice[:1].upper()}{advice[1:]}."

"""``garden serve``: make the garden, plant the samples if asked, and serve until told to stop."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from app.settings import load_settings

if TYPE_CHECKING:
    from app.bootstrap import Garden

DRAIN_SECONDS = 20
"""Longest wait for requests in flight when the service is told to stop."""

log = logging.getLogger("garden.serve")


def run_server(*, host: str | None, port: int | None, plant: bool, as_json: bool = False) -> None:
    """Serve on *host* and *port* (default: the settings). Raises ``ConfigurationError`` before anything listens."""
    given: dict[str, Any] = {k: v for k, v in (("host", host), ("port", port)) if v is not None}
    settings = load_settings(**given)  # first of all: a wrong setting is told at once

    import uvicorn

    from app.bootstrap import build_garden
    from app.log import set_up_logging
    from app.server import create_app

    set_up_logging(settings.log_level)
    garden = build_garden(settings)
    if plant:
        plant_samples(garden)
    config = uvicorn.Config(
        create_app(garden),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        server_header=False,
    )
    base = f"http://{settings.host}:{settings.port}"
    garden.announce(base)
    greet(base, as_json=as_json)
    uvicorn.Server(config).run()


def plant_samples(garden: Garden) -> None:
    """Plant the sample garden, only into an embedded collection that is empty (contract, Settings)."""
    import asyncio

    from app.plant import plant_if_empty, samples

    if garden.settings.vector_store == "embedded":
        asyncio.run(plant_if_empty(garden, samples()))


def greet(base: str, *, as_json: bool = False) -> None:
    """Print the addresses to open."""
    if as_json:
        addresses = {"address": base, "page": f"{base}/", "query": f"{base}/query", "docs": f"{base}/docs"}
        print(json.dumps(addresses), flush=True)  # noqa: T201  # for the program that started it
        return
    print(  # noqa: T201  # for the person who started it; logs go to stderr
        f"\nKnowledge Garden is growing at {base}\n"
        f"  ask in the browser   {base}/\n"
        f"  API and its docs     {base}/docs\n"
        f"  from the shell       curl -s {base}/query -H 'Content-Type: application/json' "
        '-d \'{"query": "What is Knowledge Garden?"}\'\n',
        flush=True,
    )

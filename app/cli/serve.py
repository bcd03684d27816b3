"""``garden serve``: make the garden, plant the samples if asked, and serve until told to stop."""

from __future__ import annotations

import errno
import gc
import json
import logging
import socket
import sys
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from app.settings import Settings, load_settings
from graph.errors import ConfigurationError, RAGError, StoreDamaged

if TYPE_CHECKING:
    from app.bootstrap.compose import AppContainer

log = logging.getLogger("garden.serve")


def run_server(*, host: str | None, port: int | None, plant: bool, as_json: bool = False) -> None:
    """Serve on *host* and *port* (default: the settings). Raises ``ConfigurationError`` before anything listens."""
    gc.disable()  # until all is there
    given: dict[str, Any] = {k: v for k, v in (("host", host), ("port", port)) if v is not None}
    settings = load_settings(**given)  # first of all: a wrong setting is told at once
    refuse_strangers(settings)
    listening = listen(settings)
    port = listening.getsockname()[1]

    def told() -> None:
        greet(address_of(settings.host, port), as_json=as_json)

    if settings.workers == 1:
        serve(settings, given, listening, plant=plant, told=told)
        return
    from app.cli.workers import Workers
    from app.ops.log import set_up_logging

    listening.close()
    reserved = listen(settings.model_copy(update={"port": port}), shared=True)
    set_up_logging(settings.log_level, settings.log_format)
    status = Workers(settings.workers, partial(work, {**given, "port": port})).run(plant=plant, told=told)
    reserved.close()
    sys.exit(status)


def work(given: dict[str, Any], plant: bool, ready: Connection) -> None:
    """Be one of several processes that serve (``app.cli.workers``)."""
    from app.cli.workers import become_worker

    become_worker()
    gc.disable()  # until all is there
    try:
        settings = load_settings(**given)
        serve(settings, given, listen(settings, shared=True), plant=plant, told=partial(ready.send, None))
    except RAGError as error:
        ready.send(ConfigurationError(error.message))


def serve(
    settings: Settings, given: dict[str, Any], listening: socket.socket, *, plant: bool, told: Callable[[], None]
) -> None:
    """Serve in this process; *told* is called when all is made. ``given`` are the settings that came by argument."""
    from app.api.api_keys import ApiKeys, reload_keys
    from app.api.server import create_app
    from app.api.uvicorn_config import server_config
    from app.bootstrap.compose import build_container
    from app.cli.shutdown import DrainingServer
    from app.ops.log import set_up_logging

    set_up_logging(settings.log_level, settings.log_format)
    container = build_container(settings)
    if plant:
        plant_samples(container)
        gc.collect()
    api_keys = ApiKeys(settings.keys)
    server = DrainingServer(
        server_config(create_app(container, api_keys)),
        container,
        seconds=settings.drain_timeout_seconds,
        reload=lambda: reload_keys(api_keys, lambda: load_settings(**given).keys),
    )
    told()
    settle()
    server.run(sockets=[listening])


def settle() -> None:
    """Have Python's garbage collector begin, and tell it that what is there by now will stay.

    A full collection goes through all the objects of the libraries and finds next to nothing, which takes 0.2 s: so
    none goes before (``bench/NOTES.md``). In ``garden serve`` alone: a program that embeds the service minds its own
    memory.
    """
    gc.freeze()
    gc.enable()


def refuse_strangers(settings: Settings) -> None:
    """Raise ``ConfigurationError`` if anybody on the network could ask, and nobody said that they may."""
    if settings.keys or settings.allow_anonymous or only_here(settings.host):
        return
    raise ConfigurationError(
        f"HOST={settings.host!r} is not allowed without a key, since others could read the documents: "
        "set API_KEYS or API_KEYS_FILE, or ALLOW_ANONYMOUS=true if that is meant"
    )


def only_here(host: str) -> bool:
    """Whether *host* is reached from this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(settings: Settings, *, shared: bool = False) -> socket.socket:
    """The socket to serve on, bound already, so that a taken port is told before anything is loaded.

    *shared*: several processes may bind the port. Raises ``ConfigurationError``.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        if not hasattr(socket, "SO_REUSEPORT"):
            raise ConfigurationError(f"WORKERS={settings.workers} is not allowed: 1, since this system shares no port")
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            said = f"PORT={settings.port} is not allowed: it is taken on {settings.host}, so name another one"
        elif error.errno == errno.EACCES:
            said = f"PORT={settings.port} is not allowed: only root may serve there, so name one above 1023"
        else:
            said = f"HOST={settings.host!r} is not allowed: an address or a name of this machine"
        raise ConfigurationError(said) from None
    return listening


def address_of(host: str, port: int) -> str:
    """The address to open in a browser."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def plant_samples(container: AppContainer) -> None:
    """Plant the sample garden, only into an embedded collection that is empty (contract, Settings)."""
    import asyncio

    from app.cli.ingest import plant_if_empty
    from app.ingest.samples import sample_folder

    if container.settings.vector_store == "embedded":
        try:
            asyncio.run(plant_if_empty(container, sample_folder()))
        except StoreDamaged:
            log.warning("not_planted")  # what is damaged is told by the log before this, and by readiness


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

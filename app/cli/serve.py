"""``garden serve``: build the service, ingest the samples if asked, serve until a signal; and ``garden mcp``."""

import asyncio
import gc
import json
import logging
import signal
import socket
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.shared import OK, JsonFlag, run_opened
from app.ops.key_file import KeyFile
from app.ops.log import set_up_logging
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError, RAGError, StoreDamaged

if TYPE_CHECKING:
    from app.bootstrap.compose import AppContainer

COUNT_SECONDS = 2.0
"""Longest wait for the size of the collection, which the banner shows."""
log = logging.getLogger("garden.serve")


def run_server(
    host: Annotated[str | None, typer.Option(help="address to serve on [HOST]")] = None,
    port: Annotated[int | None, typer.Option(help="port to serve on [PORT]", min=0, max=65535)] = None,
    ingest_samples: Annotated[
        bool, typer.Option("--ingest-samples", help="ingest the sample documents if the embedded collection is empty")
    ] = False,
    as_json: JsonFlag = False,
) -> int:
    """Serve the HTTP APIs and the page."""
    settings = load_settings(host=host, port=port)
    require_key_beyond_loopback(settings)
    listening = listen(settings)
    settings = settings.model_copy(update={"port": listening.getsockname()[1]})
    on_ready = partial(print_banner, settings, as_json=as_json)
    if settings.workers == 1:
        serve(settings, listening, ingest_samples=ingest_samples, on_ready=on_ready)
        return 0
    from app.cli.workers import Workers

    listening.close()
    with listen(settings, shared=True):  # reserves the port
        set_up_logging(settings.log_level, settings.log_format)
        work = partial(serve_as_worker, host, settings.port)
        Workers(settings.workers, work).run(ingest_samples=ingest_samples, on_ready=on_ready)
    return 0


def serve_as_worker(host: str | None, port: int, ingest_samples: bool, ready: Connection) -> None:
    """Serve in one of several processes (``app.cli.workers``); report readiness, or the error, through *ready*.

    The settings are read anew: keys may have changed since the first worker started.
    """
    from app.cli.workers import become_worker

    become_worker()
    try:
        settings = load_settings(host=host, port=port)
        serve(settings, listen(settings, shared=True), ingest_samples=ingest_samples, on_ready=ready.send)
    except RAGError as error:
        ready.send(ConfigurationError(error.message))


def serve(
    settings: Settings, listening: socket.socket, *, ingest_samples: bool, on_ready: Callable[[str], None]
) -> None:
    """Serve in this process; *on_ready* gets the collection's size."""
    from app.api.server import DrainingServer, create_app, server_config
    from app.bootstrap.compose import build_container
    from app.cli.ingest import ingest_samples_if_empty

    set_up_logging(settings.log_level, settings.log_format)
    container = build_container(settings)
    if ingest_samples and settings.vector_store == "embedded":
        try:
            asyncio.run(ingest_samples_if_empty(container))
        except StoreDamaged as error:  # the server starts: readiness reports the damage
            log.warning("samples_not_ingested", extra={"reason": error.message})
    app = create_app(container)

    async def started() -> None:
        on_ready(await collection_size(container))
        container.start_chat()

    server = DrainingServer(server_config(app), container, started)
    signal.signal(signal.SIGHUP, lambda *_: app.state.api_keys.reload(lambda: load_settings().keys))
    gc.freeze()  # the loaded libraries stay: full collections need not scan them
    server.run(sockets=[listening])


def run_mcp() -> int:
    """Serve tools and documents to the program that has started this one, until it closes the input. Logs to stderr."""
    from app.api.mcp_server import mcp_server
    from app.bootstrap.compose import build_container

    settings = load_settings()
    set_up_logging(settings.log_level, settings.log_format)
    run_opened(build_container, lambda container: mcp_server(container).run_stdio_async())
    return OK


def require_key_beyond_loopback(settings: Settings) -> None:
    """Raise ``ConfigurationError`` if other machines could call without a key and ``ALLOW_ANONYMOUS`` is not set."""
    from app.api.middleware import is_loopback

    stored = KeyFile(settings.data_dir).read()
    if not (is_loopback(settings.host) or settings.keys or stored or settings.allow_anonymous):
        raise ConfigurationError(
            f"HOST={settings.host!r} is not allowed without a key, since others could read the documents: "
            "set API_KEYS, add a key by garden keys add, or set ALLOW_ANONYMOUS=true if that is meant"
        )


def listen(settings: Settings, *, shared: bool = False) -> socket.socket:
    """Bind the socket to serve on, before anything is loaded: a port in use is reported early.

    *shared*: several processes may bind the port. Raises ``ConfigurationError``.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, shared)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        where = f"HOST={settings.host!r} with PORT={settings.port} is not allowed"
        raise ConfigurationError(f"{where}: a free port of an address of this machine ({error.strerror})") from None
    return listening


async def collection_size(container: "AppContainer") -> str:
    """Return the number of documents (a server's: of chunks), or that it cannot be read."""
    try:
        async with asyncio.timeout(COUNT_SECONDS):
            if container.settings.vector_store == "embedded":
                return str(len(await container.store.adocuments()))
            return f"{await container.store.acount()} chunks ({container.settings.vector_store})"
    except (RAGError, TimeoutError):
        return "the collection cannot be read now, see /health/ready"


def print_banner(settings: Settings, documents: str, *, as_json: bool = False) -> None:
    """Print the service's address and contents; *as_json* for a calling program."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    base = f"http://{host}:{settings.port}"
    if as_json:
        text = json.dumps({"address": base, "documents": documents, "chat_model": settings.chat})
    else:
        embedded = " (embedded; no language model)" if settings.chat == "extractive" else ""
        text = (
            f"\nKnowledge Garden is ready at {base}\n\n"
            f"  page        {base}/\n"
            f"  API docs    {base}/docs\n"
            f"  documents   {documents}\n"
            f"  chat model  {settings.chat}{embedded}\n"
            f"  try         curl -s {base}/query -H 'Content-Type: application/json' "
            '-d \'{"query": "What is Knowledge Garden?"}\'\n'
        )
    print(text, flush=True)  # noqa: T201  # stdout is for the caller; logs go to stderr

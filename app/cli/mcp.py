"""``garden mcp``: the Model Context Protocol on standard input and output, for a client that starts its servers."""

from app.bootstrap.compose import AppContainer
from app.cli.shared import OK, run_in_container
from app.ops.log import set_up_logging
from app.settings import load_settings


def run_mcp() -> int:
    """Serve tools and documents to the program that has started this one, until it closes the input. Logs to stderr."""
    settings = load_settings()
    set_up_logging(settings.log_level, settings.log_format)
    run_in_container(_serve)
    return OK


async def _serve(container: AppContainer) -> None:
    from app.api.mcp_server import mcp_server

    await mcp_server(container).run_stdio_async()

"""Pass ``POST /mcp`` on to the MCP server (streamable HTTP)."""

import anyio
from fastapi import APIRouter, Request
from fastapi.responses import Response
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Message, Receive, Scope, Send

from app.api.errors import require_media_type
from app.api.mcp_server import DocumentServer
from app.api.query import unless_gone

PATH = "/mcp"


def mcp_routes(server: DocumentServer) -> APIRouter:
    """Return ``POST /mcp``; the server's ``session_manager`` must run while it is served.

    The service's own middleware has checked key, host name and size before.
    """
    router = APIRouter(tags=["mcp"])
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, json_response=True, transport_security=unchecked)

    @router.post(PATH, include_in_schema=False)
    async def mcp(request: Request) -> Response:
        """Pass one message to the server; a client that leaves ends its work."""
        body = await request.body()
        require_media_type(request)
        return Handed(server, body)

    return router


class Handed(Response):
    """A response that the MCP server writes."""

    def __init__(self, server: DocumentServer, body: bytes) -> None:
        super().__init__()
        self._server = server
        self._received = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        messages: list[Message] = [{"type": "http.request", "body": self._received, "more_body": False}]

        async def received() -> Message:
            if not messages:
                await anyio.sleep_forever()
            return messages.pop()

        handled = self._server.session_manager.handle_request(scope, received, send)
        await unless_gone(Request(scope, receive), handled)

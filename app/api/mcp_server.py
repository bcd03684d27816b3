"""Serve the Model Context Protocol: four tools and the documents as resources, over HTTP at ``/mcp`` and over stdio.

Each request stands by itself (stateless), so that any worker or replica answers it. Errors of the protocol are
JSON-RPC's; a tool that fails returns the one error body as its result, marked as an error.
"""

from typing import Annotated, Any
from urllib.parse import quote

import anyio
from fastapi import APIRouter, Request
from fastapi.responses import Response
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, CallToolResult, InputRequiredResult, Resource, TextContent, ToolAnnotations
from pydantic import Field, ValidationError
from starlette.types import Message, Receive, Scope, Send

from app.api.chat_completions import source_list
from app.api.documents import MAX_ROWS, DocumentList, DocumentText, StoredChunk, list_documents, read_document
from app.api.errors import failure_body, invalid_value, require_media_type
from app.api.query import unless_gone
from app.api.schemas import QueryResponse, answer_body
from app.bootstrap.compose import AppContainer
from app.query_service.chunk_search import SearchResults, search
from graph.errors import InvalidInput, RAGError
from graph.state import Failure, failure_of

URI = "garden://documents/"
PASSAGES = 20
"""Chunks that ``read`` returns where nothing else is asked: some 4,000 words."""
INSTRUCTIONS = (
    "Knowledge Garden answers questions from the documents it holds, and only from them. Use ask for a question: every "
    "sentence of its answer was checked against the passage it cites. Use search and read to look for yourself."
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Source = Annotated[
    str | list[str] | None, Field(description="only these documents: ids or names; * at the end: prefix")
]
Filters = Annotated[dict[str, Any] | None, Field(description="only documents with these metadata")]
Collection = Annotated[str | None, Field(description="another collection than the default one")]
Offset = Annotated[int, Field(ge=0, description="how many to skip")]
Limit = Annotated[int, Field(ge=1, le=MAX_ROWS, description="most to return")]


class DocumentServer(MCPServer[Any]):
    """An MCP server whose resources are the stored documents: as many as one list holds, from the first id on."""

    def __init__(self, container: AppContainer) -> None:
        super().__init__(
            "knowledge-garden", title="Knowledge Garden", instructions=INSTRUCTIONS, version=container.version
        )
        self._collections = container.collections

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; a failure that the service knows, wrong arguments among them, is a result marked as an error."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                first = cause.errors()[0]
                cause = invalid_value(first, first["loc"][:1])  # an argument; then, what it may be
            if isinstance(cause, RAGError) and cause.outcome:
                return failed(failure_of(cause))
            raise

    async def list_resources(self) -> list[Resource]:
        """Return the documents; the tool ``list_documents`` has those past ``MAX_ROWS``."""
        try:
            async with self._collections.use() as of:
                found = await list_documents(of)
        except RAGError as error:
            raise MCPError(INTERNAL_ERROR, error.message) from error
        return [
            Resource(uri=URI + quote(row.id, safe=""), name=row.id, title=row.title, mime_type="text/plain")
            for row in found.documents
        ]


def mcp_server(container: AppContainer) -> DocumentServer:
    """Make the server over *container*."""
    server, settings, collections = DocumentServer(container), container.settings, container.collections

    @server.tool(title="Ask the documents", annotations=READS)
    async def ask(
        query: Annotated[str, Field(description="a complete question")],
        source: Source = None,
        filters: Filters = None,
        collection: Collection = None,
        max_sources: Annotated[int | None, Field(description="most passages to answer from, 1 to 50")] = None,
    ) -> Annotated[CallToolResult, QueryResponse]:
        """Answer a question from the documents, with verified citations, or say that they do not answer it."""
        result = await container.service.ask(
            {"query": query, "source": source, "filters": filters, "collection": collection, "maxSources": max_sources}
        )
        if result.failure:
            return failed(result.failure)
        return done(
            (result.answer or "") + source_list(result.documents, result.citations), answer_body(result, evidence=True)
        )

    @server.tool(name="search", title="Search the passages", annotations=READS)
    async def search_passages(
        query: Annotated[str, Field(description="what to look for")],
        k: Annotated[int, Field(description="how many passages, 3 to 8")] = 5,
        source: Source = None,
        filters: Filters = None,
        collection: Collection = None,
    ) -> Annotated[CallToolResult, SearchResults]:
        """Find the passages nearest to a query; near is not the same as relevant, see their scores."""
        async with container.service.slot():
            results = await search(collections, settings, query, k, source, filters, collection)
        return done(results.context or "Nothing is stored.", results.model_dump(mode="json"))

    @server.tool(title="Read a document", annotations=READS)
    async def read(
        document_id: Annotated[str, Field(description="as list_documents, search and ask name it")],
        chunk_id: Annotated[str | None, Field(description="read around this passage")] = None,
        offset: Offset = 0,
        limit: Limit = PASSAGES,
        collection: Collection = None,
    ) -> Annotated[CallToolResult, DocumentText]:
        """Read a document, or a part of it, passage by passage; total tells how many there are."""
        async with collections.use(collection) as of:
            text = await read_document(of, document_id, offset, limit, chunk_id)
        if text is None:
            raise InvalidInput("No document has this id.", "document_id")
        return done(joined(text.chunks), text.model_dump(by_alias=True))

    @server.tool(name="list_documents", title="List the documents", annotations=READS)
    async def list_stored(
        offset: Offset = 0, limit: Limit = 100, collection: Collection = None
    ) -> Annotated[CallToolResult, DocumentList]:
        """List the documents by their ids; total tells how many there are."""
        async with collections.use(collection) as of:
            page = await list_documents(of, offset, limit)
        listed = "\n".join(f"{row.id}: {row.title}" for row in page.documents)
        return done(listed, page.model_dump(by_alias=True))

    # An id may hold anything: it names no file here.
    anything = ResourceSecurity(exempt_params={"document_id"})

    @server.resource(URI + "{document_id}", mime_type="text/plain", title="A stored document", security=anything)
    async def document(document_id: str) -> str:
        """Read the text of a whole document."""
        try:
            async with collections.use() as of:
                text = await read_document(of, document_id)
        except RAGError as error:
            raise ResourceError(error.message) from error
        if text is None:
            raise ResourceNotFoundError("No document has this id.")
        return joined(text.chunks)

    return server


def mcp_routes(server: DocumentServer) -> APIRouter:
    """Return ``POST /mcp``; the server's ``session_manager`` must run while it is served.

    The service's own middleware has checked key, host name and size before.
    """
    router = APIRouter(tags=["mcp"])
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, json_response=True, transport_security=unchecked)

    @router.post("/mcp", include_in_schema=False)
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


def done(text: str, content: dict[str, Any]) -> CallToolResult:
    """Return a result as text for the model and as data for the program."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)


def failed(failure: Failure) -> CallToolResult:
    """Return a failure as the result of a tool: the one error body."""
    body = failure_body(failure)
    text = f"{body['error']}: {body['message']}"
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=body, is_error=True)


def joined(chunks: list[StoredChunk]) -> str:
    """Join the text of chunks."""
    return "\n\n".join(chunk.text for chunk in chunks)

"""Serve conversations: questions that are understood from those before them. ``POST /query`` keeps nothing."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from app.api.query import STREAM, Fields, stream_response
from app.api.schemas import WireModel
from app.query_service.service import QueryService

ConversationId = Annotated[
    str,
    Path(
        alias="conversationId",
        pattern="^[A-Za-z0-9_-]{16,64}$",
        description="made up by the client, at random: who knows it can continue the conversation",
        examples=["5f0c6f3e9a4b4d0e8a1d2c3b"],
    ),
]
CHAT_STREAM = {
    **STREAM,
    "description": f"As `/query/stream`, after `rewritten` for a follow-up. {STREAM['description']}",
}


class DeletedConversation(WireModel):
    """Nothing is stored under this id any more."""

    id: str


def conversation_routes(service: QueryService, send_timeout: float) -> APIRouter:
    """Return ``POST /api/v1/conversations/{conversationId}/query`` and ``DELETE`` of a conversation."""
    router = APIRouter(prefix="/api/v1/conversations/{conversationId}", tags=["conversations"])

    @router.post("/query", responses={200: CHAT_STREAM})
    async def query(request: Request, conversation: ConversationId, fields: Fields) -> Response:
        """Stream the answer to a question that may leave out what was asked before in the same conversation."""
        events = service.stream(fields, request.state.request_id, conversation)
        return await stream_response(request, events, fields, send_timeout)

    @router.delete("")
    async def forget(conversation: ConversationId) -> DeletedConversation:
        """Delete what was asked in a conversation; one that does not exist is no error."""
        if service.conversations:
            await service.conversations.forget(conversation)
        return DeletedConversation(id=conversation)

    return router

"""Door R over HTTP, so that ``garden search`` works beside a running server."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.bootstrap.compose import AppContainer
from app.query_service.chunk_search import SearchResults, search
from graph.nodes.validate import query_text


def search_routes(container: AppContainer) -> APIRouter:
    """``GET /api/v1/search`` over *garden*."""
    router = APIRouter(prefix="/api/v1", tags=["search"])

    @router.get("/search")
    async def search_chunks(
        q: Annotated[str, Query(description="what to look for")],
        k: Annotated[int, Query(description="how many chunks; clamped to 3-8")] = 5,
    ) -> SearchResults:
        """The chunks nearest to a query, by similarity, and the context assembled from them."""
        settings = container.settings
        query_text(q, settings.max_query_chars, "q")
        async with container.service.place():
            return await search(
                container.retriever, q, k, seconds=settings.request_timeout_seconds, most_chars=settings.max_query_chars
            )

    return router

"""Serve the Search API: ``GET /api/v1/search``."""

from typing import Annotated

import orjson
from fastapi import APIRouter, Query

from app.api.collections import CollectionName
from app.bootstrap.compose import AppContainer
from app.query_service.chunk_search import SearchResults, search
from graph.errors import InvalidInput
from graph.nodes.search import query_text


def search_routes(container: AppContainer) -> APIRouter:
    """Return the route over *container*."""
    router = APIRouter(prefix="/api/v1", tags=["search"])
    settings = container.settings

    @router.get("/search")
    async def search_chunks(
        q: Annotated[str, Query(description="what to look for", examples=["nodes"])],
        k: Annotated[int, Query(description="how many chunks; clamped to 3-8", examples=[3])] = 5,
        source: Annotated[list[str] | None, Query(description="as in `POST /query`; may be repeated")] = None,
        filters: Annotated[str | None, Query(description="a JSON object, as in `POST /query`")] = None,
        collection: CollectionName = None,
    ) -> SearchResults:
        """Return the chunks nearest to a query, by similarity, and the context assembled from them."""
        query_text(q, settings.max_query_chars, "q")
        async with container.service.slot():
            try:
                parsed = None if filters is None else orjson.loads(filters)
            except orjson.JSONDecodeError:
                raise InvalidInput("filters must be a JSON object.", "filters") from None
            return await search(container.collections, settings, q, k, source, parsed, collection)

    return router

"""List and delete collections. One is made by the first document ingested into it."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field

from app.api.errors import error_response
from app.api.middleware import ApiKeys, require_writer
from app.api.schemas import WireModel
from app.bootstrap.collections import Collections
from graph.errors import UnknownCollection

PATH = "/api/v1/collections"
DEFAULT_COLLECTION = "corporate_documents"
"""The name in examples: the default of ``VECTOR_STORE_COLLECTION``."""
CollectionName = Annotated[
    str | None, Query(description="the collection; default: the service's own", examples=[DEFAULT_COLLECTION])
]


class CollectionList(WireModel):
    """The collections that the caller may search; ``default`` is searched where none is named."""

    collections: list[str] = Field(examples=[[DEFAULT_COLLECTION]])
    default: str | None = Field(examples=[DEFAULT_COLLECTION])


class DeletedCollection(WireModel):
    """What was deleted."""

    name: str


def collection_routes(collections: Collections, keys: ApiKeys) -> APIRouter:
    """Return the two routes."""
    router = APIRouter(tags=["collections"])

    @router.get(PATH)
    async def listed() -> CollectionList:
        """Return the names of the collections that this caller may search."""
        try:
            default = await collections.resolve(None)
        except UnknownCollection:  # the first that the key names is not made yet
            default = None
        return CollectionList(collections=await collections.names(), default=default)

    @router.delete(PATH + "/{name}", response_model=DeletedCollection)
    async def delete(
        request: Request, name: Annotated[str, Path(description="not the default one", examples=["archive"])]
    ) -> DeletedCollection | Response:
        """Delete a collection with its documents and the files uploaded to it. Who may upload may delete."""
        require_writer(request, keys)
        try:
            await collections.delete(name)
        except UnknownCollection as error:
            return error_response(404, error.message, None, **error.details)
        return DeletedCollection(name=name)

    return router

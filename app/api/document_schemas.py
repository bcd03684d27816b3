"""Wire objects of stored documents and ingested folders."""

from pydantic import Field

from app.api.schemas import NamedChunk, WireModel


class StoredChunk(NamedChunk):
    """A chunk as it is stored. ``start`` and ``end`` of an evidence row count code points of ``text``."""

    text: str
    url: str | None
    chapter: str | None
    section: str | None
    page: int | None = Field(description="1-based")


class StoredDocument(WireModel):
    """One document of the list."""

    id: str = Field(examples=["handbook.md"])
    title: str = Field(examples=["Handbook"])
    chunks: int
    ingested_at: str | None = Field(description="UTC, ISO 8601", examples=["2026-11-23T09:30:00+00:00"])
    has_file: bool = Field(description="whether its file can be read again")


class DocumentList(WireModel):
    """Documents in the order of their ids; ``total`` counts all that are stored."""

    documents: list[StoredDocument]
    total: int


class DocumentText(WireModel):
    """A document's chunks in their order, from the one at ``offset``; ``total`` counts all of them."""

    id: str
    title: str
    total: int
    offset: int
    has_file: bool
    chunks: list[StoredChunk]


class SyncedFolder(WireModel):
    """A file or folder that was ingested on the machine that serves."""

    path: str = Field(examples=["/srv/handbook"])
    synced_at: str = Field(description="when its documents were last in step; UTC, ISO 8601")
    watched: bool = Field(description="whether `garden ingest --watch` keeps them so")


class FolderList(WireModel):
    """The ingested files and folders, by path."""

    folders: list[SyncedFolder]


class DeletedDocument(WireModel):
    """What was deleted, and what that means for the next ingest."""

    id: str
    chunks: int
    note: str

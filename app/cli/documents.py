"""``garden documents`` and ``garden collections``: list what is stored, print a document's text, or delete."""

from typing import Annotated

import typer
from pydantic import BaseModel

from app.api import documents
from app.bootstrap.storage import Storage, open_storage
from app.cli.shared import FAILED, OK, CollectionOption, JsonFlag, print_error, print_json, run_opened
from app.ingest.documents import nfc
from graph.errors import InvalidInput


def run_documents(
    document: Annotated[str | None, typer.Argument(help="the document to print; without one all are listed")] = None,
    delete: Annotated[bool, typer.Option("--delete", help="delete it; its file stays")] = False,
    collection: CollectionOption = None,
    as_json: JsonFlag = False,
) -> int:
    """List the documents, or print the text of one as it was read and is searched, with its pages; or delete it."""
    if delete and document is None:
        raise InvalidInput("--delete needs the id of a document.", "document")
    document = document and nfc(document)

    async def work(storage: Storage) -> BaseModel | None:
        async with storage.collections.use(collection) as opened:
            if document is None:
                return await documents.list_documents(opened)
            if delete:
                return await documents.delete_document(opened, document)
            return await documents.read_document(opened, document)

    found = run_opened(open_storage, work)
    if found is None:
        print_error(f"No document has the id {document}: garden documents lists them.", "InvalidInput")
        return FAILED
    if as_json:
        print_json(found)
    else:
        print("\n".join(lines(found)))  # noqa: T201  # a command's output
    return OK


def run_collections(
    delete: Annotated[
        str | None, typer.Option("--delete", metavar="NAME", help="delete this collection with all its documents")
    ] = None,
    as_json: JsonFlag = False,
) -> int:
    """List the collections, one a line, or delete one. garden ingest --collection NAME makes one."""

    async def work(storage: Storage) -> list[str]:
        if delete is not None:
            await storage.collections.delete(delete)
        return await storage.collections.names()

    names = run_opened(open_storage, work)
    if as_json:
        print_json({"collections": names})
    else:
        print("\n".join(names))  # noqa: T201  # a command's output
    return OK


def lines(found: BaseModel) -> list[str]:
    """Return what is printed of a list of documents, of a document's text, or of what was deleted."""
    if isinstance(found, documents.DeletedDocument):
        return [f"{found.id}: {counted(found.chunks)} deleted. {found.note}"]
    if isinstance(found, documents.DocumentText):
        pages = [f" (page {chunk.page})" if chunk.page else "" for chunk in found.chunks]
        return [f"── {chunk.chunk_id}{page}\n{chunk.text}\n" for chunk, page in zip(found.chunks, pages, strict=True)]
    assert isinstance(found, documents.DocumentList)
    shown = [f"{row.id}  ({counted(row.chunks)})" for row in found.documents]
    if found.total > len(shown):
        shown.append(f"and {found.total - len(shown)} more")
    return shown


def counted(chunks: int) -> str:
    return f"{chunks} chunk{'' if chunks == 1 else 's'}"

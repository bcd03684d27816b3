"""``garden collections``: list the collections of the store, or delete one."""

from typing import Annotated

import typer

from app.bootstrap.storage import Storage
from app.cli.shared import OK, JsonFlag, print_json, run_in_storage


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

    names = run_in_storage(work)
    if as_json:
        print_json({"collections": names})
    else:
        print("\n".join(names))  # noqa: T201  # a command's output
    return OK

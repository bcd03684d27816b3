"""The commands that move or mend whole collections: export, import, push, check."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

CollectionOption = Annotated[str | None, typer.Option(help="another collection than VECTOR_STORE_COLLECTION")]
JsonFlag = Annotated[bool, typer.Option("--json", help="print JSON")]


def add_commands(app: typer.Typer, errors: Callable[[], AbstractContextManager[None]]) -> None:
    """Put the commands into *app*; *errors* turns errors of the tree into a line and an exit status."""

    @app.command()
    def export(
        file: Annotated[Path, typer.Argument(help="file to write", dir_okay=False)],
        collection: CollectionOption = None,
        as_json: JsonFlag = False,
    ) -> None:
        """Write a whole collection into one file: documents, chunks, vectors."""
        with errors():
            from app.cli.transfer import run_export

            raise typer.Exit(run_export(file, collection=collection, as_json=as_json))

    @app.command(name="import")
    def import_(
        file: Annotated[Path, typer.Argument(help="file that garden export wrote", dir_okay=False)],
        collection: CollectionOption = None,
        as_json: JsonFlag = False,
    ) -> None:
        """Read a file of garden export into a collection; nothing of it is embedded again."""
        with errors():
            from app.cli.transfer import run_import

            raise typer.Exit(run_import(file, collection=collection, as_json=as_json))

    @app.command()
    def push(
        to: Annotated[str, typer.Option(help="qdrant or chroma: QDRANT_URL or VECTOR_STORE_URL says where")],
        collection: CollectionOption = None,
        as_json: JsonFlag = False,
    ) -> None:
        """Copy an embedded collection to a server; a second run goes on where the first one ended."""
        with errors():
            from app.cli.transfer import run_push

            raise typer.Exit(run_push(to, collection=collection, as_json=as_json))

    @app.command()
    def check(
        collection: CollectionOption = None,
        repair: Annotated[bool, typer.Option("--repair", help="make what is damaged anew from its documents")] = False,
        as_json: JsonFlag = False,
    ) -> None:
        """See whether an embedded collection is as it was written."""
        with errors():
            from app.cli.check import run_check

            raise typer.Exit(run_check(collection=collection, repair=repair, as_json=as_json))

"""``garden keys``: add, list and remove API keys that see only some collections."""

from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli.shared import OK, JsonFlag, print_json, print_note
from app.ops.key_file import KeyFile
from app.providers.stores import COLLECTION_NAME
from app.settings import load_settings
from graph.errors import InvalidInput

MAX_NAME_CHARS = 100


def run_keys(
    action: Annotated[Literal["add", "list", "remove"], typer.Argument(help="what to do")],
    name: Annotated[str | None, typer.Argument(help="the key's name, for add and remove")] = None,
    collections: Annotated[str, typer.Option(help="comma-separated: what the key sees, for add")] = "",
    read_only: Annotated[bool, typer.Option("--read-only", help="the key adds and deletes no documents")] = False,
    as_json: JsonFlag = False,
) -> int:
    """Add, list and remove API keys that see only some collections; running servers take them up by themselves.

    The keys of API_KEYS see everything. Once there is a key of either kind, every request needs one.
    """
    file = KeyFile(load_settings().data_dir)
    if action == "list":
        return _list(file, as_json=as_json)
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable() or "/" in name:
        raise InvalidInput(
            f"garden keys {action} needs a name of at most {MAX_NAME_CHARS} characters, without /.", "name"
        )
    if action == "remove":
        if not file.remove(name):
            raise InvalidInput(f"There is no key named {name!r}.", "name")
        return OK
    seen = [name.strip() for name in collections.split(",") if name.strip()]
    if not seen or not all(COLLECTION_NAME.fullmatch(name) for name in seen):
        raise InvalidInput("garden keys add needs --collections, names with commas between them.", "collections")
    key = file.add(name, seen, read_only=read_only)
    if as_json:
        print_json({"name": name, "key": key, "collections": seen, "readOnly": read_only})
    else:
        print(key)  # noqa: T201  # a command's output
        print_note("Keep it: only its hash is stored, and it is not shown again.")
    return OK


def _list(file: KeyFile, *, as_json: bool) -> int:
    keys = file.read()
    if as_json:
        shown = {"name", "collections", "created"}
        print_json({"keys": [key.model_dump(include=shown) | {"readOnly": key.read_only} for key in keys]})
        return OK
    table = Table("name", "collections", "may write", "created")
    for key in keys:
        table.add_row(
            escape(key.name), escape(", ".join(key.collections)), "no" if key.read_only else "yes", key.created
        )
    Console(highlight=False).print(table)
    return OK

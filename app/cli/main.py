"""The command ``garden``; each command's module is loaded when it is run."""

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = {
    "serve": ("serve.run_server", "Serve the HTTP APIs and the page."),
    "ingest": ("ingest.run_ingest", "Store documents: files, folders, web pages."),
    "ask": ("ask.run_ask", "Ask a question; print the answer with its sources."),
    "search": ("ask.run_search", "List the chunks nearest to a query, and the context assembled from them."),
    "health": ("health.run_health", "Check every part: store, embedding model, chat model."),
    "mcp": ("serve.run_mcp", "Serve the Model Context Protocol on standard input and output."),
    "eval": ("evaluation.run.run_eval", "Measure answers, citations and abstention on question files."),
    "calibrate": ("evaluation.calibrate.run_calibrate", "Fit the relevance to your documents and embedding model."),
    "export": ("transfer.run_export", "Write a whole collection to one file: documents, chunks, vectors."),
    "import": ("transfer.run_import", "Read a file written by garden export, without embedding again."),
    "push": ("transfer.run_push", "Copy an embedded collection to a server; a second run copies what is missing."),
    "collections": ("documents.run_collections", "List the collections, or delete one."),
    "documents": ("documents.run_documents", "List the documents, print the text of one, or delete it."),
    "keys": ("keys.run_keys", "Add, list and remove API keys that see only some collections."),
    "reembed": ("reembed.run_reembed", "Embed a collection again with EMBEDDING_MODEL, while it is served."),
    "check": ("check.run_check", "Check an embedded collection for damage."),
}
"""Every command: its function, which returns the exit status, and its line of ``garden --help``."""
SETTINGS = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command whose function, arguments and help are loaded when it is run."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        module, _, function = COMMANDS[self.name or ""][0].rpartition(".")
        single = typer.Typer(context_settings=SETTINGS, add_completion=False)
        single.command(self.name)(getattr(import_module(f"app.cli.{module}"), function))
        return typer.main.get_command(single).make_context(info_name, args, parent, **extra)


class CommandGroup(TyperGroup):
    """Exits with the command's status; prints an expected error as one line on stderr."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: Command(name, help=text, callback=None) for name, (_, text) in COMMANDS.items()}

    def invoke(self, ctx: Any) -> Any:
        from graph.errors import ConfigurationError, InvalidInput, RAGError

        try:
            status = super().invoke(ctx)
        except RAGError as error:
            from app.cli.shared import FAILED, USAGE, print_error

            print_error(error.message, type(error).__name__, error.cause_text)
            status = USAGE if isinstance(error, ConfigurationError | InvalidInput) else FAILED
        except KeyboardInterrupt:
            status = 130
        except BrokenPipeError:
            sys.stderr.close()
            status = 1
        ctx.exit(status or 0)


app = typer.Typer(name="garden", cls=CommandGroup, pretty_exceptions_enable=False, context_settings=SETTINGS)


@app.callback(invoke_without_command=True)
def garden(context: typer.Context) -> None:
    """Answers from your own documents, every citation verified."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command; the console script's entry point."""
    app()

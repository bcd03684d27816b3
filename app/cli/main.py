"""The command ``garden``: each command parses its arguments and calls one function, which returns the exit status.

Exit statuses: 0 done; 1 a part failed or nothing was found; 2 a wrong argument, setting or input.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

GREETING = """Knowledge Garden: answers from your own documents, every citation verified.

  garden serve              serve on http://127.0.0.1:8000
  garden ingest PATH…       store documents
  garden ask "QUESTION"     ask a question about them
  garden search "QUERY"     list the chunks a query finds
  garden health             check every part

garden --help lists all commands."""

CHAT_HELP = 'go on asking, one question a line; one such as "and for contractors?" is completed from those before'
CollectionOption = Annotated[str | None, typer.Option(help="collection to use [VECTOR_STORE_COLLECTION]")]
JsonFlag = Annotated[bool, typer.Option("--json", help="print JSON")]


class CommandGroup(TyperGroup):
    """Exit with the status a command returns; print an expected error as one line on stderr."""

    def invoke(self, ctx: Any) -> Any:
        from graph.errors import ConfigurationError, InvalidInput, RAGError

        try:
            status = super().invoke(ctx)
        except RAGError as error:
            from app.cli.shared import FAILED, USAGE, print_error

            print_error(error.message, type(error).__name__)
            status = USAGE if isinstance(error, ConfigurationError | InvalidInput) else FAILED
        except KeyboardInterrupt:
            status = 130
        except BrokenPipeError:
            sys.stderr.close()
            status = 1
        ctx.exit(status or 0)


app = typer.Typer(
    name="garden",
    cls=CommandGroup,
    help="Answers from your own documents, every citation verified.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def greet(context: typer.Context) -> None:
    """Print a greeting when no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(GREETING)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to serve on [HOST]")] = None,
    port: Annotated[int | None, typer.Option(help="port to serve on [PORT]", min=0, max=65535)] = None,
    ingest_samples: Annotated[
        bool, typer.Option("--ingest-samples", help="ingest the sample documents if the embedded collection is empty")
    ] = False,
    as_json: JsonFlag = False,
) -> int:
    """Serve the HTTP APIs and the page."""
    from app.cli.serve import run_server

    return run_server(host=host, port=port, ingest_samples=ingest_samples, as_json=as_json)


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="the question; may be left out with --chat")] = None,
    chat: Annotated[bool, typer.Option("--chat", help=CHAT_HELP)] = False,
    source: Annotated[str | None, typer.Option(help="answer from this document alone")] = None,
    as_json: JsonFlag = False,
) -> int:
    """Ask a question; print the answer with its sources."""
    from app.cli.ask import run_ask

    if question is None and not chat:
        raise typer.BadParameter("a question is needed, or --chat", param_hint="QUESTION")
    return run_ask(question, source=source, as_json=as_json, chat=chat)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="what to look for")],
    k: Annotated[int, typer.Option("-k", help="how many chunks, 3 to 8")] = 5,
    as_json: JsonFlag = False,
) -> int:
    """List the chunks nearest to a query, and the context assembled from them."""
    from app.cli.ask import run_search

    return run_search(query, k, as_json=as_json)


@app.command()
def ingest(
    paths: Annotated[list[str], typer.Argument(help="files and folders, or web addresses: a page, a sitemap (.xml)")],
    collection: CollectionOption = None,
    prune: Annotated[
        bool, typer.Option(help="remove documents that came from these paths and are no longer there")
    ] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="the paths are JSON Lines files of tasks")] = False,
    max_pages: Annotated[int, typer.Option(help="most pages of a web address", min=1)] = 1000,
    max_seconds: Annotated[float, typer.Option(help="most seconds spent on fetching a web address", min=1)] = 600,
    allow_private: Annotated[bool, typer.Option("--allow-private", help="fetch from private addresses too")] = False,
    as_json: JsonFlag = False,
) -> int:
    """Store documents: Markdown, text, reStructuredText, HTML, PDF, Office files, CSV, EPUB, e-mail, JSON Lines.

    A web address stands for its page, a sitemap for its pages: HTML, text, Markdown and PDF of one host.
    """
    from app.cli.ingest import run_ingest

    web = (max_pages, max_seconds, allow_private)
    return run_ingest(paths, collection=collection, prune=prune, tasks=tasks, as_json=as_json, web=web)


@app.command()
def health(as_json: JsonFlag = False) -> int:
    """Check every part: store, embedding model, chat model."""
    from app.cli.ask import run_health

    return run_health(as_json=as_json)


@app.command(name="eval")
def evaluate(
    questions: Annotated[list[Path], typer.Argument(help="question files: JSON Lines, or sample_queries.json")],
    corpus: Annotated[list[Path] | None, typer.Option(help="ingest these into a new collection first")] = None,
    picture: Annotated[Path | None, typer.Option(help="write an SVG chart to this file")] = None,
    as_json: JsonFlag = False,
) -> int:
    """Measure retrieval, relevance, answers, citations and abstention on question files."""
    from app.cli.evaluation.run import run_eval

    return run_eval(questions, corpus or [], as_json=as_json, picture=picture)


@app.command()
def calibrate(
    questions: Annotated[
        list[Path] | None, typer.Argument(help="question files, as for garden eval [the documents' headings]")
    ] = None,
    as_json: JsonFlag = False,
) -> int:
    """Fit the relevance to your documents and embedding model."""
    from app.cli.evaluation.calibrate import run_calibrate

    return run_calibrate(questions or [], as_json=as_json)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="file to write", dir_okay=False)],
    collection: CollectionOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Write a whole collection to one file: documents, chunks, vectors."""
    from app.cli.transfer import run_export

    return run_export(file, collection=collection, as_json=as_json)


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help="file written by garden export", dir_okay=False)],
    collection: CollectionOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Read a file written by garden export into a collection, without embedding again."""
    from app.cli.transfer import run_import

    return run_import(file, collection=collection, as_json=as_json)


@app.command()
def push(
    to: Annotated[str, typer.Option(help="qdrant (QDRANT_URL) or chroma (VECTOR_STORE_URL)")],
    collection: CollectionOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Copy an embedded collection to a server; a second run copies what is missing."""
    from app.cli.transfer import run_push

    return run_push(to, collection=collection, as_json=as_json)


@app.command()
def check(
    collection: CollectionOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="ingest damaged documents again")] = False,
    as_json: JsonFlag = False,
) -> int:
    """Check an embedded collection for damage."""
    from app.cli.check import run_check

    return run_check(collection=collection, repair=repair, as_json=as_json)


def main() -> None:
    """Run the command; the console script's entry point."""
    app()

"""The command ``garden``: argv -> service -> stdout. Errors are one line on stderr and an exit status.

Exit statuses: 0 done; 1 a part failed or nothing was found; 2 wrong usage, setting or input.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.collections import add_commands

if TYPE_CHECKING:
    from graph.errors import RAGError

app = typer.Typer(
    name="garden",
    help="Answers from your own documents, every citation verified.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GREETING = """Knowledge Garden: answers from your own documents, every citation verified.

  garden serve              serve on http://127.0.0.1:8000
  garden ingest PATH…       plant documents
  garden ask "QUESTION"     ask them
  garden search "QUERY"     see which chunks a query finds
  garden health             see what is well and what is not

garden --help lists everything."""

EXIT_FAILED, EXIT_USAGE = 1, 2

GC_THRESHOLDS = (50_000, 20, 50)
"""New objects between two collections of the youngest generation, and collections of each between two of the next.

With Python's own, a tenth of the time in which the libraries are imported goes into looking through what all stays."""

JsonFlag = Annotated[bool, typer.Option("--json", help="print JSON")]


@app.callback(invoke_without_command=True)
def greet(context: typer.Context) -> None:
    """Greet when no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(GREETING)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to serve on [HOST]")] = None,
    port: Annotated[int | None, typer.Option(help="port to serve on [PORT]", min=0, max=65535)] = None,
    plant: Annotated[bool, typer.Option(help="plant the sample garden if the collection is empty")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Serve every HTTP door."""
    with _errors():
        from app.cli.serve import run_server

        run_server(host=host, port=port, plant=plant, as_json=as_json)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="what you want to know")],
    source: Annotated[str | None, typer.Option(help="only this document")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask a question and read the answer with its sources."""
    with _errors():
        from app.cli.ask import run_ask

        raise typer.Exit(run_ask(question, source=source, as_json=as_json))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="what to look for")],
    k: Annotated[int, typer.Option("-k", help="how many chunks, 3 to 8")] = 5,
    as_json: JsonFlag = False,
) -> None:
    """Show the chunks nearest to a query, and the context assembled from them."""
    with _errors():
        from app.cli.ask import run_search

        raise typer.Exit(run_search(query, k, as_json=as_json))


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="files and folders")],
    collection: Annotated[str | None, typer.Option(help="collection to fill [VECTOR_STORE_COLLECTION]")] = None,
    prune: Annotated[bool, typer.Option(help="remove what these paths brought and no longer hold")] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="the paths are JSON Lines files of tasks")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Plant documents: Markdown, text, reStructuredText, HTML, PDF, JSON Lines."""
    with _errors():
        from app.cli.ingest import run_ingest

        raise typer.Exit(run_ingest(paths, collection=collection, prune=prune, tasks=tasks, as_json=as_json))


@app.command()
def health(as_json: JsonFlag = False) -> None:
    """Probe every part."""
    with _errors():
        from app.cli.ask import run_health

        raise typer.Exit(run_health(as_json=as_json))


@app.command(name="eval")
def evaluate(
    questions: Annotated[list[Path], typer.Argument(help="question files: JSON Lines, or door L's JSON")],
    corpus: Annotated[list[Path] | None, typer.Option(help="documents to plant into a fresh garden first")] = None,
    picture: Annotated[Path | None, typer.Option(help="write an SVG here")] = None,
    max_sources: Annotated[int | None, typer.Option(help="as in POST /query", min=1, max=50)] = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure retrieval, relevance, answers, citations and abstention on a question file."""
    with _errors():
        from app.cli.evaluation.command import run_eval

        status = run_eval(questions, corpus or [], as_json=as_json, picture=picture, max_sources=max_sources)
        raise typer.Exit(status)


@app.command()
def calibrate(
    questions: Annotated[
        list[Path] | None, typer.Argument(help="questions about your garden, as for garden eval [its headings]")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="keep the new calibration even if it does worse")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Fit relevance to your own garden and embedding model, from questions or from the documents' headings."""
    with _errors():
        from app.cli.evaluation.calibrate import run_calibrate

        raise typer.Exit(run_calibrate(questions or [], keep=keep, as_json=as_json))


@contextmanager
def _errors() -> Iterator[None]:
    """Errors of the tree as one line on stderr: status 2 for what the caller can mend, 1 for a part that failed."""
    from graph.errors import ConfigurationError, InvalidInput, RAGError

    try:
        yield
    except (ConfigurationError, InvalidInput) as error:
        _complain(error)
        raise typer.Exit(EXIT_USAGE) from None
    except RAGError as error:
        _complain(error)
        raise typer.Exit(EXIT_FAILED) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise typer.Exit(EXIT_FAILED) from None


def _complain(error: RAGError) -> None:
    """One line on stderr: what went wrong and what to do; red on a terminal that wants colour (``NO_COLOR``)."""
    from rich.console import Console
    from rich.text import Text

    from app.cli.advice import advised

    Console(stderr=True, soft_wrap=True).print(Text(f"garden: {advised(error)}", style="red"))


add_commands(app, _errors)


def main() -> None:
    """The console script."""
    gc.set_threshold(*GC_THRESHOLDS)
    app()


if __name__ == "__main__":
    main()

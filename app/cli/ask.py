"""``garden ask`` and ``garden search``."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import Annotated, Any
from uuid import uuid4

import typer
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from answering.render import snippet
from answering.text.sentences import sentence_spans
from answering.text.terms import question_stems, stems
from answering.types import Chunk, Citation
from app.api.schemas import answer_body, result_body
from app.bootstrap.compose import build_container
from app.cli import shared
from app.query_service.chunk_search import clamped, search
from app.query_service.service import QueryService
from graph.errors import CollectionMissing
from graph.state import Result

CHAT_HELP = 'go on asking, one question a line; one such as "and for contractors?" is completed from those before'
EMPTY = "The collection is empty. Ingest documents first: garden ingest PATH…"
WHOLE_LINES = 1_000_000
"""Width of what is no terminal: a pipe gets whole lines."""


def run_ask(
    question: Annotated[str | None, typer.Argument(help="the question; may be left out with --chat")] = None,
    chat: Annotated[bool, typer.Option("--chat", help=CHAT_HELP)] = False,
    collection: shared.NamedCollection = None,
    source: shared.SourceOption = None,
    filters: shared.FilterOption = None,
    as_json: shared.JsonFlag = False,
) -> int:
    """Ask a question; print the answer as it comes, then its sources."""
    if question is None and not chat:
        raise typer.BadParameter("a question is needed, or --chat", param_hint="QUESTION")
    out = Console(highlight=False)
    if not out.is_terminal:
        out.width = WHOLE_LINES
    conversation = uuid4().hex if chat else None
    scope = {"source": source or None, "filters": shared.filters_of(filters), "collection": collection}
    status = shared.OK
    with asyncio.Runner() as runner:  # between questions no loop runs, so that Ctrl+C ends the wait for a line
        container = build_container()
        service = container.service
        try:
            if conversation and service.conversations:
                container.closing.push_async_callback(service.conversations.forget, conversation)
            for text in chain([question] if question is not None else (), _lines() if chat else ()):
                result = runner.run(_ask(out, service, {"query": text, **scope}, conversation))
                status = _show(out, result, text, as_json=as_json)
        finally:
            runner.run(container.aclose())
    return status


def _lines() -> Iterator[str]:
    """Yield the lines typed, but for empty ones, until the end of input or Ctrl+C."""
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            if line := input("\n? " if sys.stdin.isatty() else "").strip():
                yield line


async def _ask(out: Console, service: QueryService, fields: dict[str, Any], conversation: str | None) -> Result:
    """Run the question; a terminal shows the provisional text until the verified answer replaces it."""
    streamed, result = Text(), None
    with Live(Spinner("dots", "searching the documents …"), console=out, transient=True) as screen:
        async for event in service.stream(fields, conversation=conversation):
            if event.kind == "token":
                screen.update(streamed.append(event.text))
            result = event.result
    assert result is not None  # every stream ends with one
    return result


def _show(out: Console, result: Result, question: str, *, as_json: bool) -> int:
    """Print the end of a question. Returns the exit status."""
    if as_json:
        body = result_body(result, evidence=True)
        shared.print_json({**body, "rewritten": result.rewritten} if result.rewritten else body)
    elif result.rewritten:
        out.print(Text(f"Asked as: {result.rewritten}", style="dim"), soft_wrap=True)
    if result.failure:
        shared.print_error(result.failure.message, result.failure.error_type, result.failure.cause_text)
        return shared.USAGE if result.outcome == "invalid_input" else shared.FAILED
    if not as_json:
        _print_answer(out, result, result.rewritten or question)
    return shared.OK


def _print_answer(out: Console, result: Result, question: str) -> None:
    """Print the answer, then each source with its quoted sentences; for a decline, the closest passages."""
    body = answer_body(result, evidence=True)
    cited, closest = body["citedDocuments"], body.get("closest", ())
    out.print(Text(body["answer"]))
    if not cited and not body["metadata"]["chunksRetrieved"]:
        shared.print_note(EMPTY)
    for claim in body["metadata"]["unsupported"] if cited else ():
        out.print(Text(f"not verified: {' '.join(claim.split())}", style="yellow"))
    if closest:
        out.print(Text("\nClosest passages:", style="dim"))
    chunks = {chunk.chunk_id: chunk for chunk in result.chunks}
    for passage in closest:
        chunk = chunks[passage["chunkId"]]
        where = _joined(chunk.document_id, *_position(chunk), f"relevance {chunk.relevance or 0.0:.2f}")
        _print_source(out, "", passage["title"], where)
        _print_indented(out, best_part(chunk.text, question), "dim")
    for marker, document in enumerate(cited, 1):
        _print_source(out, f"[{marker}] ", document["title"], document["url"] or document["id"])
        quoted = [citation for citation in result.citations if citation.marker == marker]
        for quote, where in dict.fromkeys((citation.quote, _joined(*_position(citation))) for citation in quoted):
            _print_indented(out, f"“{quote}”{f' ({where})' if where else ''}", "italic")


def _position(of: Chunk | Citation) -> tuple[str | None, str | None]:
    return of.section, f"page {of.page}" if of.page else None


def _joined(*words: str | None) -> str:
    return " · ".join(filter(None, words))


def best_part(text: str, question: str) -> str:
    """Cut *text* around the sentence that shares most words with *question*."""
    terms = set(question_stems(question))
    shared = [(len(terms.intersection(stems(text[start:end]))), start, end) for start, end in sentence_spans(text)]
    return snippet(text, *max(shared, key=itemgetter(0), default=(0, 0, 0))[1:])


def _print_source(out: Console, marker: str, title: str, address: str) -> None:
    named = title and title != address
    out.print(Text.assemble(("\n" + marker, "bold"), title or address, (f"  {address}" if named else "", "dim")))


def _print_indented(out: Console, text: str, style: str) -> None:
    out.print(Padding(Text(" ".join(text.split()), style), (0, 0, 0, 4), expand=False))


def run_search(
    query: Annotated[str, typer.Argument(help="what to look for")],
    k: Annotated[int, typer.Option("-k", help="how many chunks, 3 to 8")] = 5,
    collection: shared.NamedCollection = None,
    source: shared.SourceOption = None,
    filters: shared.FilterOption = None,
    as_json: shared.JsonFlag = False,
) -> int:
    """List the chunks nearest to a query, and the context assembled from them."""
    scope = (source or None, shared.filters_of(filters), collection)
    try:
        response = shared.run_opened(
            build_container, lambda opened: search(opened.collections, opened.settings, query, k, *scope)
        )
    except CollectionMissing:
        if as_json:
            shared.print_json({"query": query, "k": clamped(k), "results": [], "context": ""})
        raise
    if as_json:
        shared.print_json(response)
    if not response.results:
        shared.print_note(f"garden: {EMPTY}")
        return shared.FAILED
    if not as_json:
        out = Console(highlight=False)
        table = Table("#", "score", "title", "chapter", "section", "source")
        for rank, hit in enumerate(response.results, 1):
            cells = (hit.title, hit.chapter or "", hit.section or "", hit.source_url or "")
            table.add_row(str(rank), f"{hit.score:.4f}", *map(escape, cells))
        out.print(table)
        out.print()
        out.print(escape(response.context), soft_wrap=True)
    return shared.OK

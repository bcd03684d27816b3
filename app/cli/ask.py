"""``garden ask``, ``garden search`` and ``garden health``: what a person reads in the terminal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.api.schemas import wire_event
from app.bootstrap.compose import AppContainer, build_container
from app.cli.advice import EMPTY, HEALTH
from app.query_service.search import clamped, search
from app.settings import load_settings
from graph.errors import CollectionMissing, InvalidInput, Overloaded, RAGError, RetrievalFailed, SynthesisFailed

OK, FAILED = 0, 1
CLOSEST_CHARS = 300
"""Of a passage that is shown because it comes close to an answer."""


def run_ask(question: str, *, source: str | None, as_json: bool) -> int:
    """Ask; print the answer as it comes, then its sources. Returns the exit status."""
    return asyncio.run(_ask({"query": question, "source": source}, as_json))


def run_search(query: str, k: int, *, as_json: bool) -> int:
    """Search; print a ranked table and the assembled context. Nothing found is exit status 1."""
    return asyncio.run(_search(query, k, as_json))


def run_health(*, as_json: bool) -> int:
    """Probe every part; exit status 1 when the service could not answer."""
    return asyncio.run(_health(as_json))


@asynccontextmanager
async def _opened() -> AsyncGenerator[AppContainer]:
    """What the settings describe, closed again at the end."""
    container = build_container(load_settings())
    try:
        yield container
    finally:
        await container.aclose()


async def events_of(container: AppContainer, fields: dict[str, Any]) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
    """The events of ``POST /query/stream``, name and data; always ends with "answer" or "error"."""
    async for event in container.service.stream(fields):
        yield wire_event(event, evidence=True)


def _error_of(body: dict[str, Any]) -> RAGError:
    """The error of the tree that an error body stands for."""
    message = str(body.get("message", "The request failed."))
    if body.get("error") == "VALIDATION_ERROR":
        return InvalidInput(message, str(body.get("details", {}).get("field", "query")))
    if body.get("error") == "SYNTHESIS_FAILED":
        return SynthesisFailed(message)
    if body.get("error") == "OVERLOADED":
        return Overloaded(message)
    return RetrievalFailed(message)


async def _ask(fields: dict[str, Any], as_json: bool) -> int:
    out = Console(highlight=False)
    streamed = Text()
    live = Live(streamed, console=out, transient=True) if out.is_terminal and not as_json else None
    body: dict[str, Any] = {}
    async with _opened() as container:
        with Console(stderr=True).status("searching the documents …") as waiting:  # shows on a terminal only
            try:
                async for name, data in events_of(container, fields):
                    waiting.stop()
                    if name == "token" and live:  # what it shows is provisional: the verified answer takes its place
                        streamed.append(data["text"])
                        live.start(refresh=True)
                    elif name in ("answer", "error"):
                        body = data
            finally:
                if live:
                    live.stop()
    if as_json:
        _print_json(body)
    if "error" in body:
        raise _error_of(body)
    if not as_json:
        _print_answer(out, body)
    return OK


def _print_answer(out: Console, body: dict[str, Any]) -> None:
    """The answer, then each source once with the sentences that are quoted from it."""
    whole = not out.is_terminal  # in a pipe a line is what it is; on a screen it is broken between words
    out.print(Text(body["answer"]), soft_wrap=whole)
    if not body["citedDocuments"] and not body["metadata"]["chunksRetrieved"]:
        Console(stderr=True).print(f"The collection is empty. {EMPTY}", soft_wrap=True)
    for claim in body["metadata"]["unsupported"] if body["citedDocuments"] else ():
        out.print(Text(f"not verified: {' '.join(claim.split())}", style="yellow"), soft_wrap=whole)
    if body.get("closest"):
        out.print("\nClosest passages:", style="dim")
    for one in body.get("closest", ()):
        out.print(
            f"\n{escape(one['title'] or one['documentId'])}  [dim]{escape(one['documentId'])}[/dim]", soft_wrap=whole
        )
        text = Text(" ".join(one["text"].split())[:CLOSEST_CHARS], style="dim")
        out.print(Padding(text, (0, 0, 0, 4), expand=False) if not whole else Text("    ") + text, soft_wrap=whole)
    for marker, document in enumerate(body["citedDocuments"], 1):
        title, place = document["title"] or document["id"], document["url"] or document["id"]
        where = f"  [dim]{escape(place)}[/dim]" if place != title else ""
        out.print(f"\n[bold]{escape(f'[{marker}]')}[/bold] {escape(title)}{where}", soft_wrap=whole)
        for quote in dict.fromkeys(e["quote"] for e in body["evidence"] if e["marker"] == marker):
            said = Text(f"“{' '.join(quote.split())}”", style="italic")
            out.print(Padding(said, (0, 0, 0, 4), expand=False) if not whole else Text("    ") + said, soft_wrap=whole)


async def _search(query: str, k: int, as_json: bool) -> int:
    try:
        async with _opened() as container:
            settings = container.settings
            seconds, most = settings.request_timeout_seconds, settings.max_query_chars
            found = (await search(container.retriever, query, k, seconds=seconds, most_chars=most)).model_dump()
    except CollectionMissing as error:
        if as_json:
            _print_json({"query": query, "k": clamped(k), "results": [], "context": ""})
        raise error from None
    if as_json:
        _print_json(found)
    if not found["results"]:
        print(f"garden: nothing found: the collection is empty. {EMPTY}", file=sys.stderr)  # noqa: T201  # a command's words
        return FAILED
    if not as_json:
        _print_results(found)
    return OK


def _print_results(found: dict[str, Any]) -> None:
    out = Console(highlight=False)
    table = Table("#", "score", "title", "chapter", "section", "source")
    for rank, hit in enumerate(found["results"], 1):
        cells = (hit["title"], hit["chapter"] or "", hit["section"] or "", hit["source_url"] or "")
        table.add_row(str(rank), f"{hit['score']:.4f}", *map(escape, cells))
    out.print(table)
    out.print()
    out.print(escape(found["context"]), soft_wrap=True)


async def _health(as_json: bool) -> int:
    async with _opened() as container:
        found = {**await container.health.check(), "notes": container.health.notes()}
    if as_json:
        _print_json(found)
    else:
        table = Table("part", "state")
        for part, state in found.items():
            if part != "notes":
                table.add_row(part, str(state))
        out = Console(highlight=False)
        out.print(table)
        for note in [*found["notes"], *filter(None, [HEALTH.get(found["status"])])]:
            out.print(escape(note), soft_wrap=True)
    return FAILED if found["status"] == "unhealthy" else OK


def _print_json(content: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()

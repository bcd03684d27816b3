"""``garden ask``, ``garden search`` and ``garden health``: what a person reads in the terminal."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import orjson
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.advice import EMPTY, HEALTH
from app.doorway import error_of, open_doorway
from app.settings import load_settings
from graph.errors import CollectionMissing

OK, FAILED = 0, 1


def run_ask(question: str, *, source: str | None, as_json: bool) -> int:
    """Ask; print the answer as it comes, then its sources. Returns the exit status."""
    return asyncio.run(_ask({"query": question, "source": source}, as_json))


def run_search(query: str, k: int, *, as_json: bool) -> int:
    """Search; print a ranked table and the assembled context. Nothing found is exit status 1."""
    return asyncio.run(_search(query, k, as_json))


def run_health(*, as_json: bool) -> int:
    """Probe every part; exit status 1 when the service could not answer."""
    return asyncio.run(_health(as_json))


async def _ask(fields: dict[str, Any], as_json: bool) -> int:
    out = Console(highlight=False)
    streamed = ""
    live = out.is_terminal and not as_json
    async with open_doorway(load_settings()) as garden:
        with Console(stderr=True).status("searching the documents …") as waiting:  # shows on a terminal only
            async for name, data in garden.ask(fields):
                waiting.stop()
                if name == "error":
                    if as_json:
                        _print_json(data)
                    raise error_of(data)
                if name == "token" and live:
                    streamed += data["text"]
                    out.print(escape(data["text"]), end="", soft_wrap=True)
                if name == "answer":
                    if as_json:
                        _print_json(data)
                    else:
                        _print_answer(out, data, streamed)
    return OK


def _print_answer(out: Console, body: dict[str, Any], streamed: str) -> None:
    """The verified answer, unless the stream already showed exactly it, and its sources once each."""
    if streamed.strip() != body["answer"].strip():
        if streamed:
            out.print("\n")
        out.print(escape(body["answer"]), soft_wrap=True)
    else:
        out.print()
    if not body["citedDocuments"]:
        if not body["metadata"]["chunksRetrieved"]:
            Console(stderr=True).print(f"The collection is empty. {EMPTY}", soft_wrap=True)
        return
    out.print()
    for marker, document in enumerate(body["citedDocuments"], 1):
        place = f" [dim]{escape(document['url'] or document['id'])}[/dim]"
        out.print(f"[bold]{escape(f'[{marker}]')}[/bold] {escape(document['title'])}{place}")
        for quote in dict.fromkeys(e["quote"] for e in body["evidence"] if e["marker"] == marker):
            out.print(f"    “{escape(' '.join(quote.split()))}”", style="italic", soft_wrap=True)


async def _search(query: str, k: int, as_json: bool) -> int:
    try:
        async with open_doorway(load_settings()) as garden:
            found = await garden.search(query, k)
    except CollectionMissing as error:
        if as_json:
            _print_json({"query": query, "k": max(3, min(8, k)), "results": [], "context": ""})
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
    async with open_doorway(load_settings()) as garden:
        found = await garden.health()
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

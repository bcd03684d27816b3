"""Serve the OpenAI wire, so that any chat client can ask: ``GET /v1/models`` and ``POST /v1/chat/completions``.

The last message of the user is the question, those before it the conversation; nothing is kept. ``content`` holds what
is verified, and nothing else: in a stream, the draft of a chat model comes as ``reasoning_content`` until then.

The package langgraph-openai-serve (0.31) does not carry this: it refuses a request with ``temperature`` or
``max_tokens``, fails where the final text is not the streamed one, and answers a failure of the graph with 500.
"""

import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from operator import itemgetter
from typing import Annotated, Any
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse, Response

from answering.types import Citation
from app.api import openai_schemas as wire
from app.api.errors import AnswerFailed, error_response, failure_body, openai_error
from app.api.openai_schemas import MODEL
from app.api.query import answered, event_response, event_stream, in_own_task, sse, unless_gone
from app.api.schemas import QueryResponse, answer_body
from app.ops.traffic import current_request_id
from app.pipeline.passages import tokens
from app.query_service.service import QueryService
from graph.state import Result

STREAM = event_stream(
    "chunks of OpenAI's wire, then `[DONE]`.",
    example='data: {"object": "chat.completion.chunk", "choices": []}\n\ndata: [DONE]\n\n',
)
ERRORS: dict[str, Any] = {"model": wire.OpenAIErrorBody, "description": "codes and statuses as on every path"}
URL_CHARACTERS = "%/:?#@!$&'*+,;=~"
"""What stays in a link beside letters and digits; a parenthesis would end it."""
_MARKDOWN = re.compile(r"[\\`*_\[\]<>!&|~]")


def chat_completion_routes(service: QueryService, send_timeout: float, *, drafts: bool) -> APIRouter:
    """Return the routes. *drafts*: a chat model writes, so there is something to read before the answer is verified.

    A client that reads no event for *send_timeout* seconds is disconnected.
    """
    router = APIRouter(prefix="/v1", tags=["openai"], responses=dict.fromkeys(("4XX", "5XX"), ERRORS))
    served = wire.Model(created=int(time.time()))

    @router.get("/models")
    async def models() -> wire.ModelList:
        """List the one model that there is."""
        return wire.ModelList(data=[served])

    @router.get("/models/{model}", response_model=wire.Model)
    async def one_model(model: Annotated[str, Path(examples=[MODEL])]) -> wire.Model | Response:
        """Return the one model that there is."""
        return served if model == MODEL else no_model(model)

    @router.post("/chat/completions", response_model=wire.ChatCompletion, responses={200: STREAM})
    async def chat_completions(request: Request, body: wire.ChatRequest) -> Response:
        """Answer the last message of the user from the documents, with verified citations."""
        if body.model != MODEL:
            return no_model(body.model)
        if not body.stream:
            result = await answered(request, service.ask(body.fields()))
            return JSONResponse(completion(request, body, result).model_dump(by_alias=True))
        return await event_response(_chunks(request, body, service, drafts=drafts), send_timeout)

    return router


def no_model(name: str) -> Response:
    """Return the response for a model that is not there."""
    return error_response(404, f"There is no model {name!r} here, only {MODEL!r}.", field="model")


def completion(request: Request, body: wire.ChatRequest, result: Result) -> wire.ChatCompletion:
    """Return the completion of a question that did not fail."""
    listed = body.knowledge_garden is None or body.knowledge_garden.sourceList is not False
    content = (result.answer or "") + (source_list(result.documents, result.citations) if listed else "")
    annotations = annotated(request, result, body.collection)
    prompt, written = sum(tokens(message.text) for message in body.messages), tokens(content)
    return wire.ChatCompletion(
        id=f"chatcmpl-{result.request_id}",
        created=int(time.time()),
        choices=[wire.Choice(message=wire.AnswerMessage(content=content, annotations=annotations))],
        usage=wire.Usage(prompt_tokens=prompt, completion_tokens=written, total_tokens=prompt + written),
        knowledge_garden=QueryResponse.model_validate(answer_body(result, evidence=True)),
    )


def annotated(request: Request, result: Result, collection: str | None) -> list[wire.Annotation]:
    """Return an annotation for each marker of the answer, in the order of the text.

    The address of a document without one on the web is that of the cited chunk in this service.
    """
    cited = dict(reversed(marked(result.citations, result.markers)))  # of several at one marker, the first
    of = f"?collection={quote(collection, safe='')}" if collection else ""
    annotations = []
    for (start, end), citation in sorted(cited.items(), key=itemgetter(0)):
        url = web_address(citation.url) or f"{request.base_url}api/v1/chunks/{quote(citation.chunk_id, safe='')}{of}"
        place = wire.UrlCitation(url=url, title=citation.title, start_index=start, end_index=end)
        annotations.append(wire.Annotation(url_citation=place))
    return annotations


def marked(
    citations: Sequence[Citation], markers: Mapping[int, Sequence[tuple[int, int]]]
) -> list[tuple[tuple[int, int], Citation]]:
    """Return each marker, its start and end, with its citation, in the order of the text."""
    found = [(span, citation) for index, citation in enumerate(citations) for span in markers.get(index, ())]
    return sorted(found, key=itemgetter(0))


def source_list(documents: Sequence[Mapping[str, Any]], citations: Sequence[Citation]) -> str:
    """Return the numbered list of the cited documents in Markdown, below a blank line; "" where there are none."""
    pages: dict[int, list[str]] = {}
    for citation in citations:
        place = citation.section if citation.page is None else f"page {citation.page}"
        pages.setdefault(citation.marker, []).append(place or "")
    lines = []
    for marker, document in enumerate(documents, 1):
        name = as_text(document["title"] or document["id"])
        if url := web_address(document["url"]):
            name = f"[{name}]({quote(url, safe=URL_CHARACTERS)})"
        lines.append(", ".join([f"{marker}. {name}", *map(as_text, filter(None, dict.fromkeys(pages[marker])))]))
    return "\n\nSources:\n\n" + "\n".join(lines) if lines else ""


def web_address(url: str | None) -> str:
    """Return *url* if a page may link to it, else ""."""
    return url if url and url.startswith(("http://", "https://")) else ""


def as_text(text: str) -> str:
    """Return *text* on one line, escaped so that Markdown shows it as it is: a title may be anybody's."""
    return " ".join(_MARKDOWN.sub(r"\\\g<0>", text).split())


async def _chunks(
    request: Request, body: wire.ChatRequest, service: QueryService, *, drafts: bool
) -> AsyncGenerator[bytes]:
    """Yield an empty piece as soon as the status is known, then the stream.

    Once a draft was sent, a failure is the last event, and has no status.
    """
    shape: dict[str, Any] = {"object": "chat.completion.chunk", "created": int(time.time()), "model": MODEL}
    usage = bool(body.stream_options and body.stream_options.include_usage)
    if usage:
        shape["usage"] = None

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return sse(orjson.dumps(shape | {"choices": [choice]} | more).decode())

    async with aclosing(in_own_task(service.stream(body.fields(), tokens=drafts))) as events:
        event = await unless_gone(request, anext(events))
        while event.kind == "rewritten" or not (event.result or drafts):
            event = await unless_gone(request, anext(events))
        if event.result and event.result.failure:
            raise AnswerFailed(event.result.failure)
        shape["id"] = f"chatcmpl-{event.result.request_id if event.result else current_request_id()}"
        yield b""
        yield chunk({"role": "assistant", "content": ""})
        while event.result is None:
            if event.kind == "token":
                yield chunk({"reasoning_content": event.text})
            event = await anext(events)
    if event.result.failure:
        yield sse(orjson.dumps(openai_error(failure_body(event.result.failure))).decode())
        return
    whole = completion(request, body, event.result).model_dump(by_alias=True)
    message = whole["choices"][0]["message"]
    yield chunk({"content": message["content"]})
    yield chunk({"annotations": message["annotations"]}, "stop", knowledge_garden=whole["knowledge_garden"])
    if usage:
        yield sse(orjson.dumps(shape | {"choices": [], "usage": whole["usage"]}).decode())
    yield sse("[DONE]")

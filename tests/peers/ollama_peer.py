"""A peer that speaks Ollama's protocol (docs/api.md of ollama/ollama): NDJSON streams, embeddings, tags, show."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import count
from typing import Any

from tests.peers.http_peer import HttpPeer
from tests.peers.reading import best_sentence, vector
from tests.peers.wire import SECRET, Hangup, Received, Reply

Answer = str | Callable[[Received], str]
LOADED = ["."]
"""The pieces of the reply for one token."""
_CHUNK = re.compile(r"Passage (\d+):[^\n]*\n<passage>\n(.*?)\n</passage>", re.DOTALL)
_QUESTION = re.compile(r"^Question: (.*)$", re.MULTILINE)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_CREATED = "2026-01-21T14:32:15.123Z"


class OllamaPeer(HttpPeer):
    """``answers`` are used up in order; when there are none, the peer answers from the chunks in the prompt."""

    def __init__(self, models: tuple[str, ...] = ("llama3.2:1b", "mistral:7b", "nomic-embed-text")) -> None:
        super().__init__()
        self.models = models
        self.answers: list[Answer] = []
        self.pause = 0.02
        """Seconds between the pieces of a dripping answer."""
        self.prompt_eval = (1, 1)
        """Tokens of a prompt and the nanoseconds of reading them, as it tells them at the end."""
        self.probabilities: dict[str, float] = {}
        """Those of the first token of a reply, told where a request asks for them."""
        self.loads: list[Received] = []
        """The requests for one token, with which a client has the model loaded; they are none of ``requests``."""
        self.overfull: list[int] = []
        """Tokens of each prompt that did not fit its ``num_ctx``; Ollama would silently have cut its beginning off."""

    async def respond(self, request: Received) -> Reply:
        match request.method, request.path:
            case "POST", "/api/chat" | "/api/generate":
                return self._generate(request)
            case "POST", "/api/embed":
                return self._embed(request.body)
            case "POST", "/api/show":
                return self._show(request.body)
            case "GET", "/api/tags":
                return _json({"models": [{"name": name, "model": name, "size": 1} for name in self.models]})
            case "GET", "/api/version":
                return _json({"version": "0.12.6"})
            case "GET", "/":
                return Reply(b"Ollama is running", content_type="text/plain; charset=utf-8")
        return Reply(b"404 page not found", 404, "text/plain")

    def prompt(self, place: int = -1) -> str:
        """All the text of the *place*-th generation, messages joined."""
        asked = [r.body for r in self.requests if r.path in ("/api/chat", "/api/generate")][place]
        return _prompt(asked)

    def _has(self, model: str) -> bool:
        return model in self.models or f"{model}:latest" in self.models

    def _generate(self, request: Received) -> Reply:
        body = request.body
        if not self._has(body["model"]):
            return _missing(body["model"])
        prompt, options = _prompt(body), body.get("options") or {}
        if options.get("num_predict") == 1 and not body.get("logprobs"):  # it is only to load the model
            self.loads.append(request)
            self.requests.remove(request)
            loading = self._stream(body["model"], LOADED, "length", request.path == "/api/chat")
            return Reply(loading if body.get("stream", True) else _whole(loading))
        size = len(_TOKEN.findall(prompt))
        if size > options.get("num_ctx", 4096):
            self.overfull.append(size)
        answer = self.answers.pop(0) if self.answers else read_and_answer
        text = answer(request) if callable(answer) else answer
        limit = options.get("num_predict", -1)
        pieces = re.findall(r"\S+\s*|\s+", text)
        reason = "length" if 0 < limit < len(pieces) else "stop"
        pieces = pieces[:limit] if reason == "length" else pieces
        chat = request.path == "/api/chat"
        stream = self._stream(body["model"], pieces, reason, chat)
        if body.get("stream", True):
            return Reply(stream, content_type="application/x-ndjson")
        if self._streaming == "error_event":
            return _json({"error": f"unexpected EOF {SECRET}"}, 500)
        members = {"logprobs": logprobs_of(self.probabilities)} if body.get("logprobs") and self.probabilities else {}
        return Reply(_whole(stream, members))

    def _done(self, reason: str, count: int) -> dict[str, Any]:
        read, nanoseconds = self.prompt_eval
        reading = {"load_duration": 1, "prompt_eval_count": read, "prompt_eval_duration": nanoseconds}
        spent = {"total_duration": 1, **reading, "eval_count": count, "eval_duration": 1}
        return {"done": True, "done_reason": reason, **spent}

    async def _stream(self, model: str, pieces: list[str], reason: str, chat: bool) -> AsyncIterator[bytes]:
        fault = self._streaming
        if fault == "load":
            yield _line({**_part(model, "", chat), "done": True, "done_reason": "load"})
            return
        if fault == "drip":
            for number in count():  # a reply that repeats itself would be cut
                yield _line(_part(model, f"still {number} ", chat))
                await asyncio.sleep(self.pause)
        half = max(1, len(pieces) // 2)
        for piece in pieces[:half] if fault in ("drop", "length", "error_event") else pieces:
            yield _line(_part(model, piece, chat))
        if fault == "drop":
            raise Hangup
        if fault == "error_event":
            yield _line({"error": f"unexpected EOF {SECRET}"})
        elif fault != "no_done":
            yield _line(
                {**_part(model, "", chat), **self._done("length" if fault == "length" else reason, len(pieces))}
            )

    def _embed(self, body: Any) -> Reply:
        if not self._has(body["model"]):
            return _missing(body["model"])
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        return _json({"model": body["model"], "embeddings": [vector(text) for text in texts], "total_duration": 1})

    def _show(self, body: Any) -> Reply:
        model = body.get("model") or body.get("name")
        if not self._has(model):
            return _missing(model)
        return _json(
            {"modelfile": "", "parameters": "", "template": "", "details": {}, "model_info": {}, "capabilities": []}
        )


def read_and_answer(request: Received) -> str:
    prompt = _prompt(request.body)
    chunks = [text for _, text in _CHUNK.findall(prompt)]
    question = _QUESTION.search(prompt)
    found = best_sentence(question[1], chunks) if question else None
    return f"{found[1]} [{found[0] + 1}]" if found else "I don't know."


def _prompt(body: Any) -> str:
    if "messages" in body:
        return "\n".join(message["content"] for message in body["messages"])
    return "\n".join(filter(None, (body.get("system"), body.get("prompt"))))


def _part(model: str, text: str, chat: bool) -> dict[str, Any]:
    reported = {"message": {"role": "assistant", "content": text}} if chat else {"response": text}
    return {"model": model, "created_at": _CREATED, **reported, "done": False}


def logprobs_of(probabilities: dict[str, float]) -> list[dict[str, Any]]:
    """The first token of a reply with its alternatives, as both Ollama and OpenAI write it."""
    tokens = [{"token": token, "logprob": math.log(share)} for token, share in probabilities.items()]
    return [{**tokens[0], "top_logprobs": tokens}]


async def _whole(stream: AsyncIterator[bytes], members: Mapping[str, Any] | None = None) -> AsyncIterator[bytes]:
    """The lines of *stream* in one, once the last of them is there, with what else is *members*."""
    try:
        parts = [json.loads(line) async for line in stream]
    except Hangup:
        yield b'{"message"'
        raise
    reported = {**parts[-1], **(members or {})}
    if "message" in reported:
        reported["message"] = {**reported["message"], "content": "".join(part["message"]["content"] for part in parts)}
    else:
        reported["response"] = "".join(part["response"] for part in parts)
    yield json.dumps(reported).encode()


def _missing(model: str) -> Reply:
    return _json({"error": f"model '{model}' not found"}, 404)


def _line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _json(value: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status)

"""The model every service calls: it speaks Ollama's wire and OpenAI's, and always takes the same time.

``POST /api/chat`` and ``/api/generate`` (NDJSON, or one object), ``POST /v1/chat/completions`` (server-sent events, or
one object). The answer is the first sentence of the prompt's first passage with the marker [1], so a service that
checks its citations finds this one right. All of it is held back for the latency, then sent word by word.
``POST /control {"latency_ms": 200}`` sets that; ``GET /control`` says how many answers were asked for.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

import httptools

MARKS = ("<chunk>", "Context information is below.", "Context:", "context:")
"""Where the passages begin in a prompt, most telling first."""
SENTENCE = re.compile(r"[A-Z][^\n.!?]{20,}[.!?](?=\s|$)")
OTHERWISE = "The documents say so."
CREATED = "2026-01-01T00:00:00.000000Z"


class Model:
    """What all connections share."""

    def __init__(self) -> None:
        self.latency = 0.0
        self.calls = 0


def answer_from(prompt: str) -> str:
    """The first whole sentence of the first passage of *prompt*, cited."""
    start = next((prompt.index(mark) + len(mark) for mark in MARKS if mark in prompt), 0)
    found = SENTENCE.search(prompt, start)
    sentence = found[0] if found else OTHERWISE
    return f"{sentence[:-1]} [1]{sentence[-1]}"


class Wire(asyncio.Protocol):
    """One connection of one client."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._parser: Any = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._path = b""
        self._body = bytearray()
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio's."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio's."""
        for task in self._tasks:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        """asyncio's."""
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        """The parser's."""
        self._body.clear()

    def on_url(self, url: bytes) -> None:
        """The parser's."""
        self._path = url.partition(b"?")[0]

    def on_body(self, body: bytes) -> None:
        """The parser's."""
        self._body += body

    def on_message_complete(self) -> None:
        """The parser's."""
        body: dict[str, Any] = json.loads(bytes(self._body)) if self._body else {}
        path = self._path.decode()
        if path in ("/api/chat", "/api/generate", "/v1/chat/completions", "/chat/completions"):
            self._model.calls += 1
            task = asyncio.get_running_loop().create_task(self._generate(path, body))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._send(json.dumps(self._other(path, body)).encode())

    def _other(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/control":
            self._model.latency = body.get("latency_ms", self._model.latency * 1000) / 1000
            return {"calls": self._model.calls}
        if path == "/api/show":
            return {"modelfile": "", "template": "", "details": {}, "model_info": {}, "capabilities": ["completion"]}
        if path == "/api/version":
            return {"version": "0.12.6"}
        name = "llama3.2:1b"
        return {"models": [{"name": name, "model": name, "size": 1}], "object": "list", "data": [{"id": name}]}

    async def _generate(self, path: str, body: dict[str, Any]) -> None:
        messages = body.get("messages")
        prompt = "\n".join(str(one["content"]) for one in messages) if messages else str(body.get("prompt", ""))
        words = re.findall(r"\S+\s*", answer_from(prompt))
        if self._model.latency:
            await asyncio.sleep(self._model.latency)
        ollama = path.startswith("/api/")
        name = body.get("model", "")
        if not body.get("stream", ollama):
            self._send(json.dumps(_whole(path, name, "".join(words))).encode())
            return
        self._write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: ")
        self._write(b"application/x-ndjson\r\n\r\n" if ollama else b"text/event-stream\r\n\r\n")
        for word in words:
            self._chunk(_part(path, name, word))
            await asyncio.sleep(0)
        self._chunk(_last(path, name, len(words)))
        self._write(b"0\r\n\r\n")

    def _send(self, content: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        self._write(head.encode() + content)

    def _chunk(self, content: bytes) -> None:
        self._write(f"{len(content):x}\r\n".encode() + content + b"\r\n")

    def _write(self, data: bytes) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.write(data)


def _part(path: str, name: str, text: str) -> bytes:
    if path == "/api/chat":
        said: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
    elif path == "/api/generate":
        said = {"response": text}
    else:
        return _event(name, {"role": "assistant", "content": text}, None)
    return json.dumps({"model": name, "created_at": CREATED, **said, "done": False}).encode() + b"\n"


def _last(path: str, name: str, words: int) -> bytes:
    if not path.startswith("/api/"):
        return _event(name, {}, "stop") + b"data: [DONE]\n\n"
    return json.dumps(_whole(path, name, "", words)).encode() + b"\n"


def _event(name: str, delta: dict[str, str], reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    event = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": name, "choices": [choice]}
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def _whole(path: str, name: str, text: str, words: int = 1) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    if not path.startswith("/api/"):
        usage = {"prompt_tokens": 1, "completion_tokens": words, "total_tokens": words + 1}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": name,
            "choices": [choice],
            "usage": usage,
        }
    said = {"message": message} if path == "/api/chat" else {"response": text}
    spent = {"total_duration": 1, "load_duration": 1, "prompt_eval_count": 1, "eval_count": words, "eval_duration": 1}
    return {"model": name, "created_at": CREATED, **said, "done": True, "done_reason": "stop", **spent}


async def serve(port: int) -> None:
    """Answer on *port* until the process is ended."""
    model = Model()
    server = await asyncio.get_running_loop().create_server(lambda: Wire(model), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))

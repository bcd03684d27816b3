"""Serve the model that every service calls: Ollama's ``POST /api/chat``, always as slow.

The answer is the first sentence of the prompt's first passage with the marker [1]. All of it is held back for the
latency, then sent word by word. ``POST /control {"latency_ms": 200}`` sets the latency and counts the calls so far.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import closing, suppress
from typing import Any

import uvloop

MARKS = ("<passage>", "<chunk>", "Context information is below.", "Context:", "context:")
"""Beginnings of the passages in a prompt, most telling first."""
SENTENCE = re.compile(r"[A-Z][^\n.!?]{20,}[.!?](?=\s|$)")
COUNTS = ("total_duration", "load_duration", "prompt_eval_count", "eval_count", "eval_duration")
LAST = {"done_reason": "stop", **dict.fromkeys(COUNTS, 1)}


def answer_from(prompt: str) -> str:
    """Cite the first whole sentence of the first passage of *prompt*."""
    start = next((prompt.index(mark) + len(mark) for mark in MARKS if mark in prompt), 0)
    found = SENTENCE.search(prompt, start)
    sentence = found[0] if found else "The documents say so."
    return f"{sentence[:-1]} [1]{sentence[-1]}"


class Model:
    """The latency in seconds, the calls so far, and the handler of a connection."""

    latency = 0.0
    calls = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after another."""
        with suppress(OSError, EOFError), closing(writer):  # until the client leaves
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0] or 0)
                body = json.loads(await reader.readexactly(length) or "{}")
                path = head.split(b" ", 2)[1].decode()
                if path == "/api/chat":
                    await self._chat(writer, body)
                else:
                    _send(writer, self._other(path, body))

    def _other(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/control":
            self.latency = body.get("latency_ms", self.latency * 1000) / 1000
            return {"calls": self.calls}
        if path == "/api/show":
            return {"modelfile": "", "template": "", "details": {}, "model_info": {}, "capabilities": ["completion"]}
        return {"version": "0.12.6", "models": [{"name": "llama3.2:1b", "model": "llama3.2:1b", "size": 1}]}

    async def _chat(self, writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
        self.calls += 1
        answer = answer_from("\n".join(str(message["content"]) for message in body["messages"]))
        await asyncio.sleep(self.latency)
        if not body.get("stream", True):
            _send(writer, _message(body, answer, done=True))
            return
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-ndjson\r\n\r\n")
        words = [_message(body, word, done=False) for word in re.findall(r"\S+\s*", answer)]
        for part in (*words, _message(body, "", done=True)):
            line = json.dumps(part) + "\n"
            writer.write(f"{len(line):x}\r\n{line}\r\n".encode())
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")


def _message(body: dict[str, Any], text: str, *, done: bool) -> dict[str, Any]:
    part = {"model": body["model"], "created_at": "2026-01-01T00:00:00.000000Z", "done": done, **(LAST if done else {})}
    return {**part, "message": {"role": "assistant", "content": text}}


def _send(writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
    content = json.dumps(answer)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    writer.write(f"{head}{content}".encode())


async def serve(port: int) -> None:
    """Answer on *port* until the process is ended."""
    server = await asyncio.start_server(Model().handle, "127.0.0.1", port, limit=2**24)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))

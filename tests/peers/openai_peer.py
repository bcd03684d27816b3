"""A peer that speaks OpenAI's wire as llama.cpp, vLLM and LM Studio do: chat completions as a stream, and models."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

from tests.peers.http_peer import HttpPeer
from tests.peers.ollama_peer import logprobs_of, read_and_answer
from tests.peers.wire import SECRET, Hangup, Received, Reply, refusal

MODEL = "qwen2.5"


class OpenAIPeer(HttpPeer):
    """``answers`` are used up in order; when there are none, the peer answers from the passages in the prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str] = []
        self.probabilities: dict[str, float] | None = {}
        """Those of the first token of a reply, told where a request asks for them; None: it refuses to tell."""
        self.loads: list[Received] = []
        """The requests for one token, with which a client has the model loaded; they are none of ``requests``."""
        self.pause = 0.02
        """Seconds between the pieces of a dripping answer."""

    async def respond(self, request: Received) -> Reply:
        match request.method, request.path:
            case "GET", "/v1/models":
                return Reply(json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}).encode())
            case "POST", "/v1/chat/completions":
                return self._complete(request)
        return refusal(404)

    def _complete(self, request: Received) -> Reply:
        body = request.body
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 1_000_000
        if body.get("logprobs") and self.probabilities is None:
            return refusal(400)
        load = limit == 1 and not body.get("logprobs")  # it is only to load the model
        if load:
            self.loads.append(request)
            self.requests.remove(request)
        text = "." if load else self.answers.pop(0) if self.answers else read_and_answer(request)
        pieces = re.findall(r"\S+\s*|\s+", text)
        reason = "length" if limit < len(pieces) or limit == 1 else "stop"
        members = {"logprobs": {"content": logprobs_of(self.probabilities)}} if self.probabilities else {}
        members = members if body.get("logprobs") else {}
        return Reply(self._stream(pieces[:limit], reason, members), content_type="text/event-stream")

    async def _stream(self, pieces: list[str], reason: str, members: dict[str, Any]) -> AsyncIterator[bytes]:
        fault = self._streaming
        for number in count() if fault == "drip" else ():  # a reply that repeats itself would be cut
            yield _event({"delta": {"content": f"still {number} "}})
            await asyncio.sleep(self.pause)
        half = max(1, len(pieces) // 2)
        for piece in pieces[:half] if fault in ("drop", "length", "error_event") else pieces:
            yield _event({"delta": {"content": piece}, **members})
        if fault == "drop":
            raise Hangup
        if fault == "error_event":
            yield _data({"error": {"message": f"unexpected EOF {SECRET}", "type": "server_error", "code": 500}})
        elif fault != "no_done":
            yield _event({"delta": {}, "finish_reason": "length" if fault == "length" else reason})
            usage = {"prompt_tokens": 9, "completion_tokens": len(pieces), "total_tokens": 9 + len(pieces)}
            yield _data({**_BASE, "choices": [], "usage": usage})
            yield b"data: [DONE]\n\n"


_BASE: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}


def _event(choice: dict[str, Any]) -> bytes:
    return _data({**_BASE, "choices": [{"index": 0, "finish_reason": None, **choice}]})


def _data(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()

"""A peer that speaks Cohere's protocol (docs.cohere.com, API reference): embed, rerank, and chat with citations."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.peers.http_peer import HttpPeer
from tests.peers.reading import best_sentence, overlap, vector
from tests.peers.wire import SECRET, Hangup, Received, Reply, refusal

_QUESTION = re.compile(r"^Question: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CohereAnswer:
    """A scripted answer; ``cited`` holds (fragment of the text, ids of documents) pairs, in order."""

    text: str
    cited: tuple[tuple[str, tuple[str, ...]], ...] = ()


class CoherePeer(HttpPeer):
    """Wants ``key`` in every request. ``answers`` are used up in order; then it answers from the documents."""

    def __init__(self, key: str = "cohere-test-key") -> None:
        super().__init__()
        self.key = key
        self.answers: list[CohereAnswer] = []
        self.scores: list[float] | None = None
        """Scores of the next reranks, by place; None: by the words that are shared."""
        self.pause = 0.02
        """Seconds between the pieces of a dripping answer."""

    async def respond(self, request: Received) -> Reply:
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return refusal(401)
        match request.method, request.path:
            case "POST", "/v2/rerank" | "/v1/rerank":
                return self._rerank(request.body)
            case "POST", "/v1/embed" | "/v2/embed":
                return _embed(request.body, request.path)
            case "POST", "/v2/chat":
                return self._chat(request.body)
            case "GET", path if path.startswith("/v1/models/"):
                return _json({"name": path.removeprefix("/v1/models/"), "endpoints": ["chat"]})
        return refusal(404)

    def _rerank(self, body: Any) -> Reply:
        texts = [d if isinstance(d, str) else d.get("text", "") for d in body["documents"]]
        scores = self.scores or [overlap(body["query"], text) for text in texts]
        results = [{"index": i, "relevance_score": scores[i]} for i in range(len(texts))]
        results.sort(key=lambda result: -result["relevance_score"])
        return _json({"id": "r", "results": results[: body.get("top_n") or len(texts)], "meta": {}})

    def _chat(self, body: Any) -> Reply:
        answer = self.answers.pop(0) if self.answers else _read_and_answer(body)
        if body.get("stream"):
            return Reply(self._stream(answer), content_type="text/event-stream")
        content = [{"type": "text", "text": answer.text}]
        message = {"role": "assistant", "content": content, "citations": _citations(answer)}
        return _json({"id": "c", "finish_reason": "COMPLETE", "message": message, "usage": _USAGE})

    async def _stream(self, answer: CohereAnswer) -> AsyncIterator[bytes]:
        fault = self._streaming
        yield _event("message-start", id="c", delta={"message": {"role": "assistant", "content": []}})
        yield _event("content-start", index=0, delta={"message": {"content": {"type": "text", "text": ""}}})
        for number in count() if fault == "drip" else ():  # a reply that repeats itself would be cut
            yield _text(f"still {number} ")
            await asyncio.sleep(self.pause)
        pieces = re.findall(r"\S+\s*|\s+", answer.text)
        half = max(1, len(pieces) // 2)
        for piece in pieces[:half] if fault in ("drop", "length", "error_event") else pieces:
            yield _text(piece)
        if fault == "drop":
            raise Hangup
        if fault == "no_done":
            return
        for index, citation in enumerate(_citations(answer)):
            yield _event("citation-start", index=index, delta={"message": {"citations": citation}})
            yield _event("citation-end", index=index)
        yield _event("content-end", index=0)
        reason = {"length": "MAX_TOKENS", "error_event": "ERROR"}.get(fault or "", "COMPLETE")
        error = {"error": f"broken: {SECRET}"} if fault == "error_event" else {}
        yield _event("message-end", delta={"finish_reason": reason, "usage": _USAGE, **error})


_USAGE = {"billed_units": {"input_tokens": 1, "output_tokens": 1}, "tokens": {"input_tokens": 1, "output_tokens": 1}}


def _read_and_answer(body: Any) -> CohereAnswer:
    documents = body.get("documents") or []
    asked = _QUESTION.search(body["messages"][-1]["content"])
    found = best_sentence(asked[1], [document["data"]["text"] for document in documents]) if asked else None
    if found is None:
        return CohereAnswer("I don't know.")
    return CohereAnswer(found[1], ((found[1], (documents[found[0]]["id"],)),))


def _citations(answer: CohereAnswer) -> list[dict[str, Any]]:
    found, done = [], 0
    for fragment, documents in answer.cited:
        start = answer.text.index(fragment, done)
        done = start + len(fragment)
        sources = [{"type": "document", "id": name, "document": {"id": name}} for name in documents]
        found.append({"start": start, "end": done, "text": fragment, "sources": sources, "type": "TEXT_CONTENT"})
    return found


def _embed(body: Any, path: str) -> Reply:
    texts = body.get("texts") or []
    vectors = [vector(text) for text in texts]
    if path == "/v1/embed" and not body.get("embedding_types"):
        return _json({"id": "e", "response_type": "embeddings_floats", "embeddings": vectors, "texts": texts})
    by_type = dict.fromkeys(body.get("embedding_types") or ["float"], vectors)
    return _json({"id": "e", "response_type": "embeddings_by_type", "embeddings": by_type, "texts": texts})


def _text(piece: str) -> bytes:
    return _event("content-delta", index=0, delta={"message": {"content": {"text": piece}}})


def _event(kind: str, **values: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n".encode()


def _json(value: Any) -> Reply:
    return Reply(json.dumps(value).encode())

"""The least a question can cost: embed it, search for it, ask the model, and nothing else.

``python -m bench.floor DATA_DIR MODEL_URL ROUNDS`` reads questions from stdin, one JSON string a line, and writes one
JSON object: milliseconds of this process's processor time, per question, for each of the three. It uses the service's
own encoder and store, one question after another, and aiohttp, which asks for the answer in one piece. What our
service takes beyond their sum is overhead: HTTP, checking, the graph, grading, verifying the citations. A fourth
figure, ``NEW``, stands beside them.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from app.pipeline.retriever import POOL
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.embeddings.vectors import aquestion_vectors
from app.providers.embeddings.weights import find_weights
from app.providers.stores.bm25 import dimension
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.hybrid import HybridQuery
from app.settings import load_settings
from bench.job import MODEL, TOP_K
from graph.terms import question_stems

NEW = "embed, never asked before"
"""Beside the three: what a question costs to embed that nobody asked before; the other ones are remembered."""


class Spent:
    """Processor seconds by stage, from the second round on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counting = False

    @asynccontextmanager
    async def on(self, stage: str) -> AsyncIterator[None]:
        """Count what is spent inside."""
        begun = time.process_time()
        yield
        if self.counting:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.process_time() - begun


async def measure(data_dir: Path, model_url: str, questions: list[str], rounds: int) -> dict[str, float]:
    """Milliseconds of processor time a question, by stage; the first round is warm-up."""
    embeddings = MiniLMEmbeddings(find_weights())
    store = EmbeddedStore(embeddings, data_dir, load_settings().vector_store_collection, embeddings.dimension)
    spent = Spent()
    async with aiohttp.ClientSession(model_url) as client:
        for turn in range(rounds + 1):
            spent.counting = turn > 0
            for question in questions:
                async with spent.on("embed"):
                    vector = (await aquestion_vectors(embeddings, [question]))[0]
                async with spent.on("search"):
                    query = HybridQuery(vector, tuple(map(dimension, question_stems(question))))
                    hits = await store.ahybrid([query], POOL)
                texts = [one.chunk.text for one in hits.candidates[0][:TOP_K]]
                async with spent.on("model"):
                    await ask(client, "Context: " + "\n\n".join(texts) + f"\n\nQuestion: {question}")
        for question in questions:  # by themselves: an embedding leaves nothing of the others in the processor's caches
            async with spent.on(NEW):
                await aquestion_vectors(embeddings, [f"{question} Indeed?"])
    spent.seconds[NEW] *= rounds
    await store.aclose()
    embeddings.close()
    return {stage: seconds * 1000 / (rounds * len(questions)) for stage, seconds in spent.seconds.items()}


async def ask(client: aiohttp.ClientSession, prompt: str) -> str:
    """The model's answer, in one piece."""
    body = {"model": MODEL, "messages": [{"role": "user", "content": prompt}], "stream": False}
    async with client.post("/api/chat", json=body) as response:
        return str(json.loads(await response.read())["message"]["content"])


if __name__ == "__main__":
    asked = [json.loads(line) for line in sys.stdin]
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), sys.argv[2], asked, int(sys.argv[3])))))

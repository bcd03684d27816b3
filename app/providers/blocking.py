"""The synchronous methods of LangChain's interfaces, over the asynchronous ones."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from langchain_core.embeddings import Embeddings

T = TypeVar("T")


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run *work* on an event loop of its own, inside a running loop too."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class AsyncEmbeddings(Embeddings):
    """An embedding model with asynchronous methods; ``dimension`` is that of its vectors, None while unknown."""

    dimension: int | None

    def embed_query(self, text: str) -> list[float]:
        return run_blocking(self.aembed_query(text))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return run_blocking(self.aembed_documents(texts))

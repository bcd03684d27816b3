"""What is asked at the start: whether a collection's vectors are of the size that the embedding model makes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from langchain_core.embeddings import Embeddings

from graph.errors import RetrievalFailed

START_SECONDS = 3.0
"""Longest that a store, and its embedding model's first answer, may hold up the start."""

T = TypeVar("T")
log = logging.getLogger("garden.store")


def known_size(embedding: Embeddings) -> int | None:
    """The dimension of the model's vectors, None where it works over a wire and has not answered yet."""
    size: int | None = getattr(embedding, "dimension", None)
    return size


async def made_size(embedding: Embeddings) -> int:
    """The dimension of the model's vectors; one that has not told it yet is asked for a vector.

    Raises ``EmbeddingUnavailable``.
    """
    return known_size(embedding) or len(await embedding.aembed_query("ready?"))


def may_block() -> bool:
    """Whether nothing is held up by waiting here: not inside a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


async def in_start_time(work: Coroutine[None, None, T], collection: str) -> T | None:
    """What *work* gives, or None, which is logged, where a part cannot be reached in ``START_SECONDS``: it may come."""
    try:
        async with asyncio.timeout(START_SECONDS):
            return await work
    except (RetrievalFailed, TimeoutError) as error:
        log.warning("store_not_checked", extra={"collection": collection, "reason": type(error).__name__})
        return None


def run_apart(work: Coroutine[None, None, T]) -> T:
    """Run *work* on a loop of its own, in a thread of its own: the caller may be inside another loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()

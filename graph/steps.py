"""What every node shares: its time is measured, its deadline kept, and a failure becomes a value in the state."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from inspect import signature
from typing import Any, Protocol

from langgraph.runtime import Runtime

from graph.errors import RAGError
from graph.state import Failure, State

GRACE = 0.25
"""Seconds past a question's deadline after which a node is stopped. A chat model's call keeps the deadline itself, and
must be the first to find it passed: then a model that does not answer opens its circuit breaker."""

Update = dict[str, Any]
Step = Callable[..., Awaitable[Update]]
"""Takes the state and, if it names a parameter ``runtime``, the run's LangGraph ``Runtime``: context, stream writer."""


class Node(Protocol):
    """A step as LangGraph takes it: what a run brings along is handed to the parameter of that name."""

    async def __call__(self, state: State, runtime: Runtime[Any]) -> Update:
        """Read the state, return what it adds."""
        ...


log = logging.getLogger("garden.graph")


def failure_of(error: RAGError) -> Failure:
    """The error as a value: its class's name, its outcome, and the words that may be shown."""
    if error.outcome is None:
        raise error
    return Failure(type(error).__name__, error.outcome, error.message, dict(error.details))


def step(name: str, node: Step, late: Callable[[], RAGError] | None = None) -> Node:
    """Wrap *node* so that ``timings[name]`` holds its milliseconds and a ``RAGError`` becomes ``failure``.

    With *late*, the node is stopped ``GRACE`` past ``question.deadline`` and the error *late* makes is its failure.
    Errors outside the tree of ``graph.errors`` are defects and pass through.
    """

    wants_runtime = "runtime" in signature(node).parameters

    async def run(state: State, runtime: Runtime[Any]) -> Update:
        begun = time.perf_counter()
        work = node(state, runtime=runtime) if wants_runtime else node(state)
        try:
            if late is None:
                update = await work
            else:
                update = await _until(state["question"].deadline + GRACE, work, late)
        except RAGError as error:
            update = {"failure": failure_of(error)}
            # The cause is a vendor's error: its text may hold addresses and keys, so only its kind is logged.
            log.warning(
                name,
                extra={
                    "failed": type(error).__name__,
                    "reason": error.message,
                    "cause": type(error.__cause__).__name__ if error.__cause__ else None,
                },
            )
        milliseconds = round((time.perf_counter() - begun) * 1000, 3)
        log.debug(name, extra={"ms": milliseconds})
        return {**update, "timings": {name: milliseconds}}

    run.__name__ = name
    return run


async def _until(deadline: float, work: Awaitable[Update], late: Callable[[], RAGError]) -> Update:
    """Await *work* until the monotonic *deadline*; past it, cancel it and raise what *late* makes."""
    try:
        async with asyncio.timeout(max(0.0, deadline - time.monotonic())) as limit:
            return await work
    except TimeoutError:
        if not limit.expired():
            raise
        raise late() from None

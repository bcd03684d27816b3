"""Wrap every node: measure its time, keep its deadline, turn a failure into a value of the state."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

from graph.errors import RAGError
from graph.state import Failure, Input, State

GRACE = 0.25
"""Seconds past a question's deadline after which a node is cancelled.

A call that keeps the deadline itself finds it passed first: its error says more."""

Update = dict[str, Any]
Step = Callable[[State], Awaitable[Update]]

RUN_KEYS = State.__annotations__.keys() - Input.__annotations__.keys() - {"timings", "history"}
"""The keys that a run sets for itself alone."""

log = logging.getLogger("garden.graph")


def failure_of(error: RAGError) -> Failure:
    """Return *error* as a value: its class name, its outcome, and the message that may be shown."""
    if error.outcome is None:
        raise error
    return Failure(type(error).__name__, error.outcome, error.message, dict(error.details))


def step(name: str, node: Step, late: RAGError | None = None) -> Step:
    """Wrap *node* so that ``timings[name]`` holds its milliseconds and a ``RAGError`` becomes ``failure``.

    With *late*, the node is cancelled ``GRACE`` past ``question.deadline`` and *late* is its failure. Errors outside
    the tree of ``graph.errors`` are defects and are raised.
    """

    async def run(state: State) -> Update:
        begun = time.perf_counter()
        seconds = max(0.0, state["question"].deadline + GRACE - time.monotonic()) if late else None
        failed: RAGError | None = None
        update: Update = {}
        try:
            async with asyncio.timeout(seconds) as limit:
                update = await node(state)
        except RAGError as error:
            failed = error
        except TimeoutError:
            if late is None or not limit.expired():
                raise
            failed = late
        if failed:
            update = {"failure": failure_of(failed)}
            # The cause is a vendor's error, whose text may hold addresses and keys: only its class is logged.
            cause = type(failed.__cause__).__name__ if failed.__cause__ else None
            log.warning(name, extra={"failed": type(failed).__name__, "reason": failed.message, "cause": cause})
        milliseconds = round((time.perf_counter() - begun) * 1000, 3)
        log.debug(name, extra={"ms": milliseconds})
        return {**update, "timings": {name: milliseconds}}

    run.__name__ = name
    return run


def reset_thread(validate: Step) -> Step:
    """Make *validate* clear what an earlier run left on the same thread (Studio, LangGraph SDK)."""

    async def run(state: State) -> Update:
        stale = {key: None for key, value in state.items() if key in RUN_KEYS and value is not None}
        fields = {key: value for key, value in state.items() if key not in RUN_KEYS}
        return {**stale, **await validate(cast(State, fields))}

    run.__name__ = "validate"
    return run

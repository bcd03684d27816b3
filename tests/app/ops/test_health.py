"""Readiness: what is wrong with a part, in the right words."""

from __future__ import annotations

import asyncio

import pytest

from app.ops.health import Health
from graph.errors import StoreUnavailable


class Store:
    """A store whose probe ends as it is told."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    async def aprobe(self) -> None:
        if self.error is None:
            await asyncio.sleep(3600)
        raise self.error or AssertionError


async def loaded() -> None:
    """An embedding model that works."""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (None, "The vector store is not ready: timed out after 2 s."),
        (ConnectionRefusedError("10.0.0.7"), "The vector store is not ready: ConnectionRefusedError."),
        (StoreUnavailable("It refuses."), "The vector store is not ready: It refuses."),
    ],
)
async def test_only_what_timed_out_is_said_to_have(error: Exception | None, reason: str) -> None:
    """A probe without an end timed out; another error is named, without a vendor's text; ours has its message."""
    problem = await Health(Store(error), loaded, "http://127.0.0.1:1", None).not_ready()
    assert problem is not None
    assert problem.reason == reason
    assert "QDRANT_URL" in (problem.do or "")

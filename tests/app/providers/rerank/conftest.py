"""Graders over the reranker of the test's ``settings``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from app.pipeline.rerank_grader import RerankGrader
from app.providers.rerank.models import make_reranker
from app.settings import Settings


@pytest.fixture
async def impatient(settings: Settings) -> AsyncIterator[Callable[[float], RerankGrader]]:
    """Makes graders that wait so many seconds."""
    made: list[RerankGrader] = []

    def make(seconds: float) -> RerankGrader:
        made.append(RerankGrader(make_reranker(settings), seconds=seconds))
        return made[-1]

    yield make
    for grader in made:
        await grader.aclose()


@pytest.fixture
def grader(impatient: Callable[[float], RerankGrader]) -> RerankGrader:
    return impatient(20.0)

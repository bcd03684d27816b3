"""Grade chunks by a reranker: any LangChain ``BaseDocumentCompressor`` that scores; read how it was calibrated."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import BaseModel

from answering.relevance.graders import Calibration, best_first, logistic
from answering.types import Chunk, Question, SubqueryResults
from app.providers.embeddings.vectors import valid_unicode
from app.providers.http.error_mapping import rerank_error
from app.providers.http.retry import GuardedCalls
from app.providers.rerank.models import RERANK_SECONDS
from app.providers.rerank.scores import SCORE, ScoringReranker, log_odds_of
from graph.errors import ConfigurationError

FITTED_FILE = "relevance_model.json"
_INDEX = "candidate_index"


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Scales a reranker's score by Platt's method: ``bias`` and ``weight`` over its log-odds."""

    bias: float
    weight: float

    def relevance(self, score: float) -> float:
        """Return the probability in [0, 1] that a *score* in [0, 1] stands for."""
        return logistic(self.bias + self.weight * log_odds_of(score))


DEFAULT_SCALE = ScoreScale(2.2336, 1.0)
"""Not fitted, for that takes the user's questions (``garden calibrate``): 0.3, the default threshold of retrieval
validation, becomes 0.8, that of ``RELEVANCE_THRESHOLD``; with the slope left at 1, 0.05 becomes 0.33, 0.9 0.99."""


class FittedModels(BaseModel):
    """Calibrations by embedding model, scales by reranker."""

    models: dict[str, Calibration]
    rerankers: dict[str, ScoreScale] = {}


def read_fitted(folder: Path) -> FittedModels:
    """Read the file in *folder*, if any. Raises ``ConfigurationError`` when it is unreadable."""
    path = folder / FITTED_FILE
    try:
        return FittedModels.model_validate_json(path.read_bytes()) if path.is_file() else FittedModels(models={})
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: remove it, or run garden calibrate again") from error


class RerankGrader:
    """Calls ``RERANKER`` once per sub-question, all within *seconds* and the deadline."""

    def __init__(
        self, reranker: BaseDocumentCompressor, scale: ScoreScale = DEFAULT_SCALE, *, seconds: float = RERANK_SECONDS
    ) -> None:
        self._reranker = reranker
        self.scale = scale
        self._calls = GuardedCalls(rerank_error, seconds, seconds)

    async def grade(self, question: Question, retrieved: Sequence[SubqueryResults]) -> list[Chunk]:
        """Return every candidate once with its relevance, best first. Raises ``RerankFailed``."""
        work = [self._rerank(results, question.deadline) for results in retrieved]
        return best_first([chunk for part in await asyncio.gather(*work) for chunk in part])

    async def aclose(self) -> None:
        """Close the reranker, if it is one of ours; LangChain's interface has nothing to close."""
        if isinstance(self._reranker, ScoringReranker):
            await self._reranker.aclose()

    async def _rerank(self, results: SubqueryResults, deadline: float) -> list[Chunk]:
        documents = [
            Document(valid_unicode(f"{chunk.title}\n{chunk.text}".strip()), metadata={_INDEX: index})
            for index, chunk in enumerate(results.chunks)
        ]
        question = valid_unicode(results.question)
        scored = await self._calls.acall(
            lambda: self._reranker.acompress_documents(documents, question), deadline=deadline
        )
        scores = {document.metadata[_INDEX]: float(document.metadata[SCORE]) for document in scored}
        # Another vendor's reranker may return only its best; the others count as irrelevant.
        return [
            replace(chunk, relevance=self.scale.relevance(scores.get(index, 0.0)), answers=None)
            for index, chunk in enumerate(results.chunks)
        ]

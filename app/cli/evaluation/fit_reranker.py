"""Fit the scale of a reranker's scores to labelled questions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.cli.evaluation.fit import LOST_CHUNK_WEIGHT
from app.cli.evaluation.logistic import fit_logistic
from app.cli.evaluation.samples import gold_documents, is_gold
from app.pipeline.rerank_grader import RerankGrader, ScoreScale
from app.providers.rerank.scores import log_odds_of
from graph.errors import InvalidInput
from graph.ports import Retriever
from graph.state import Question


async def fit_scale(grader: RerankGrader, retriever: Retriever, rows: Sequence[Mapping[str, Any]]) -> ScoreScale:
    """Ask every row's question as ``samples.collect`` does, and regress "of the right document" on the log-odds.

    *grader* leaves scores as they are. Raises ``InvalidInput`` when the scores tell nothing, and what the ports raise.
    """
    scores, right = [], []
    for row in rows:
        now = time.monotonic()
        asked = Question(row["question"], (row["question"],), 1, None, None, now, now + 3600.0)
        retrieved = await retriever.retrieve(asked)
        documents = gold_documents(row, retrieved.subquery_results[0].chunks)
        for chunk in await grader.grade(asked, retrieved):
            scores.append([log_odds_of(chunk.relevance or 0.0)])
            right.append(float(chunk.document_id in documents or is_gold(chunk, row)))
    try:
        (weight,), bias = fit_logistic(np.array(scores), np.array(right), LOST_CHUNK_WEIGHT)
    except ValueError:  # all right, or all wrong
        weight, bias = 0.0, 0.0
    if weight <= 0.0:
        raise InvalidInput("The reranker's scores do not tell right chunks from wrong ones.", "questions")
    return ScoreScale(round(bias, 4), round(float(weight), 4))

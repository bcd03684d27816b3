"""langchain-cohere's embeddings over our own connection."""

from __future__ import annotations

from typing import Any

import langchain_cohere
from pydantic import model_validator

MOST_TEXTS = 96
"""Texts Cohere takes in one request."""


class CohereEmbeddings(langchain_cohere.CohereEmbeddings):
    """Takes ``async_client`` as given, and has no client that blocks: ``RemoteEmbeddings`` needs none.

    langchain-cohere 0.6 replaces both by clients of its own (langchain-ai/langchain-cohere, pull request 187), whose
    connections are lost when a request is cancelled; a test tells when it keeps those it is given.
    """

    client: None = None
    max_retries: int = 1
    """Tries, the first included: retries are those of ``RemoteEmbeddings``."""
    truncate: str | None = "END"

    @model_validator(mode="before")
    @classmethod
    def validate_environment(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Leave the client as it is."""
        return values

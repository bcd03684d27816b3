"""The wire shapes of the health routes (contract, Door L: the document's five fields)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class HealthBody(BaseModel):
    """What each part said when it was asked just now."""

    status: Literal["healthy", "degraded", "unhealthy"]
    ollama: Literal["connected", "unreachable"]
    vector_store: Literal["connected", "unreachable"]
    embedding_model: Literal["loaded", "not_loaded"]
    timestamp: str


class LiveBody(BaseModel):
    """The process runs."""

    status: Literal["alive"]


class ReadyBody(BaseModel):
    """Work may be sent; ``notes`` say what works with less than it could."""

    status: Literal["ready"]
    notes: list[str]

"""Retrieval validation: ``from retrieval_validation import validate_retrieval``."""

from app.library.validation import CohereAPIError, validate_retrieval
from graph.retrieval_validation import ValidationError

__all__ = ["CohereAPIError", "ValidationError", "validate_retrieval"]

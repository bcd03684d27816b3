"""Retrieval validation: ``from retrieval_validation import validate_retrieval``."""

from app.library.retrieval_checks import ValidationError
from app.library.validation import CohereAPIError, validate_retrieval

__all__ = ["CohereAPIError", "ValidationError", "validate_retrieval"]

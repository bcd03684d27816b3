"""Door V: ``from retrieval_validation import validate_retrieval``."""

from app.validating.cohere import CohereAPIError
from app.validation import validate_retrieval
from graph.validation_rules import ValidationError

__all__ = ["CohereAPIError", "ValidationError", "validate_retrieval"]

"""Door V: ``from retrieval_validation import validate_retrieval``."""

from app.library.validation import validate_retrieval
from app.library.validation_cohere import CohereAPIError
from graph.validation_rules import ValidationError

__all__ = ["CohereAPIError", "ValidationError", "validate_retrieval"]

"""The service as a library: ``RAGService``, its answers and errors, and ``validate_retrieval``."""

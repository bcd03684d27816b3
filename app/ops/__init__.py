"""Operation: health, tracing, logging."""

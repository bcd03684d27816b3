"""Operation: health, metrics, tracing, logging, shutdown."""

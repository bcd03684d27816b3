"""The job that every service is given, in so far as it is numbers."""

TOP_K = 5
"""Chunks that go to the model."""
MODEL = "llama3.2:1b"
"""What the model peer is called."""

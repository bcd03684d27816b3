"""Relevance: how probable it is that a chunk is about a question, and that it answers it.

``compound`` splits a question; ``features`` measures question and chunk, with what the reader found (``reading``);
``calibration`` holds the fitted models, ``thresholds`` applies them; ``graders`` and ``extractive`` are the ports that
need no vendor.
"""

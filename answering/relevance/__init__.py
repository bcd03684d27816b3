"""Relevance: how surely a chunk is about a question, and the probability that it answers.

``features`` measures question and chunk; ``calibration`` holds the fitted models; ``graders`` applies them.
"""

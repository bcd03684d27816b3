"""Relevance: how surely a chunk is about a question, and the probability that it answers.

``features`` measures question and chunk; ``graders`` holds the fitted models and applies them.
"""

"""Answers in the chunks' own sentences."""

"""Sentences, words, blocks and amounts of a text."""

"""Rerankers: ``models.py`` maps a name to its factory; ``reader.py`` is the shipped reader."""

"""Embedding models: ``models.py`` maps a name to its factory."""

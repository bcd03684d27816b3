"""Ingest files into a collection.

``find`` (paths → files) or ``web`` (addresses → files) → ``reading`` (a process of its own: ``loaders``, ``split``) →
``run`` (what is new, changed or gone) → ``sink`` (a collection). ``pipeline`` is the entry point.
"""

"""Ingest files into a collection.

``find`` (paths → files) or ``web`` (addresses → files) → ``reading`` (a process of its own: ``loaders``, ``split``) →
``pipeline`` (the entry point; what is new, changed or gone) → ``collection_writer`` (a collection).
"""

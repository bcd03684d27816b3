"""Ingest files into a collection.

``find`` (paths → files) → ``reading`` (a process of its own: ``loaders`` and ``split``) → ``run`` (what is new, changed
or gone) → ``parts`` (batches) → ``embed`` → ``sink`` (a collection). ``pipeline`` is the entry point.
"""

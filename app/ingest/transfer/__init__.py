"""Move whole collections: ``archive.py`` writes and reads a file, ``copy.py`` copies points into a store."""

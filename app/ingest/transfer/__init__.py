"""Move whole collections: ``archive.py`` writes and reads a file, ``copy.py`` fills another collection."""

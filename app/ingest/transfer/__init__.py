"""Move whole collections: ``archive.py`` writes a file, ``read_archive.py`` reads it, ``copy.py`` copies points."""

"""One question through the graph: ``service.py`` runs it, ``result.py`` is what comes out."""
